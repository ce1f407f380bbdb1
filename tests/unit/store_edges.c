/* SPDX-License-Identifier: BSD-2-Clause */
/* Times within a recording: which segments stay apart, and what a reader gets of a time. */
#include "store/edges.h"

#include "base/clock.h"
#include "model/fresh.h"
#include "store/gc.h"
#include "store_t.h"

#define MINUTE (60ull * 1000000000)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)

/* A recording by flushes of N samples each, STEP apart, of which the first began at START. */
static void put(const struct scratch *t, uint64_t start, uint64_t step, unsigned n_flushes)
{
	struct store_opts o = {.host = "alpha", .now_wall_ns = start, .compact_at = 4};
	struct store *s = NULL;
	struct err err = {0};

	if (store_create(t->db, &o, &s, &err) < 0)
		t_fail_("%s", err.msg);
	for (unsigned i = 0; i < n_flushes; i++) {
		struct profile p;

		t_profile(&p, 1 + i);
		p.meta.start_wall_ns = start + i * step;
		p.meta.end_wall_ns = start + (i + 1) * step;
		profile_add_moment(
			&p, &(struct moment){.minute = (uint32_t)(p.meta.start_wall_ns / MINUTE),
					     .count = 1 + i});
		EXPECT_EQ(store_flush(s, &p, NULL, 0, &err), 0);
		profile_release(&p);
	}
	EXPECT_EQ(store_close(s, &err), 0);
	EXPECT_STR(err.msg, "");
}

/* Samples of the time wanted; which time that was in *RET_META, how many of them have a minute in
 * *RET_TIMED. */
static int64_t load(const struct scratch *t, uint64_t since, uint64_t until,
		    struct profile_meta *ret_meta, uint64_t *ret_timed)
{
	struct store_selection sel = {
		.epochs = "all", .since_wall_ns = since, .until_wall_ns = until};
	struct err err = {0};
	struct profile p;
	int64_t n;

	profile_init(&p);
	n = store_load(t->db, &sel, &p, NULL, &err);
	if (n >= 0)
		n = (int64_t)profile_n_samples(&p, 0);
	*ret_meta = p.meta;
	*ret_timed = n >= 0 ? profile_n_timed(&p, 0) : 0;
	profile_release(&p);
	return n;
}

static uint64_t sum_to(uint64_t n)
{
	return n * (n + 1) / 2;
}

TEST(flushes_of_a_day_stay_apart)
{
	const uint64_t start = (clock_wall_ns() / HOUR - 3) * HOUR;
	struct scratch t = scratch_new();
	struct profile_meta meta;
	uint64_t n_timed;

	put(&t, start, 5 * MINUTE, 20);
	EXPECT_EQ(t_named_segments(&t), 20);
	EXPECT_EQ(t_files(&t, ".seg"), 20);
	EXPECT_EQ(load(&t, 0, 0, &meta, &n_timed), (int64_t)sum_to(20));
	EXPECT_EQ(n_timed, sum_to(20));
	/* A time in the middle of a flush: all of that one. */
	EXPECT_EQ(load(&t, start + 92 * MINUTE, 0, &meta, &n_timed), 19 + 20);
	EXPECT_EQ(meta.start_wall_ns, start + 90 * MINUTE);
	EXPECT_EQ(meta.end_wall_ns, start + 100 * MINUTE);
	EXPECT_EQ(n_timed, 19 + 20);
	EXPECT_EQ(load(&t, start + 10 * MINUTE, start + 16 * MINUTE, &meta, &n_timed), 3 + 4);
	EXPECT_EQ(meta.start_wall_ns, start + 10 * MINUTE);
	EXPECT_EQ(meta.end_wall_ns, start + 20 * MINUTE);
	EXPECT_EQ(load(&t, start + 10 * MINUTE, start + 15 * MINUTE, &meta, &n_timed), 3);
	EXPECT(load(&t, start + 100 * MINUTE, 0, &meta, &n_timed) <= 0);
	scratch_release(&t);
}

