/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples into counts: none lost, none invented, each where it belongs. */
#include "collect/fold.h"

#include <errno.h>

#include "collect_world.h"
#include "t.h"

static struct {
	struct world world;
	struct fold fold;
	event_id events[2];
} w;

static void begin(enum owner_split split)
{
	world_init(&w.world, world_no_file, NULL);
	w.world.procs.split = split;
	for (unsigned i = 0; i < 2; i++)
		w.events[i] = profile_intern_event(
			&w.world.profile,
			&(struct event){
				.name = profile_intern_str(&w.world.profile, i ? "one" : "zero"),
				.period = 1});
	fold_init(&w.fold, &w.world.profile, &w.world.procs, &w.world.images, &w.world.kernel,
		  w.events);
	world_map(&w.world, CODE, 100, PAGE, NULL, "/nonexistent/prog");
}

static void end(void)
{
	fold_release(&w.fold);
	world_release(&w.world);
}

static void add(uint64_t ip, uint32_t pid, uint32_t tid, uint32_t event, unsigned n)
{
	while (n--)
		fold_add(&w.fold,
			 &(struct log_sample){.ip = ip, .tgid = pid, .tid = tid, .event = event});
}

/* Samples of the event at that stated address of the image of that path. */
static uint64_t count_at(const char *path, uint64_t svma, event_id event)
{
	uint64_t n = 0;

	vec_each (v, &w.world.profile.values) {
		const struct place *place = profile_leaf(&w.world.profile, v->ctx);

		if (place->svma == svma && v->event == event &&
		    strcmp(w.world.profile.images.v[place->image].path, path) == 0)
			n += v->count;
	}
	return n;
}

TEST(each_where_it_belongs)
{
	begin(OWNER_GROUP);
	add(CODE + 5, PID, PID, 0, 3);
	add(CODE + 5, PID, PID + 1, 1, 2); /* another thread, another event */
	add(KERNEL + 8, PID, PID, 0, 4);
	fold_flush(&w.fold);
	add(CODE + 5, PID, PID, 0, 10);
	fold_flush(&w.fold);
	fold_flush(&w.fold);
	/* A file that could not be read: file offsets stand for addresses. */
	EXPECT_EQ(count_at("/nonexistent/prog", PAGE + 5, w.events[0]), 13);
	EXPECT_EQ(count_at("/nonexistent/prog", PAGE + 5, w.events[1]), 2);
	EXPECT_EQ(count_at("[kernel]", KERNEL + 8, w.events[0]), 4);
	EXPECT_EQ(w.fold.n_samples[0], 17);
	EXPECT_EQ(w.fold.n_samples[1], 2);
	EXPECT_EQ(w.fold.n_unknown, 0);
	EXPECT_EQ(w.world.profile.values.n, 3);
	end();
}

/* The profile forgets its values when most of them are not used any more; what is counted next is
 * where it belongs all the same. */
TEST(counting_goes_on_when_values_are_forgotten)
{
	struct profile *p = &w.world.profile;

	begin(OWNER_GROUP);
	add(CODE + 5, PID, PID, 0, 3);
	add(KERNEL + 8, PID, PID, 0, 1);
	fold_flush(&w.fold);
	for (unsigned i = 0; i < 20000; i++)
		profile_add_value(p,
				  &(struct value){.ctx = profile_flat_ctx(
							  p, profile_unknown_place(p, 1000 + i, 0)),
						  .event = w.events[0],
						  .count = 1});
	profile_reset_values(p);
	add(CODE + 5, PID, PID, 0, 2);
	fold_flush(&w.fold);
	EXPECT_EQ(count_at("/nonexistent/prog", PAGE + 5, w.events[0]), 2);
	profile_reset_values(p);
	EXPECT_EQ(p->values.n, 0);
	add(KERNEL + 8, PID, PID, 0, 4);
	add(CODE + 5, PID, PID, 0, 5);
	fold_flush(&w.fold);
	EXPECT_EQ(count_at("/nonexistent/prog", PAGE + 5, w.events[0]), 5);
	EXPECT_EQ(count_at("[kernel]", KERNEL + 8, w.events[0]), 4);
	EXPECT_EQ(p->values.n, 2);
	end();
}

TEST(what_nobody_knows_is_named_so)
{
	begin(OWNER_GROUP);
	add(CODE + 100 * PAGE, PID, PID, 0, 2); /* right behind the mapping */
	add(CODE + 5, PID + 1, PID + 1, 0, 3);	/* no such process */
	add(KERNEL - 1, PID, PID, 0, 4);	/* no such kernel code */
	fold_flush(&w.fold);
	EXPECT_EQ(w.fold.n_unknown, 9);
	EXPECT_EQ(w.fold.n_samples[0], 9);
	EXPECT_EQ(count_at("[unknown]", CODE + 100 * PAGE, w.events[0]), 2);
	EXPECT_EQ(count_at("[unknown]", CODE + 5, w.events[0]), 3);
	EXPECT_EQ(count_at("[unknown]", 0, w.events[0]), 4);
	vec_each (v, &w.world.profile.values)
		if (profile_leaf(&w.world.profile, v->ctx)->svma == CODE + 5)
			EXPECT_EQ(v->owner, 0);
	end();
}

