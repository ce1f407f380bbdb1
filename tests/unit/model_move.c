/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts move from places that stood in for others, and none is lost. */
#include "model/move.h"

#include <stdlib.h>

#include "gen.h"
#include "model/fresh.h"

/* Each place of the image STAND_IN becomes one of REAL, 0x1000 higher. */
static place_id *moves(struct profile *p, image_id stand_in, image_id real)
{
	const size_t n = p->places.n;
	place_id *to = xcalloc(n, sizeof(*to));

	for (place_id i = 0; i < n; i++) {
		const struct place pl = p->places.v[i];

		to[i] = pl.image != stand_in
				? i
				: profile_intern_place(p, real, pl.svma + 0x1000, pl.flags);
	}
	return to;
}

static image_id image_named(struct profile *p, const char *path)
{
	return profile_intern_image(p, &(struct image){.kind = IMAGE_FILE, .path = path});
}

static uint64_t count_in(const struct profile *p, image_id image, uint64_t svma)
{
	uint64_t n = 0;

	vec_each (v, &p->values) {
		const struct place *pl = profile_leaf(p, v->ctx);

		n += pl->image == image && pl->svma == svma ? v->count : 0;
	}
	return n;
}

TEST(values_join_those_that_are_there)
{
	struct profile p;
	image_id stand_in, real, lib;
	place_id at, caller, *to;
	ctx_id path, *moved;
	event_id e;

	profile_init(&p);
	profile_watch(&p);
	e = profile_intern_event(&p,
				 &(struct event){.name = profile_intern_str(&p, "e"), .period = 1});
	stand_in = image_named(&p, "?");
	real = image_named(&p, "/bin/x");
	lib = image_named(&p, "/lib/y");
	caller = profile_intern_place(&p, stand_in, 0x10, 0);
	at = profile_intern_place(&p, lib, 0x20, 0);
	path = profile_intern_ctx(&p, profile_flat_ctx(&p, caller), at);
	profile_add_value(&p, &(struct value){.ctx = path, .event = e, .count = 5});
	profile_add_value(
		&p, &(struct value){.ctx = profile_flat_ctx(&p, caller), .event = e, .count = 3});
	/* That place, known from the start. */
	profile_add_value(
		&p, &(struct value){
			    .ctx = profile_flat_ctx(&p, profile_intern_place(&p, real, 0x1010, 0)),
			    .event = e,
			    .count = 2});
	to = moves(&p, stand_in, real);
	moved = profile_move_places(&p, to);
	EXPECT_EQ(count_in(&p, stand_in, 0x10), 0);
	EXPECT_EQ(count_in(&p, real, 0x1010), 5);
	EXPECT_EQ(count_in(&p, lib, 0x20), 5);
	EXPECT_EQ(profile_n_samples(&p, e), 10);
	EXPECT(moved[path] != path);
	EXPECT_EQ(p.places.v[p.ctxs.v[p.ctxs.v[moved[path]].parent].place].image, real);
	profile_check(&p);
	free(moved);
	free(to);
	profile_release(&p);
}

TEST(no_sample_is_lost)
{
	struct t_rng r = {11};

	for (unsigned i = 0; i < t_cases(200); i++) {
		struct profile p;
		place_id *to;
		ctx_id *moved;
		uint64_t before = 0, after = 0;
		image_id real;

		gen_profile(&r, &p, (unsigned)t_below(&r, 40));
		real = image_named(&p, "/bin/real");
		vec_each (v, &p.values)
			before += v->count;
		to = moves(&p, 0, real);
		moved = profile_move_places(&p, to);
		vec_each (v, &p.values) {
			after += v->count;
			if (v->count && v->ctx)
				EXPECT(profile_leaf(&p, v->ctx)->image != 0);
		}
		EXPECT_EQ(before, after);
		profile_check(&p);
		free(moved);
		free(to);
		profile_release(&p);
	}
}
