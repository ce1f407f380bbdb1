/* SPDX-License-Identifier: BSD-2-Clause */
/* Retention in passing: what is removed, said and known, and that nobody is kept waiting. */
#include "daemon/retention.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "store/db.h"
#include "store_t.h"

#define SECOND 1000000000ull
#define HOUR   (3600 * SECOND)
#define DAY    (24 * HOUR)
#define BEGIN  (1700006400 * SECOND) /* 2023-11-15 00:00 */

/* A finished recording that began DAYS after BEGIN and ended half a day later. */
static void put(const struct scratch *t, unsigned days)
{
	struct store_opts o = {.host = "alpha", .now_wall_ns = BEGIN + days * DAY};
	struct store *s = NULL;
	struct err err = {0};
	struct profile p;

	t_profile(&p, 10);
	p.meta.start_wall_ns = o.now_wall_ns;
	p.meta.end_wall_ns = o.now_wall_ns + DAY / 2;
	if (store_create(t->db, &o, &s, &err) < 0 || store_flush(s, &p, NULL, 0, &err) < 0 ||
	    store_close(s, &err) < 0)
		t_fail_("%s", err.msg);
	profile_release(&p);
}

static char said[600];

/* Steps at NOW until nothing runs; how often it said something. */
static unsigned settle(struct retention *r, const struct scratch *t, const struct gc_opts *o,
		       uint64_t now)
{
	unsigned n = 0;

	do {
		n += retention_step(r, t->db, o, now, said, sizeof(said));
		usleep(1000);
	} while (r->runs);
	return n;
}

static bool is_there(const struct scratch *t, const char *epoch)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/epochs/%s/alpha", t->db, epoch);
	return access(path, F_OK) == 0;
}

/* Segments become one per hour when they are a day old, also where nothing is ever removed. */
TEST(old_segments_are_merged_hourly)
{
	const uint64_t begin = (clock_wall_ns() / HOUR - 23) * HOUR;
	struct store_opts so = {.host = "alpha", .now_wall_ns = begin};
	struct gc_opts o = {.keep = 1, .now_wall_ns = begin + DAY + HOUR - 1};
	struct retention r = {.db = NULL};
	struct scratch t = scratch_new();
	struct store *s = NULL;
	struct err err = {0};

	if (store_create(t.db, &so, &s, &err) < 0)
		t_fail_("%s", err.msg);
	for (unsigned i = 0; i < 24; i++) {
		struct profile p;

		t_profile(&p, 10);
		p.meta.start_wall_ns = begin + i * HOUR / 12;
		p.meta.end_wall_ns = p.meta.start_wall_ns + HOUR / 12;
		EXPECT_EQ(store_flush(s, &p, NULL, 0, &err), 0);
		profile_release(&p);
	}
	EXPECT_EQ(store_close(s, &err), 0);
	EXPECT_EQ(t_named_segments(&t), 24);
	EXPECT_EQ(settle(&r, &t, &o, SECOND), 0);
	EXPECT_EQ(t_named_segments(&t), 24);
	o.now_wall_ns++;
	EXPECT_EQ(settle(&r, &t, &o, 2 * SECOND), 0); /* not due */
	EXPECT_EQ(t_named_segments(&t), 24);
	EXPECT_EQ(settle(&r, &t, &o, 3700 * SECOND), 0);
	EXPECT_EQ(t_named_segments(&t), 13);
	o.now_wall_ns += HOUR;
	EXPECT_EQ(settle(&r, &t, &o, 7400 * SECOND), 0);
	EXPECT_EQ(t_named_segments(&t), 2);
	retention_release(&r);
	scratch_release(&t);
}

TEST(at_once_and_then_daily)
{
	const struct gc_opts o = {
		.max_age_ns = 5 * DAY, .keep = 1, .now_wall_ns = BEGIN + 10 * DAY};
	struct retention r = {.db = NULL};
	struct scratch t = scratch_new();
	struct gc_totals all;
	uint64_t now = 1000 * SECOND;
	struct err err;

	for (unsigned day = 0; day < 10; day++)
		put(&t, day);
	EXPECT_EQ(settle(&r, &t, &o, now), 1);
	EXPECT(strstr(said, "removed 5 old recordings of ") == said);
	EXPECT(strstr(said, "; 5 of "));
	EXPECT_EQ(r.n_removed, 5);
	EXPECT(r.n_bytes_removed > 0);
	EXPECT(!is_there(&t, "20231119000000"));
	EXPECT(is_there(&t, "20231120000000"));
	EXPECT_EQ(store_gc(t.db, &(struct gc_opts){.dry_run = true}, NULL, NULL, &all, &err), 0);
	EXPECT_EQ(r.n_bytes, all.n_bytes_left);
	/* What comes is not removed before the next day, but it is seen within the hour. */
	put(&t, 10);
	EXPECT_EQ(settle(&r, &t, &(struct gc_opts){.max_bytes = 1, .keep = 1}, now + 1), 0);
	EXPECT_EQ(r.n_bytes, all.n_bytes_left);
	EXPECT_EQ(settle(&r, &t, &(struct gc_opts){.max_bytes = 1, .keep = 1}, now + DAY / 24), 0);
	EXPECT(r.n_bytes > all.n_bytes_left);
	EXPECT_EQ(r.n_removed, 5);
	EXPECT_EQ(settle(&r, &t, &(struct gc_opts){.max_bytes = 1, .keep = 4}, now + DAY), 1);
	EXPECT_EQ(r.n_removed, 7);
	/* Before it none goes, unless something else is to be kept. */
	retention_hurry(&r);
	EXPECT_EQ(settle(&r, &t, &(struct gc_opts){.max_bytes = 1, .keep = 2}, now + DAY + 1), 1);
	EXPECT_EQ(r.n_removed, 9);
	/* Epochs of any age and size go. */
	retention_hurry(&r);
	EXPECT_EQ(settle(&r, &t, &(struct gc_opts){.keep = 1}, now + DAY + 2), 0);
	EXPECT_EQ(r.n_removed, 9);
	retention_release(&r);
	scratch_release(&t);
}