/* A copy with the same content is the same image; it has no name that is excluded. */
TEST(an_excluded_name_names_nothing)
{
	struct build_id id = {.n_bytes = BUILD_ID_MAX, .bytes = {1, 2, 3}};
	struct exclusions e = {0};

	begin(OWNER_GROUP);
	REQUIRE(exclusions_parse(&e, "dropped\n", 8, NULL) == 0);
	w.world.procs.excluded = &e;
	world_map(&w.world, CODE + 200 * PAGE, 1, 0, &id, "/bin/dropped");
	world_map(&w.world, CODE + 300 * PAGE, 1, 0, &id, "/bin/kept");
	add(CODE + 200 * PAGE + 5, PID, PID, 0, 3);
	fold_flush(&w.fold);
	EXPECT_EQ(w.world.profile.values.n, 0);
	add(CODE + 300 * PAGE + 5, PID, PID, 0, 4);
	fold_flush(&w.fold);
	EXPECT_EQ(count_at("/bin/kept", 5, w.events[0]), 4);
	EXPECT_EQ(count_at("/bin/dropped", 5, w.events[0]), 0);
	exclusions_release(&e);
	end();
}

TEST(threads_are_kept_apart_when_asked)
{
	begin(OWNER_TID);
	add(CODE + 5, PID, PID, 0, 3);
	add(CODE + 5, PID, PID + 1, 0, 4);
	fold_flush(&w.fold);
	REQUIRE(w.world.profile.values.n == 2);
	EXPECT(w.world.profile.values.v[0].owner != w.world.profile.values.v[1].owner);
	EXPECT_EQ(w.world.profile.values.v[0].count + w.world.profile.values.v[1].count, 7);
	end();
}

/* More distinct addresses than the table holds, in random order, with a naive count beside. */
TEST(counts_are_conserved_when_the_table_overflows)
{
	enum { N = 100 * 0x1000 };
	static uint32_t naive[N];
	struct t_rng rng = {.s = 17};
	uint64_t total = 0, found = 0;

	memset(naive, 0, sizeof(naive));
	begin(OWNER_GROUP);
	for (unsigned i = 0; i < 60000; i++) {
		/* Half of them in a hot spot, half anywhere. */
		uint32_t at = (uint32_t)t_below(&rng, i % 2 ? 50 : N);

		add(CODE + at, PID, PID, 0, 1);
		naive[at]++;
		total++;
	}
	EXPECT(w.fold.n_samples[0] > 0); /* the table was emptied on the way */
	fold_flush(&w.fold);
	EXPECT_EQ(w.fold.n_samples[0], total);
	EXPECT_EQ(profile_n_samples(&w.world.profile, w.events[0]), total);
	vec_each (v, &w.world.profile.values) {
		uint64_t at = profile_leaf(&w.world.profile, v->ctx)->svma - PAGE;

		REQUIRE(at < N);
		EXPECT_EQ(v->count, naive[at]);
		found++;
	}
	for (unsigned i = 0; i < N; i++)
		found -= naive[i] > 0;
	EXPECT_EQ(found, 0);
	end();
}

TEST(spilled_samples_are_found_by_build_id)
{
	struct build_id id = {.n_bytes = BUILD_ID_MAX, .bytes = {9, 8, 7}};
	struct spill_slot s = {.event_used = 1 + 1, .off = 0x234, .count = 5};

	begin(OWNER_GROUP);
	world_map(&w.world, CODE + 200 * PAGE, 1, PAGE, &id, "/nonexistent/lib");
	memcpy(s.build_id, id.bytes, sizeof(s.build_id));
	fold_add_spilled(&w.fold, &s);
	EXPECT_EQ(count_at("/nonexistent/lib", 0x234, w.events[1]), 5);

	s = (struct spill_slot){.event_used = 1, .off = KERNEL + 4, .count = 6};
	fold_add_spilled(&w.fold, &s);
	EXPECT_EQ(count_at("[kernel]", KERNEL + 4, w.events[0]), 6);
	EXPECT_EQ(w.fold.n_unknown, 0);

	s.off = 0x1234; /* a user address of nobody knows whom */
	fold_add_spilled(&w.fold, &s);
	EXPECT_EQ(w.fold.n_unknown, 6);
	EXPECT_EQ(w.fold.n_samples[0], 12);
	EXPECT_EQ(w.fold.n_samples[1], 5);
	end();
}
