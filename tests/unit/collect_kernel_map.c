/* SPDX-License-Identifier: BSD-2-Clause */
/* Kernel ranges against a model that remembers the owner of every single address. */
#include "machine/kernel_map.h"

#include "t.h"

#define BASE	0xffffffff80000000ull
#define N_BYTES 200

/* Owner of each address: number of the range + 1, 0 none; and its stated address. */
struct naive {
	unsigned owner[N_BYTES];
	uint64_t svma[N_BYTES];
};

static void check(struct kernel_map *k, struct profile *p, const struct naive *m)
{
	for (unsigned i = 0; i < N_BYTES; i++) {
		place_id place;
		char name[16];
		bool found = kernel_map_place(k, BASE + i, &place);

		EXPECT_EQ(found, m->owner[i] != 0);
		if (!found || !m->owner[i])
			continue;
		snprintf(name, sizeof(name), "part%u", m->owner[i] - 1);
		EXPECT_STR(p->images.v[p->places.v[place].image].path, name);
		EXPECT_EQ(p->places.v[place].svma, m->svma[i]);
	}
	for (size_t i = 0; i < k->v.n; i++) {
		EXPECT(k->v.v[i].start < k->v.v[i].end);
		EXPECT(!i || k->v.v[i - 1].end <= k->v.v[i].start);
	}
}

TEST(the_latest_range_wins_everywhere)
{
	struct t_rng rng = {.s = 11};

	for (unsigned n = t_cases(300); n; n--) {
		struct naive m = {0};
		struct profile p;
		struct kernel_map k;
		unsigned n_adds = 1 + (unsigned)t_below(&rng, 12);

		profile_init(&p);
		kernel_map_init(&k, &p);
		for (unsigned a = 0; a < n_adds && !t_failed; a++) {
			unsigned start = (unsigned)t_below(&rng, N_BYTES);
			unsigned end = start + (unsigned)t_below(&rng, N_BYTES - start + 1);
			uint64_t svma = t_below(&rng, 2) ? 0 : 0x1000 * (a + 1);
			char name[16];

			snprintf(name, sizeof(name), "part%u", a);
			kernel_map_add(&k, &(struct kernel_range){
						   .start = BASE + start,
						   .end = BASE + end,
						   .svma = svma,
						   .image = {.kind = IMAGE_MODULE, .path = name}});
			memset(name, 'x', sizeof(name) - 1); /* the path was only lent */
			for (unsigned i = start; i < end; i++) {
				m.owner[i] = a + 1;
				m.svma[i] = svma + (i - start);
			}
			check(&k, &p, &m);
		}
		kernel_map_release(&k);
		profile_release(&p);
		REQUIRE(!t_failed);
	}
}

TEST(images_appear_when_sampled)
{
	struct profile p;
	struct kernel_map k;
	place_id place;

	profile_init(&p);
	kernel_map_init(&k, &p);
	kernel_map_add(&k,
		       &(struct kernel_range){.start = BASE,
					      .end = BASE + 100,
					      .svma = 5,
					      .image = {.kind = IMAGE_KERNEL, .path = "[kernel]"}});
	EXPECT_EQ(p.images.n, 0);
	EXPECT(!kernel_map_place(&k, BASE - 1, &place));
	EXPECT(!kernel_map_place(&k, BASE + 100, &place));
	EXPECT_EQ(p.images.n, 0);
	EXPECT(kernel_map_place(&k, BASE + 99, &place));
	EXPECT_EQ(p.images.n, 1);
	EXPECT_EQ(p.places.v[place].svma, 104);
	kernel_map_release(&k);
	profile_release(&p);
}
