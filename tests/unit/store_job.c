/* SPDX-License-Identifier: BSD-2-Clause */
/* Jobs: which recordings belong together, what readers take by default, what goes together. */
#include "store/job.h"

#include "store/gc.h"
#include "store_t.h"

#define SECOND 1000000000ull
#define DAY    (86400 * SECOND)
#define BEGIN  (1700006400 * SECOND) /* 2023-11-15 00:00 */

/* A recording of HOST with N samples, SECONDS after BEGIN, by job JOB. */
static void put(const struct scratch *t, const char *host, uint64_t seconds, const char *job,
		uint64_t n)
{
	struct store_opts o = {.host = host, .now_wall_ns = BEGIN + seconds * SECOND, .job = job};
	struct store *s = NULL;
	struct err err = {0};
	struct profile p;

	t_profile(&p, n);
	p.meta.start_wall_ns = o.now_wall_ns;
	p.meta.end_wall_ns = o.now_wall_ns + SECOND;
	if (store_create(t->db, &o, &s, &err) < 0 || store_flush(s, &p, NULL, 0, &err) < 0 ||
	    store_close(s, &err) < 0)
		t_fail_("%s", err.msg);
	profile_release(&p);
}

static size_t left_chosen, left_all;

static void note_left(void *ctx, size_t n_chosen, size_t n_all)
{
	left_chosen = n_chosen;
	left_all = n_all;
}

/* Samples that EPOCHS of HOST select. */
static int64_t load(const struct scratch *t, const char *epochs, const char *host)
{
	const struct store_selection sel = {.epochs = epochs, .host = host, .left_out = note_left};
	struct err err = {0};
	struct profile p;
	int64_t n;

	left_chosen = left_all = 0;
	profile_init(&p);
	n = store_load(t->db, &sel, &p, NULL, &err);
	if (n >= 0)
		n = (int64_t)profile_n_samples(&p, 0);
	profile_release(&p);
	return n;
}

TEST(the_default_is_the_newest_job)
{
	struct scratch t = scratch_new();

	put(&t, "a", 0, "slurm:1", 1);
	put(&t, "a", 10, "slurm:2", 2);
	put(&t, "b", 20, "slurm:2", 4);
	put(&t, "a", 30, NULL, 8);
	put(&t, "a", 40, "slurm:2", 16);
	EXPECT_EQ(load(&t, NULL, NULL), 2 + 4 + 16);
	EXPECT_EQ(left_chosen, 3);
	EXPECT_EQ(left_all, 5);
	EXPECT_EQ(load(&t, NULL, "a"), 2 + 16);
	EXPECT_EQ(load(&t, "latest", "a"), 16);
	EXPECT_EQ(left_all, 0);
	EXPECT_EQ(load(&t, "all", NULL), 31);
	EXPECT_EQ(left_all, 0);
	/* A recording of no job: each host's newest, as ever. */
	put(&t, "a", 50, NULL, 32);
	EXPECT_EQ(load(&t, NULL, NULL), 32 + 4);
	EXPECT_EQ(left_chosen, 2);
	EXPECT_EQ(left_all, 6);
	scratch_release(&t);
}

TEST(all_of_one_job_is_nothing_left_out)
{
	struct scratch t = scratch_new();

	put(&t, "a", 0, "slurm:1", 1);
	EXPECT_EQ(load(&t, NULL, NULL), 1);
	EXPECT_EQ(left_all, 0);
	put(&t, "a", 10, "slurm:1", 2);
	EXPECT_EQ(load(&t, NULL, NULL), 3);
	EXPECT_EQ(left_all, 0);
	scratch_release(&t);
}

/* A recorder of a series, open. */
static struct store *begin_series(const struct scratch *t, const char *job, uint64_t gap_ns)
{
	struct store_opts o = {
		.host = "a", .job = job, .job_is_series = true, .job_gap_ns = gap_ns};
	struct store *s = NULL;
	struct err err = {0};

	if (store_create(t->db, &o, &s, &err) < 0)
		t_fail_("%s", err.msg);
	return s;
}

static int end_series(struct store *s, uint64_t n)
{
	struct profile p;
	int rc;

	t_profile(&p, n);
	rc = store_flush(s, &p, NULL, 0, NULL);
	profile_release(&p);
	return rc < 0 ? rc : store_close(s, NULL);
}

