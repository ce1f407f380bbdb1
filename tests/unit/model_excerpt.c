/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/excerpt.h"

#include <stdlib.h>
#include <string.h>

#include "gen.h"
#include "model/fresh.h"

static char *dump_of_excerpt(const struct profile *p)
{
	struct profile q;
	char *text;

	profile_init(&q);
	profile_excerpt(&q, p);
	profile_check(&q);
	text = profile_dump(&q);
	profile_release(&q);
	return text;
}

static uint64_t sum_of(const struct profile *p, event_id event)
{
	return profile_n_samples(p, event) + profile_n_lost(p, event);
}

TEST(an_excerpt_has_all_that_counts)
{
	for (unsigned i = 0; i < 50; i++) {
		struct t_rng r = {i};
		struct profile p, q;
		char *once, *twice;

		gen_profile(&r, &p, 200);
		profile_init(&q);
		profile_excerpt(&q, &p);
		profile_check(&q);
		EXPECT_EQ(q.events.n, p.events.n);
		for (event_id e = 0; e < p.events.n; e++)
			EXPECT_EQ(sum_of(&q, e), sum_of(&p, e));
		/* An excerpt of an excerpt is the same profile. */
		once = profile_dump(&q);
		twice = dump_of_excerpt(&q);
		EXPECT_STR(once, twice);
		free(once);
		free(twice);
		profile_release(&p);
		profile_release(&q);
	}
}

TEST(what_was_reset_is_left_out)
{
	struct profile p, q;
	image_id im;
	ctx_id old, new;

	profile_init(&p);
	profile_watch(&p);
	profile_intern_event(&p, &(struct event){.name = profile_intern_str(&p, "e"), .period = 1});
	im = profile_intern_image(&p, &(struct image){.kind = IMAGE_FILE, .path = "/a"});
	old = profile_flat_ctx(&p, profile_intern_place(&p, im, 1, 0));
	new = profile_intern_ctx(&p, old, profile_intern_place(&p, im, 2, 0));
	profile_add_value(&p, &(struct value){.ctx = old, .count = 5});
	profile_reset_values(&p);
	profile_add_value(&p, &(struct value){.ctx = new, .count = 3});
	profile_init(&q);
	profile_excerpt(&q, &p);
	EXPECT_EQ(q.values.n, 1);
	EXPECT_EQ(q.values.v[0].count, 3);
	EXPECT_EQ(q.places.v[q.ctxs.v[q.values.v[0].ctx].place].svma, 2);
	EXPECT_EQ(q.places.v[q.ctxs.v[q.ctxs.v[q.values.v[0].ctx].parent].place].svma, 1);
	profile_release(&q);
	/* Nothing counts: the dictionaries stay out. */
	profile_reset_values(&p);
	profile_init(&q);
	profile_excerpt(&q, &p);
	EXPECT_EQ(q.values.n, 0);
	EXPECT_EQ(q.images.n, 0);
	profile_release(&q);
	profile_release(&p);
}