TEST(a_recording_that_is_written_stays)
{
	const struct gc_opts o = {.max_age_ns = DAY, .keep = 1, .now_wall_ns = BEGIN + 1000 * DAY};
	struct store_opts so = {.host = "alpha", .now_wall_ns = BEGIN};
	struct retention r = {.db = NULL};
	struct scratch t = scratch_new();
	struct store *s;
	struct err err;

	REQUIRE(store_create(t.db, &so, &s, &err) == 0);
	put(&t, 1);
	put(&t, 2);
	EXPECT_EQ(settle(&r, &t, &o, 1), 1);
	EXPECT_EQ(r.n_removed, 1);
	EXPECT(is_there(&t, "20231115000000"));
	EXPECT(is_there(&t, "20231117000000"));
	EXPECT_EQ(store_close(s, &err), 0);
	retention_hurry(&r);
	EXPECT_EQ(settle(&r, &t, &o, 2), 1);
	EXPECT(!is_there(&t, "20231115000000"));
	retention_release(&r);
	scratch_release(&t);
}

/* While somebody else has the database's lock. */
TEST(it_makes_way_and_comes_back)
{
	const struct gc_opts o = {.max_age_ns = DAY, .keep = 1, .now_wall_ns = BEGIN + 1000 * DAY};
	struct retention r = {.db = NULL};
	struct scratch t = scratch_new();
	uint64_t now = 1000 * SECOND;
	struct err err;
	int db_fd, lock_fd;

	for (unsigned day = 0; day < 3; day++)
		put(&t, day);
	db_fd = db_open(t.db, true, &err);
	lock_fd = db_lock(db_fd, &err);
	REQUIRE(lock_fd >= 0);
	EXPECT(!retention_step(&r, t.db, &o, now, said, sizeof(said)));
	usleep(50000);
	EXPECT(!retention_step(&r, t.db, &o, now, said, sizeof(said)));
	EXPECT(r.runs);
	retention_pause(&r, now);
	close(lock_fd);
	EXPECT_EQ(settle(&r, &t, &o, now), 0);
	EXPECT_EQ(r.n_removed, 0);
	EXPECT(is_there(&t, "20231115000000"));
	EXPECT_EQ(settle(&r, &t, &o, now + 59 * SECOND), 0);
	EXPECT_EQ(r.n_removed, 0);
	EXPECT_EQ(settle(&r, &t, &o, now + 60 * SECOND), 1);
	EXPECT_EQ(r.n_removed, 2);
	close(db_fd);
	retention_release(&r);
	scratch_release(&t);
}

TEST(what_cannot_be_removed_is_said)
{
	const struct gc_opts o = {.max_age_ns = DAY, .keep = 1, .now_wall_ns = BEGIN + 1000 * DAY};
	struct retention r = {.db = NULL};
	struct scratch t = scratch_new();
	char path[160];

	for (unsigned day = 0; day < 3; day++)
		put(&t, day);
	/* A recording's files alone are deleted. */
	snprintf(path, sizeof(path), "%s/epochs/20231115000000/alpha/foreign", t.db);
	EXPECT_EQ(mkdir(path, 0700), 0);
	EXPECT_EQ(settle(&r, &t, &o, 1), 1);
	EXPECT(strstr(said, "cannot remove old recordings: epoch 20231115000000/alpha: ") == said);
	EXPECT_EQ(r.n_removed, 1);
	retention_release(&r);
	/* A look that fails says nothing. */
	snprintf(path, sizeof(path), "rm -r %s", t.db);
	EXPECT_EQ(system(path), 0);
	EXPECT_EQ(settle(&r, &t, &o, 1), 1);
	EXPECT(strstr(said, "cannot remove old recordings: ") == said);
	EXPECT_EQ(settle(&r, &t, &o, 1 + DAY / 24), 0);
	retention_release(&r);
	scratch_release(&t);
}
