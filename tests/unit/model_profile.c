/* SPDX-License-Identifier: BSD-2-Clause */
#include "gen.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/fresh.h"

static bool same(const struct profile *a, const struct profile *b)
{
	char *x = profile_dump(a), *y = profile_dump(b);
	bool eq = strcmp(x, y) == 0;

	free(x);
	free(y);
	return eq;
}

/* The strings of the meta block are "first wins": made equal so that order cannot show. */
static void plain_meta(struct profile *p)
{
	p->meta.host = p->meta.platform = 0;
}

TEST(merge_is_associative_and_commutative)
{
	struct t_rng r = {7};
	unsigned n = t_cases(300);

	for (unsigned i = 0; i < n; i++) {
		struct profile a, b, c, left, right, bc;

		gen_profile(&r, &a, (unsigned)t_below(&r, 30));
		gen_profile(&r, &b, (unsigned)t_below(&r, 30));
		gen_profile(&r, &c, (unsigned)t_below(&r, 30));
		plain_meta(&a);
		plain_meta(&b);
		plain_meta(&c);
		profile_init(&left); /* (a + b) + c */
		profile_merge(&left, &a);
		profile_merge(&left, &b);
		profile_merge(&left, &c);
		profile_init(&bc); /* (c + b) + a */
		profile_merge(&bc, &c);
		profile_merge(&bc, &b);
		profile_init(&right);
		profile_merge(&right, &bc);
		profile_merge(&right, &a);
		profile_check(&left);
		profile_check(&right);
		EXPECT(same(&left, &right));
		profile_release(&a);
		profile_release(&b);
		profile_release(&c);
		profile_release(&bc);
		profile_release(&left);
		profile_release(&right);
	}
}

TEST(merging_with_nothing_changes_nothing)
{
	struct t_rng r = {8};
	struct profile a, b;

	gen_profile(&r, &a, 50);
	profile_init(&b);
	profile_merge(&b, &a);
	EXPECT(same(&a, &b));
	profile_merge(&b, &a);
	EXPECT(!same(&a, &b));
	EXPECT_EQ(profile_n_samples(&b, 0), 2 * profile_n_samples(&a, 0));
	profile_release(&a);
	profile_release(&b);
}

TEST(values_with_one_key_are_summed)
{
	struct profile p;
	event_id e;
	ctx_id c;

	profile_init(&p);
	e = profile_intern_event(&p,
				 &(struct event){.name = profile_intern_str(&p, "x"), .period = 1});
	c = profile_flat_ctx(
		&p,
		profile_intern_place(
			&p,
			profile_intern_image(&p, &(struct image){.kind = IMAGE_FILE, .path = "/a"}),
			16, 0));
	profile_add_value(&p, &(struct value){.ctx = c, .event = e, .count = 2, .sum = 10});
	profile_add_value(&p, &(struct value){.ctx = c, .event = e, .count = 3});
	EXPECT_EQ(p.values.n, 1);
	EXPECT_EQ(p.values.v[0].count, 5);
	EXPECT_EQ(p.values.v[0].sum, 10);
	EXPECT_EQ(profile_leaf(&p, c)->svma, 16);
	profile_add_loss(&p, "full", e, 4);
	profile_add_loss(&p, "full", e, 1);
	EXPECT_EQ(profile_n_lost(&p, e), 5);
	profile_reset_values(&p);
	EXPECT_EQ(profile_n_samples(&p, e) + p.losses.n, 0);
	EXPECT_EQ(p.values.n, 1);
	EXPECT_EQ(p.places.n, 1);
	profile_check(&p);
	profile_release(&p);
}

