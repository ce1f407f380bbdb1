/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples by minute: each is noted once, whatever is marked, moved and reset meanwhile. */
#include "model/fresh.h"
#include "model/move.h"
#include "t.h"

struct world {
	struct profile p;
	event_id e;
	owner_id a, b;
};

static void begin(struct world *w)
{
	struct profile *p = &w->p;

	profile_init(p);
	profile_watch(p);
	w->e = profile_intern_event(
		p, &(struct event){.name = profile_intern_str(p, "cycles"), .period = 1000});
	w->a = profile_intern_owner(p, &(struct owner){.comm = profile_intern_str(p, "a")});
	w->b = profile_intern_owner(p, &(struct owner){.comm = profile_intern_str(p, "b")});
}

static ctx_id at(struct world *w, uint64_t svma)
{
	image_id im =
		profile_intern_image(&w->p, &(struct image){.kind = IMAGE_FILE, .path = "/bin/x"});

	return profile_intern_ctx(&w->p, 0, profile_intern_place(&w->p, im, svma, 0));
}

static void add(struct world *w, owner_id o, uint64_t svma, uint64_t n)
{
	profile_add_value(
		&w->p, &(struct value){.owner = o, .ctx = at(w, svma), .event = w->e, .count = n});
}

static uint64_t of(const struct world *w, uint32_t minute, owner_id o)
{
	vec_each (m, &w->p.moments)
		if (m->minute == minute && m->owner == o)
			return m->count;
	return 0;
}

static uint64_t fresh_sum(const struct world *w)
{
	uint64_t n = 0;

	for (size_t i = 0; i < w->p.moments.n; i++)
		n += profile_fresh_moment(&w->p, i).count;
	return n;
}

TEST(each_sample_is_noted_once)
{
	struct world w;

	begin(&w);
	add(&w, w.a, 1, 5);
	add(&w, w.a, 2, 2);
	add(&w, w.b, 1, 3);
	profile_note_minute(&w.p, 100);
	profile_note_minute(&w.p, 100); /* a failed store tries again */
	EXPECT_EQ(of(&w, 100, w.a), 7);
	EXPECT_EQ(of(&w, 100, w.b), 3);
	EXPECT_EQ(fresh_sum(&w), 10);
	profile_mark(&w.p);
	EXPECT_EQ(fresh_sum(&w), 0);
	add(&w, w.a, 1, 10);
	profile_note_minute(&w.p, 100);
	EXPECT_EQ(of(&w, 100, w.a), 17);
	EXPECT_EQ(fresh_sum(&w), 10);
	profile_mark(&w.p);
	add(&w, w.a, 1, 1);
	profile_note_minute(&w.p, 101);
	EXPECT_EQ(of(&w, 101, w.a), 1);
	EXPECT_EQ(profile_n_timed(&w.p, w.e), profile_n_samples(&w.p, w.e));
	profile_check(&w.p);
	profile_reset_values(&w.p);
	EXPECT_EQ(w.p.moments.n, 0);
	add(&w, w.a, 1, 4);
	profile_note_minute(&w.p, 102);
	EXPECT_EQ(of(&w, 102, w.a), 4);
	EXPECT_EQ(profile_n_timed(&w.p, w.e), 4);
	profile_release(&w.p);
}

/* Samples that were counted in a stand-in of a file move to the file's own places. */
TEST(what_moves_is_not_noted_again)
{
	struct world w;
	place_id to[2];
	ctx_id *moved;

	begin(&w);
	add(&w, w.a, 1, 5);
	add(&w, w.a, 2, 2);
	profile_note_minute(&w.p, 100);
	to[0] = to[1] = 1; /* place 0 becomes place 1 */
	moved = profile_move_places(&w.p, to);
	free(moved);
	add(&w, w.a, 2, 1);
	profile_note_minute(&w.p, 101);
	EXPECT_EQ(of(&w, 100, w.a), 7);
	EXPECT_EQ(of(&w, 101, w.a), 1);
	EXPECT_EQ(profile_n_timed(&w.p, w.e), profile_n_samples(&w.p, w.e));
	profile_release(&w.p);
}