TEST(flushes_of_a_minute_become_one)
{
	const uint64_t start = (clock_wall_ns() / HOUR - 3) * HOUR;
	struct scratch t = scratch_new();
	struct profile_meta meta;
	uint64_t n_timed;

	put(&t, start, MINUTE / 10, 40);
	EXPECT_EQ(t_named_segments(&t), 4);
	EXPECT_EQ(load(&t, start + 2 * MINUTE, 0, &meta, &n_timed),
		  (int64_t)(sum_to(40) - sum_to(20)));
	EXPECT_EQ(n_timed, sum_to(40) - sum_to(20));
	scratch_release(&t);
}

TEST(after_a_day_hours_after_a_month_the_whole)
{
	struct scratch t = scratch_new();
	const uint64_t now = clock_wall_ns();
	struct profile_meta meta;
	uint64_t n_timed;

	put(&t, (now / DAY - 3) * DAY, 5 * MINUTE, 30);
	EXPECT_EQ(t_named_segments(&t), 3);
	EXPECT_EQ(load(&t, (now / DAY - 3) * DAY + 61 * MINUTE, 0, &meta, &n_timed),
		  (int64_t)(sum_to(30) - sum_to(12)));
	EXPECT_EQ(meta.start_wall_ns, (now / DAY - 3) * DAY + HOUR);
	EXPECT_EQ(n_timed, sum_to(30) - sum_to(12));
	scratch_release(&t);
	t = scratch_new();
	put(&t, (now / DAY - 33) * DAY, HOUR, 30); /* the last hours are of the next day */
	EXPECT_EQ(t_named_segments(&t), 1);
	EXPECT_EQ(load(&t, 0, 0, &meta, &n_timed), (int64_t)sum_to(30));
	EXPECT_EQ(n_timed, sum_to(30));
	scratch_release(&t);
}

/* What was recorded yesterday is merged when it is old enough, by the daily removal. */
TEST(segments_grow_old)
{
	const uint64_t hour = clock_wall_ns() / HOUR, start = (hour - 23) * HOUR;
	struct scratch t = scratch_new();
	struct gc_totals totals;
	struct gc_opts o = {.keep = 1};
	struct profile_meta meta;
	struct err err = {0};
	uint64_t n_timed;

	put(&t, start, 5 * MINUTE, 24);
	EXPECT_EQ(t_named_segments(&t), 24);
	EXPECT_EQ(store_gc(t.db, &o, NULL, NULL, &totals, &err), 0);
	EXPECT_EQ(totals.n_aged, 0);
	EXPECT_EQ(t_named_segments(&t), 24);
	o.now_wall_ns = start + 25 * HOUR;
	EXPECT_EQ(store_gc(t.db, &o, NULL, NULL, &totals, &err), 0);
	EXPECT_EQ(totals.n_aged, 1);
	EXPECT_EQ(t_named_segments(&t), 13);
	EXPECT_EQ(t_files(&t, ".seg"), 13);
	o.now_wall_ns = start + 26 * HOUR;
	EXPECT_EQ(store_gc(t.db, &o, NULL, NULL, &totals, &err), 0);
	EXPECT_EQ(t_named_segments(&t), 2);
	EXPECT_EQ(load(&t, start + HOUR, 0, &meta, &n_timed), (int64_t)(sum_to(24) - sum_to(12)));
	EXPECT_EQ(n_timed, sum_to(24) - sum_to(12));
	o.now_wall_ns = start + 33 * DAY;
	EXPECT_EQ(store_gc(t.db, &o, NULL, NULL, &totals, &err), 0);
	EXPECT_EQ(totals.n_aged, 1);
	EXPECT_EQ(t_named_segments(&t), 1);
	EXPECT_EQ(load(&t, 0, 0, &meta, &n_timed), (int64_t)sum_to(24));
	EXPECT_EQ(n_timed, sum_to(24));
	EXPECT_EQ(store_gc(t.db, &o, NULL, NULL, &totals, &err), 0);
	EXPECT_EQ(totals.n_aged, 0);
	scratch_release(&t);
	EXPECT(edges_same(start, start + 59 * MINUTE, start + 25 * HOUR));
	EXPECT(!edges_same(start, start + HOUR, start + 26 * HOUR));
	EXPECT(!edges_same(start, start + 59 * MINUTE, start + 25 * HOUR - 1));
	EXPECT(edges_same(start, start + 40, start));
	EXPECT(edges_same(start, start + DAY, start + 33 * DAY));
	EXPECT_EQ(load(&t, 0, 0, &meta, &n_timed), -2); /* it is gone */
}
