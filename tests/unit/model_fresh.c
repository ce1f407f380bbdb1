/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/fresh.h"

#include <stdlib.h>

#include "gen.h"

/* A watched profile with N flat contexts and one event. */
static void make(struct profile *p, unsigned n)
{
	image_id im;

	profile_init(p);
	profile_watch(p);
	profile_intern_event(p, &(struct event){.name = profile_intern_str(p, "e"), .period = 1});
	im = profile_intern_image(p, &(struct image){.kind = IMAGE_FILE, .path = "/a"});
	for (unsigned i = 0; i < n; i++)
		profile_flat_ctx(p, profile_intern_place(p, im, i, 0));
}

static uint32_t add(struct profile *p, ctx_id ctx, uint64_t count)
{
	return profile_add_value(p, &(struct value){.ctx = ctx, .count = count, .sum = 2 * count});
}

/* The sum over what is fresh, and how many values that is. */
static uint64_t fresh_sum(const struct profile *p, unsigned *ret_n)
{
	uint64_t sum = 0;

	*ret_n = 0;
	profile_each_fresh (p, i) {
		struct value v = profile_fresh(p, i);

		EXPECT_EQ(v.sum, 2 * v.count);
		sum += v.count;
		++*ret_n;
	}
	return sum;
}

static unsigned n_used(const struct profile *p)
{
	unsigned n = 0;
	uint32_t last = 0;

	profile_each_used (p, i) {
		EXPECT(!n || i > last);
		last = i;
		n++;
	}
	return n;
}

TEST(what_grew_since_the_mark_is_fresh)
{
	struct profile p;
	uint32_t first;
	unsigned n;

	make(&p, 200);
	EXPECT_EQ(n_used(&p), 0);
	first = add(&p, 1, 5);
	for (ctx_id c = 2; c <= 200; c++)
		add(&p, c, 1);
	EXPECT_EQ(fresh_sum(&p, &n), 204);
	EXPECT_EQ(n, 200);
	profile_mark(&p);
	EXPECT_EQ(fresh_sum(&p, &n), 0);
	EXPECT_EQ(n, 0);
	add(&p, 1, 3);
	add(&p, 130, 4);
	EXPECT_EQ(fresh_sum(&p, &n), 7);
	EXPECT_EQ(n, 2);
	EXPECT_EQ(profile_next_fresh(&p, 0), first);
	EXPECT_EQ(n_used(&p), 200);
	EXPECT_EQ(profile_n_samples(&p, 0), 211);
	profile_grow(&p, first, 0);
	EXPECT_EQ(p.values.v[first].count, 8);
	profile_check(&p);
	profile_release(&p);
}

TEST(after_a_reset_only_what_comes_is_used)
{
	struct profile p;
	unsigned n;

	make(&p, 100);
	for (ctx_id c = 1; c <= 100; c++)
		add(&p, c, c);
	profile_mark(&p);
	add(&p, 7, 1);
	profile_reset_values(&p);
	EXPECT_EQ(n_used(&p), 0);
	EXPECT_EQ(fresh_sum(&p, &n), 0);
	for (size_t i = 0; i < p.values.n; i++)
		EXPECT(!value_counts(&p.values.v[i]));
	add(&p, 99, 2);
	profile_mark(&p);
	add(&p, 99, 1); /* told before, and fresh: used once */
	EXPECT_EQ(n_used(&p), 1);
	EXPECT_EQ(fresh_sum(&p, &n), 1);
	EXPECT_EQ(profile_n_samples(&p, 0), 3);
	profile_release(&p);
}

/* More values than may rest without being used. */
#define N_RARE 20000

TEST(values_that_are_no_longer_used_are_forgotten)
{
	struct profile p;
	unsigned n;

	make(&p, N_RARE);
	for (ctx_id c = 1; c <= N_RARE; c++)
		add(&p, c, c);
	profile_note_minute(&p, 1);
	profile_mark(&p);
	profile_reset_values(&p);
	EXPECT_EQ(p.values.n, N_RARE); /* all of them were used */
	EXPECT_EQ(p.values_epoch, 0);
	add(&p, 5, 1);
	profile_mark(&p);
	profile_reset_values(&p);
	EXPECT_EQ(p.values.n, 0);
	EXPECT_EQ(p.values_epoch, 1);
	EXPECT_EQ(n_used(&p), 0);
	/* Marks and minutes of the values that were there before mean nothing for the new ones. */
	add(&p, N_RARE, 3);
	add(&p, 5, 4);
	EXPECT_EQ(p.values.n, 2);
	EXPECT_EQ(fresh_sum(&p, &n), 7);
	profile_note_minute(&p, 2);
	EXPECT_EQ(profile_n_timed(&p, 0), 7);
	profile_mark(&p);
	add(&p, 5, 2);
	EXPECT_EQ(fresh_sum(&p, &n), 2);
	EXPECT_EQ(profile_n_samples(&p, 0), 9);
	profile_check(&p);
	profile_release(&p);
}

TEST(events_and_losses_have_marks_too)
{
	struct profile p;

	make(&p, 1);
	p.events.v[0].n_reached = 10;
	p.events.v[0].total = 100;
	profile_add_loss(&p, "full", 0, 3);
	EXPECT_EQ(profile_fresh_event(&p, 0).n_reached, 10);
	EXPECT_EQ(profile_fresh_loss(&p, 0).n, 3);
	profile_mark(&p);
	p.events.v[0].n_reached += 5;
	profile_add_loss(&p, "full", 0, 2);
	profile_add_loss(&p, "other", 0, 1);
	EXPECT_EQ(profile_fresh_event(&p, 0).n_reached, 5);
	EXPECT_EQ(profile_fresh_event(&p, 0).total, 0);
	EXPECT_EQ(profile_fresh_loss(&p, 0).n, 2);
	EXPECT_EQ(profile_fresh_loss(&p, 1).n, 1);
	profile_reset_values(&p);
	p.events.v[0].n_reached += 4;
	profile_add_loss(&p, "other", 0, 9);
	EXPECT_EQ(profile_fresh_event(&p, 0).n_reached, 4);
	EXPECT_EQ(profile_fresh_loss(&p, 0).n, 9);
	profile_release(&p);
}

TEST(of_a_profile_that_is_not_watched_all_is_fresh)
{
	struct t_rng r = {5};
	struct profile p;
	uint64_t sum = 0;
	unsigned n;

	gen_profile(&r, &p, 50);
	vec_each (v, &p.values)
		sum += v->count;
	n = n_used(&p);
	EXPECT_EQ(n, p.values.n);
	profile_each_fresh (&p, i)
		sum -= profile_fresh(&p, i).count;
	EXPECT_EQ(sum, 0);
	profile_release(&p);
}