TEST(a_series_goes_on_while_it_runs_or_soon_after)
{
	struct scratch t = scratch_new();
	struct store *first = begin_series(&t, "series:x:1", 0), *second;

	second = begin_series(&t, "series:x:1", 0); /* beside it */
	EXPECT_EQ(end_series(first, 1), 0);
	EXPECT_EQ(end_series(second, 2), 0);
	EXPECT_EQ(load(&t, NULL, NULL), 3);
	/* Behind it: another one without a gap, the same one with an hour's. */
	EXPECT_EQ(end_series(begin_series(&t, "series:x:1", 0), 4), 0);
	EXPECT_EQ(load(&t, NULL, NULL), 4);
	EXPECT_EQ(end_series(begin_series(&t, "series:x:1", 3600 * SECOND), 8), 0);
	EXPECT_EQ(load(&t, NULL, NULL), 12);
	/* That of another process, and one whose name begins so. */
	EXPECT_EQ(end_series(begin_series(&t, "series:x:2", 3600 * SECOND), 16), 0);
	EXPECT_EQ(load(&t, NULL, NULL), 16);
	EXPECT_EQ(end_series(begin_series(&t, "series:x", 3600 * SECOND), 32), 0);
	EXPECT_EQ(end_series(begin_series(&t, "series:x:2", 3600 * SECOND), 64), 0);
	EXPECT_EQ(load(&t, NULL, NULL), 16 + 64);
	scratch_release(&t);
}

TEST(a_job_goes_as_a_whole)
{
	struct scratch t = scratch_new();
	struct gc_totals totals;
	struct gc_opts o = {.max_age_ns = 20 * DAY, .keep = 1, .now_wall_ns = BEGIN + 30 * DAY};
	struct err err = {0};

	put(&t, "a", 0, "slurm:1", 1);
	put(&t, "a", 2 * 86400, "slurm:1", 4);
	put(&t, "a", 8 * 86400, "slurm:2", 2);
	put(&t, "a", 25 * 86400, "slurm:2", 8); /* keeps the older one of its job */
	put(&t, "a", 26 * 86400, NULL, 16);
	EXPECT_EQ(store_gc(t.db, &o, NULL, NULL, &totals, &err), 0);
	EXPECT_EQ(totals.n_removed, 2);
	EXPECT_EQ(load(&t, "all", NULL), 2 + 8 + 16);
	/* By size: to be rid of one byte a job goes, and the host's newest job stays. */
	o = (struct gc_opts){
		.max_bytes = totals.n_bytes_left - 1, .keep = 1, .now_wall_ns = BEGIN + 30 * DAY};
	EXPECT_EQ(store_gc(t.db, &o, NULL, NULL, &totals, &err), 0);
	EXPECT_EQ(totals.n_removed, 2);
	EXPECT_EQ(load(&t, "all", NULL), 16);
	/* The newest N are jobs, not recordings. */
	put(&t, "a", 27 * 86400, "slurm:3", 32);
	put(&t, "a", 28 * 86400, "slurm:3", 64);
	o = (struct gc_opts){.max_bytes = 1, .keep = 1, .now_wall_ns = BEGIN + 30 * DAY};
	EXPECT_EQ(store_gc(t.db, &o, NULL, NULL, &totals, &err), 0);
	EXPECT_EQ(totals.n_removed, 1);
	EXPECT_EQ(load(&t, "all", NULL), 32 + 64);
	scratch_release(&t);
}

/* A loop in one shell: a recording a day, all of one job. */
static void record_for_days(const struct scratch *t, const char *job)
{
	for (unsigned day = 0; day < 30; day++)
		put(t, "a", day * 86400, job, day + 1);
}

TEST(a_job_that_is_older_than_any_may_be_goes_one_by_one)
{
	static const char *jobs[] = {"shell:x:1:2", "series:x:1:2:20231115000000", "job:nightly"};

	for (unsigned i = 0; i < 3; i++) {
		const struct gc_opts o = {
			.max_age_ns = 10 * DAY, .keep = 3, .now_wall_ns = BEGIN + 30 * DAY};
		struct scratch t = scratch_new();
		struct gc_totals totals;
		struct err err = {0};

		record_for_days(&t, jobs[i]);
		EXPECT_EQ(store_gc(t.db, &o, NULL, NULL, &totals, &err), 0);
		EXPECT_EQ(totals.n_removed, 20);
		EXPECT_EQ(load(&t, "all", NULL), 30 * 31 / 2 - 20 * 21 / 2);
		scratch_release(&t);
	}
}

TEST(what_a_shell_records_keeps_to_the_size)
{
	struct gc_opts o = {.keep = 3, .now_wall_ns = BEGIN + 30 * DAY, .dry_run = true};
	struct scratch t = scratch_new(), ranks = scratch_new();
	struct gc_totals totals;
	struct err err = {0};

	record_for_days(&t, "shell:x:1:2");
	EXPECT_EQ(store_gc(t.db, &o, NULL, NULL, &totals, &err), 0);
	o = (struct gc_opts){
		.keep = 3, .now_wall_ns = o.now_wall_ns, .max_bytes = totals.n_bytes_left / 2};
	EXPECT_EQ(store_gc(t.db, &o, NULL, NULL, &totals, &err), 0);
	EXPECT(totals.n_removed >= 15 && totals.n_removed <= 16);
	EXPECT(totals.n_bytes_left <= o.max_bytes);
	/* The newest job of ranks stays, however large it is. */
	record_for_days(&ranks, "slurm:1");
	EXPECT_EQ(store_gc(ranks.db, &o, NULL, NULL, &totals, &err), 0);
	EXPECT_EQ(totals.n_removed, 0);
	scratch_release(&t);
	scratch_release(&ranks);
}
