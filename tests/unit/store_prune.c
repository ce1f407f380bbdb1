/* SPDX-License-Identifier: BSD-2-Clause */
/* Merges that prune: what is in the MANIFEST, and that nothing is lost when a step fails. */
#include "model/prune.h"

#include <errno.h>

#include "base/file.h"
#include "store_t.h"

static place_id place(struct profile *p, uint64_t svma)
{
	return profile_intern_place(
		p, profile_intern_image(p, &(struct image){.kind = IMAGE_FILE, .path = "/bin/x"}),
		svma, 0);
}

/* 90 samples at a usual place and 10 below callers that no other round has: 5
 * at each of 2 places. */
static void make(struct profile *p, unsigned round)
{
	event_id e;
	ctx_id main_ctx, rare;

	profile_init(p);
	e = profile_intern_event(p, &(struct event){.name = profile_intern_str(p, "cycles"),
						    .period = 1000,
						    .n_reached = 100});
	main_ctx = profile_intern_ctx(p, 0, place(p, 1));
	rare = profile_intern_ctx(p, main_ctx, place(p, 100 + round));
	profile_add_value(p, &(struct value){.ctx = profile_intern_ctx(p, main_ctx, place(p, 2)),
					     .event = e,
					     .count = 90});
	for (uint64_t i = 3; i < 5; i++)
		profile_add_value(p,
				  &(struct value){.ctx = profile_intern_ctx(p, rare, place(p, i)),
						  .event = e,
						  .count = 5});
}

static int flush(struct store *s, unsigned round)
{
	struct profile p;
	struct err err = {0};
	int rc;

	make(&p, round);
	rc = store_flush(s, &p, NULL, 0, &err);
	profile_release(&p);
	return rc;
}

static int add_pruned(void *n, const struct store_recording *r)
{
	for (size_t i = 0; i < r->n_events; i++)
		*(uint64_t *)n += r->events[i].n_pruned;
	return 0;
}

/* What is stored after N rounds; returns how many samples are pruned, and told to be. */
static uint64_t n_pruned_of(const struct scratch *t, unsigned n)
{
	uint64_t told = 0, at[5] = {0}, found[1];
	struct err err = {0};
	struct profile p;

	profile_init(&p);
	EXPECT(store_load(t->db, &(struct store_selection){0}, &p, NULL, &err) >= 0);
	EXPECT_STR(err.msg, "");
	vec_each (v, &p.values)
		at[profile_leaf(&p, v->ctx)->svma] += v->count;
	EXPECT_EQ(at[2], 90 * n);
	EXPECT_EQ(at[3], 5 * n);
	EXPECT_EQ(at[4], 5 * n);
	profile_n_pruned(&p, found);
	EXPECT(store_list(t->db, &(struct store_selection){0}, add_pruned, &told, &err) >= 0);
	EXPECT_EQ(told, found[0]);
	profile_release(&p);
	return told;
}

static void check(const struct scratch *t, unsigned n, uint64_t n_pruned)
{
	EXPECT_EQ(n_pruned_of(t, n), n_pruned);
}

TEST(merges_prune_and_the_manifest_tells)
{
	struct scratch t = scratch_new();
	struct store *s = t_create(&t, "alpha");
	struct err err = {0};

	store_set_prune(s, 0.05);
	for (unsigned i = 0; i < 3; i++)
		REQUIRE(flush(s, i) == 0);
	check(&t, 3, 0);
	REQUIRE(flush(s, 3) == 0); /* the fourth merges: each round's 10 of 400 */
	EXPECT_EQ(t_named_segments(&t), 1);
	check(&t, 4, 40);
	REQUIRE(flush(s, 4) == 0);
	check(&t, 5, 40);
	EXPECT_EQ(store_close(s, &err), 0);
	check(&t, 5, 50);
	scratch_release(&t);
}

TEST(a_recording_of_one_segment_is_pruned_when_it_ends)
{
	struct scratch t = scratch_new();
	struct store *s = t_create(&t, "alpha");
	struct err err = {0};

	store_set_prune(s, 0.5);
	REQUIRE(flush(s, 0) == 0);
	check(&t, 1, 0);
	EXPECT_EQ(store_close(s, &err), 0);
	check(&t, 1, 10);
	scratch_release(&t);
}

TEST(nothing_is_pruned_unless_asked_for)
{
	struct scratch t = scratch_new();
	struct store *s = t_create(&t, "alpha");
	struct err err = {0};

	for (unsigned i = 0; i < 5; i++)
		REQUIRE(flush(s, i) == 0);
	EXPECT_EQ(store_close(s, &err), 0);
	check(&t, 5, 0);
	scratch_release(&t);
}

static unsigned n_steps, fault_at;
static bool fault_short;

static int fault_hook(enum file_op op, size_t n)
{
	if (n_steps++ != fault_at)
		return 0;
	return fault_short && op == FILE_WRITE && n > 1 ? (int)(n / 2) : -EIO;
}

/* A recorder that tries again; the fourth flush and the end prune. */
TEST(each_step_fails_once)
{
	for (unsigned at = 0, i = 0;; i++, at = i / 2) {
		struct scratch t = scratch_new();
		struct store *s = t_create(&t, "alpha");
		struct err err = {0};
		bool done;

		store_set_prune(s, 0.05);
		n_steps = 0;
		fault_at = at;
		fault_short = i % 2;
		file_fault = fault_hook;
		for (unsigned round = 0; round < 4; round++) {
			while (flush(s, round) < 0)
				if (round)
					check(&t, round, 0);
			check(&t, round + 1, round < 3 ? 0 : 40);
		}
		REQUIRE(flush(s, 4) == 0 || flush(s, 4) == 0);
		/* After a failure it is recovered as it is, merged or not. */
		if (store_close(s, &err) < 0) {
			uint64_t n = n_pruned_of(&t, 5);

			EXPECT(n == 40 || n == 50);
			EXPECT(store_recover(t.db, NULL, &err) >= 0);
			check(&t, 5, n);
		} else {
			check(&t, 5, 50);
		}
		done = n_steps <= at;
		file_fault = NULL;
		EXPECT_EQ(t_files(&t, ".tmp"), 0);
		scratch_release(&t);
		if (done)
			break;
		EXPECT(at < 500);
	}
}
