/* SPDX-License-Identifier: BSD-2-Clause */
#include "machine/maps.h"

#include "t.h"

#define PAGES 600

/* Which mapping (its number as `code`) and offset each page has, kept the slow way. */
struct oracle {
	uint32_t code[PAGES];
	uint64_t off[PAGES];
};

static void add(struct maps **maps, struct oracle *o, uint64_t page, uint64_t n, uint32_t code)
{
	maps_add(maps_own(maps), &(struct mapping){.start = page * 4096,
						   .end = (page + n) * 4096,
						   .off = code * 8192ull,
						   .code = code});
	for (uint64_t i = 0; i < n; i++) {
		o->code[page + i] = code;
		o->off[page + i] = code * 8192ull + i * 4096;
	}
}

static void check(const struct maps *m, const struct oracle *o)
{
	uint64_t last = 0;

	vec_each (v, &m->v) {
		EXPECT(v->start >= last && v->start < v->end);
		last = v->end;
	}
	for (uint64_t p = 0; p < PAGES; p++) {
		const struct mapping *f = maps_find(m, p * 4096 + 5);

		EXPECT_EQ(f ? f->code : 0, o->code[p]);
		if (f)
			EXPECT_EQ(f->off + p * 4096 - f->start, o->off[p]);
	}
}

TEST(each_page_has_what_was_mapped_last)
{
	struct t_rng r = {3};

	for (unsigned round = 0; round < 40; round++) {
		struct maps *m = NULL, *child = NULL;
		struct oracle o = {0}, then;

		for (uint32_t i = 1; i < 300; i++) {
			uint64_t n = 1 + t_below(&r, round % 2 ? 4 : 60);

			add(&m, &o, t_below(&r, PAGES - n + 1), n, i);
			if (i == 150) {
				child = maps_ref(m);
				then = o;
			}
		}
		check(m, &o);
		check(child, &then);
		maps_unref(m);
		maps_unref(child);
	}
}

/* Downwards as the kernel maps, upwards as it tells. */
TEST(many_come_in_either_order)
{
	const uint32_t n = 200000;

	for (unsigned down = 0; down < 2; down++) {
		struct maps *m = NULL;

		for (uint32_t i = 0; i < n; i++) {
			uint64_t at = (down ? n - 1 - i : i) * 8192ull;

			maps_add(maps_own(&m),
				 &(struct mapping){.start = at, .end = at + 4096, .code = i});
		}
		EXPECT_EQ(m->v.n, n);
		EXPECT_EQ(maps_find(m, 8192 * 7 + 1)->code, down ? n - 8 : 7);
		EXPECT(!maps_find(m, 8192 * 7 + 4096));
		maps_unref(m);
	}
}
