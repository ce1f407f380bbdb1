/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/shares.h"

#include "model/fresh.h"

#include "t.h"

static event_id add_event(struct profile *p, const char *name, const char *unit, uint64_t period)
{
	return profile_intern_event(p, &(struct event){.name = profile_intern_str(p, name),
						       .unit = profile_intern_str(p, unit),
						       .period = period});
}

static ctx_id add_image(struct profile *p, const char *path)
{
	const image_id im =
		profile_intern_image(p, &(struct image){.kind = IMAGE_FILE, .path = path});

	return profile_flat_ctx(p, profile_intern_place(p, im, 0x10, 0));
}

static void add(struct profile *p, event_id event, ctx_id ctx, uint64_t count)
{
	profile_add_value(p, &(struct value){.event = event, .ctx = ctx, .count = count});
}

static const struct share_series *find(const struct shares *s, const char *name)
{
	vec_each (t, &s->series[SHARE_IMAGE])
		if (strcmp(t->name, name) == 0)
			return t;
	return NULL;
}

/* Samples of two events are not added up: the clock's count, wherever it stands. */
TEST(samples_of_one_event)
{
	struct shares s = {0};
	struct profile p;
	event_id cycles, clock, other;
	ctx_id ctx;

	profile_init(&p);
	profile_watch(&p);
	cycles = add_event(&p, "cycles", "", 1000);
	clock = add_event(&p, "cpu-clock", "ns", 1000000);
	other = add_event(&p, "task-clock", "ns", 1000000);
	ctx = add_image(&p, "/usr/bin/x");
	add(&p, cycles, ctx, 7);
	add(&p, clock, ctx, 2000);
	add(&p, other, ctx, 3000);
	add(&p, clock, add_image(&p, "/usr/bin/rare"), 3);
	shares_add(&s, &p);
	REQUIRE(find(&s, "/usr/bin/x"));
	EXPECT_EQ(find(&s, "/usr/bin/x")->n_samples, 2000);
	EXPECT(find(&s, "/usr/bin/x")->cpu_s > 1.999 && find(&s, "/usr/bin/x")->cpu_s < 2.001);
	REQUIRE(find(&s, "(other)"));
	EXPECT_EQ(find(&s, "(other)")->n_samples, 3);
	EXPECT_EQ(s.series[SHARE_IMAGE].n, 2);
	shares_release(&s);
	profile_release(&p);
}

TEST(samples_of_the_first_event_where_there_is_no_clock)
{
	struct shares s = {0};
	struct profile p;
	event_id cycles, misses;
	ctx_id ctx;

	profile_init(&p);
	profile_watch(&p);
	cycles = add_event(&p, "cycles", "", 1000);
	misses = add_event(&p, "cache-misses", "", 1000);
	ctx = add_image(&p, "/usr/bin/x");
	add(&p, cycles, ctx, 7);
	add(&p, misses, ctx, 9);
	shares_add(&s, &p);
	REQUIRE(find(&s, "/usr/bin/x"));
	EXPECT_EQ(find(&s, "/usr/bin/x")->n_samples, 7);
	EXPECT(find(&s, "/usr/bin/x")->cpu_s == 0);
	shares_release(&s);
	profile_release(&p);
}