TEST(contexts_with_many_callees_and_values)
{
	enum { MANY = 50 };
	ctx_id children[MANY], parent;
	owner_id owners[MANY];
	uint32_t values[MANY];
	struct profile p;
	event_id e;

	profile_init(&p);
	e = profile_intern_event(&p,
				 &(struct event){.name = profile_intern_str(&p, "e"), .period = 1});
	parent = profile_flat_ctx(&p, profile_unknown_place(&p, 1000, 0));
	for (unsigned i = 0; i < MANY; i++) {
		owners[i] = profile_intern_owner(&p, &(struct owner){.pid = i + 1});
		children[i] = profile_intern_ctx(&p, parent, profile_unknown_place(&p, i, 0));
		values[i] = profile_add_value(
			&p,
			&(struct value){.ctx = parent, .owner = owners[i], .event = e, .count = i});
		/* All that are there are found, and no other, at every length. */
		for (unsigned k = 0; k <= i; k++) {
			EXPECT_EQ(profile_intern_ctx(&p, parent, profile_unknown_place(&p, k, 0)),
				  children[k]);
			EXPECT_EQ(profile_add_value(&p, &(struct value){.ctx = parent,
									.owner = owners[k],
									.event = e,
									.count = 1}),
				  values[k]);
		}
		EXPECT_EQ(p.ctxs.n, 3 + i);
		EXPECT_EQ(p.values.n, 1 + i);
		EXPECT_EQ(p.ctxs.v[children[i]].parent, parent);
		profile_check(&p);
	}
	for (unsigned i = 0; i < MANY; i++)
		EXPECT_EQ(p.values.v[values[i]].count, i + (MANY - i));
	profile_release(&p);
}

TEST(images_are_known_by_build_id)
{
	struct profile p;
	struct image i = {.kind = IMAGE_FILE, .path = "/a"}, j;
	image_id a;

	profile_init(&p);
	REQUIRE(build_id_parse("00ff", &i.build_id) == 0);
	a = profile_intern_image(&p, &i);
	j = i;
	j.path = "/copy/of/a";
	EXPECT_EQ(profile_intern_image(&p, &j), a);
	EXPECT_STR(p.images.v[a].path, "/a");
	j.build_id.bytes[1] = 1;
	EXPECT(profile_intern_image(&p, &j) != a);
	j.build_id.n_bytes = 0;
	EXPECT_EQ(profile_intern_image(&p, &j), 2);
	profile_release(&p);
}

TEST(layout_turns_offsets_into_addresses)
{
	struct image_layout l = {.n_loads = 2,
				 .loads = {{0x1000, 0x401000, 0x500}, {0x2000, 0x602000, 16}}};
	uint64_t svma = 0;

	EXPECT(image_layout_svma(&l, 0x14ff, &svma) && svma == 0x4014ff);
	EXPECT(!image_layout_svma(&l, 0x1500, &svma));
	EXPECT(image_layout_svma(&l, 0x200f, &svma) && svma == 0x60200f);
	EXPECT(!image_layout_svma(&l, 0xfff, &svma));
}

#if !defined(__SANITIZE_ADDRESS__) &&                                                              \
	!defined(__SANITIZE_THREAD__) /* there mallinfo2 says nothing */
static size_t allocated(void)
{
	const struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

/* Who bounds a recorder's memory goes by it: each kind of thing that only grows must be in it. */
TEST(the_memory_of_a_profile_is_what_is_counted)
{
	const size_t before = allocated();
	struct profile p;
	event_id event;
	image_id im;
	size_t took;

	profile_init(&p);
	profile_watch(&p);
	event = profile_intern_event(
		&p, &(struct event){.name = profile_intern_str(&p, "e"), .period = 1});
	im = profile_intern_image(&p, &(struct image){.kind = IMAGE_FILE, .path = "/bin/a"});
	for (unsigned i = 0; i < 20000; i++) {
		char text[40];
		struct owner o = {.uid = i % 1000};
		const place_id place = profile_intern_place(&p, im, 16 * (i / 10), 0);
		const ctx_id ctx = profile_intern_ctx(&p, profile_flat_ctx(&p, place), place);

		snprintf(text, sizeof(text), "command %u", i % 1000);
		o.comm = profile_intern_str(&p, text);
		profile_add_value(&p, &(struct value){.owner = profile_intern_owner(&p, &o),
						      .ctx = ctx,
						      .event = event,
						      .count = 1});
		if (i % 5000 == 0)
			profile_note_minute(&p, i);
	}
	took = allocated() - before;
	EXPECT_EQ(p.values.n, 20000);
	EXPECT(profile_bytes(&p) <= took);
	EXPECT(profile_bytes(&p) >= took - took / 10);
	profile_release(&p);
}
#endif
