/* SPDX-License-Identifier: BSD-2-Clause */
/* Retention: what goes, what stays, and that nobody's recording is taken away. */
#include "store/gc.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "store/snapshot.h"
#include "store_t.h"

#define SECOND 1000000000ull
#define DAY    (86400 * SECOND)
#define BEGIN  (1700006400 * SECOND) /* 2023-11-15 00:00 */

/* A finished recording of HOST that began DAYS after BEGIN, with N samples
 * until half a day later. */
static void put(const struct scratch *t, const char *host, unsigned days, uint64_t n)
{
	t_put_recording(t, host, BEGIN + days * DAY, DAY / 2, n);
}

struct told {
	unsigned n[5];
	uint64_t n_bytes;
};

static void tell(void *ctx, const struct gc_item *i)
{
	struct told *t = ctx;

	t->n[i->why]++;
	t->n_bytes += i->n_bytes;
}

static struct gc_totals gc(const struct scratch *t, const struct gc_opts *o, struct told *told)
{
	struct gc_totals totals;
	struct err err = {0};

	*told = (struct told){{0}};
	EXPECT_EQ(store_gc(t->db, o, tell, told, &totals, &err), 0);
	EXPECT_STR(err.msg, "");
	return totals;
}

TEST(by_age)
{
	struct gc_opts o = {.max_age_ns = 10 * DAY, .keep = 1, .now_wall_ns = BEGIN + 20 * DAY};
	struct scratch t = scratch_new();
	struct gc_totals got;
	struct told told;

	for (unsigned day = 0; day < 20; day++)
		put(&t, "alpha", day, 1ull << day);
	/* Day 9's samples end 10 days and a half ago, day 10's nine and a half. */
	o.dry_run = true;
	got = gc(&t, &o, &told);
	EXPECT_EQ(got.n_removed, 10);
	EXPECT_EQ(told.n[GC_AGE], 10);
	EXPECT_EQ(t_total(&t, "all"), (1 << 20) - 1);
	o.dry_run = false;
	got = gc(&t, &o, &told);
	EXPECT_EQ(got.n_removed, 10);
	EXPECT_EQ(got.n_left, 10);
	EXPECT_EQ(told.n_bytes, got.n_bytes_removed);
	EXPECT_EQ(t_total(&t, "all"), (1 << 20) - (1 << 10));
	got = gc(&t, &o, &told);
	EXPECT_EQ(got.n_removed, 0);
	/* Years later the newest is still there. */
	o.now_wall_ns += 3650 * DAY;
	o.keep = 3;
	EXPECT_EQ(gc(&t, &o, &told).n_left, 3);
	o.keep = 0;
	EXPECT_EQ(gc(&t, &o, &told).n_left, 1);
	EXPECT_EQ(t_total(&t, "latest"), 1 << 19);
	scratch_release(&t);
}

TEST(by_size_and_host)
{
	struct gc_opts o = {.keep = 1, .now_wall_ns = BEGIN + 20 * DAY};
	struct scratch t = scratch_new();
	struct gc_totals got;
	struct told told;
	uint64_t n_bytes;

	for (unsigned day = 0; day < 10; day++)
		put(&t, day % 2 ? "odd" : "even", day, 6);
	o.dry_run = true;
	got = gc(&t, &o, &told);
	EXPECT_EQ(got.n_removed, 0);
	EXPECT_EQ(got.n_left, 10);
	n_bytes = got.n_bytes_left;
	o.dry_run = false;
	o.max_bytes = n_bytes;
	EXPECT_EQ(gc(&t, &o, &told).n_removed, 0);
	o.max_bytes = n_bytes - 1;
	EXPECT_EQ(gc(&t, &o, &told).n_removed, 1);
	EXPECT_EQ(told.n[GC_SIZE], 1);
	EXPECT_EQ(t_total(&t, "all"), 9 * 6);
	EXPECT_EQ(t_total(&t, "20231116..20231124"), 9 * 6); /* the oldest went */
	o.max_bytes = n_bytes / 2;
	got = gc(&t, &o, &told);
	EXPECT(got.n_bytes_left <= o.max_bytes);
	EXPECT_EQ(got.n_left, 5);
	o.max_bytes = 1;
	o.host = "odd";
	EXPECT_EQ(gc(&t, &o, &told).n_left, 1 + 2);
	o.host = NULL;
	EXPECT_EQ(gc(&t, &o, &told).n_left, 2); /* one of each host */
	EXPECT_EQ(t_total(&t, "latest"), 12);
	scratch_release(&t);
}

TEST(never_what_is_open)
{
	struct gc_opts o = {.max_age_ns = DAY, .keep = 1, .now_wall_ns = BEGIN + 90 * DAY};
	struct scratch t = scratch_new();
	struct gc_totals got;
	struct snapshot snap;
	struct err err = {0};
	struct store *live;
	struct profile p;
	struct told told;
	char path[128];
	int dir;

	put(&t, "alpha", 0, 1);
	put(&t, "alpha", 1, 2);
	put(&t, "alpha", 2, 4);
	REQUIRE(store_create(t.db,
			     &(struct store_opts){.host = "live", .now_wall_ns = BEGIN + 3 * DAY},
			     &live, &err) == 0);
	put(&t, "alpha", 4, 8);
	put(&t, "live", 5, 16); /* so that the one above is not its newest */
	snprintf(path, sizeof(path), "%s/epochs/20231116000000/alpha", t.db);
	dir = open(path, O_RDONLY | O_DIRECTORY);
	REQUIRE(dir >= 0 && snapshot_open(&snap, dir, &err) == 0);
	got = gc(&t, &o, &told);
	EXPECT_EQ(got.n_removed, 2);
	EXPECT_EQ(got.n_in_use, 2);
	EXPECT_EQ(told.n[GC_IN_USE], 2);
	/* The reader goes on with what it has. */
	profile_init(&p);
	EXPECT_EQ(snapshot_load(&snap, false, &p, NULL, &err), 0);
	EXPECT_EQ(profile_n_samples(&p, 0), 2);
	profile_release(&p);
	snapshot_close(&snap);
	close(dir);
	store_detach(live);
	EXPECT_EQ(gc(&t, &o, &told).n_removed, 2);
	EXPECT_EQ(t_total(&t, "all"), 8 + 16);
	scratch_release(&t);
}

/* A reader that chose a recording before it was removed reads the others. */
static const struct scratch *removing;

static void remove_meanwhile(void *ctx, const char *epoch, const char *host)
{
	struct gc_opts o = {.max_age_ns = DAY, .keep = 1, .now_wall_ns = BEGIN + 90 * DAY};
	struct told told;

	if (removing)
		gc(removing, &o, &told);
	removing = NULL;
}

TEST(removed_while_a_reader_is_on_its_way)
{
	struct store_selection sel = {.epochs = "all", .note = remove_meanwhile};
	struct scratch t = scratch_new();
	struct err err = {0};
	struct profile p;

	put(&t, "alpha", 0, 1);
	put(&t, "alpha", 1, 2);
	put(&t, "alpha", 2, 4);
	removing = &t;
	profile_init(&p);
	EXPECT(store_load(t.db, &sel, &p, NULL, &err) > 0);
	EXPECT_STR(err.msg, "");
	/* The first is open already when the note is made, the second was removed. */
	EXPECT(profile_n_samples(&p, 0) == 4 || profile_n_samples(&p, 0) == 5);
	profile_release(&p);
	scratch_release(&t);
}

TEST(what_a_killed_run_left_goes_with_the_next)
{
	struct gc_opts o = {.max_age_ns = DAY, .keep = 1, .now_wall_ns = BEGIN + 90 * DAY};
	struct scratch t = scratch_new();
	char from[128], to[128];
	struct told told;
	struct stat st;

	put(&t, "alpha", 0, 1);
	put(&t, "alpha", 1, 2);
	snprintf(from, sizeof(from), "%s/epochs/20231115000000/alpha", t.db);
	snprintf(to, sizeof(to), "%s/epochs/.removed-20231115000000-alpha", t.db);
	EXPECT_EQ(rename(from, to), 0);
	EXPECT_EQ(t_total(&t, "all"), 2);
	*strrchr(from, '/') = '\0'; /* its epoch, which is empty */
	o.dry_run = true;
	EXPECT_EQ(gc(&t, &o, &told).n_left, 1);
	EXPECT(stat(to, &st) >= 0 && stat(from, &st) >= 0);
	o.dry_run = false;
	EXPECT_EQ(gc(&t, &o, &told).n_left, 1);
	EXPECT(stat(to, &st) < 0 && stat(from, &st) < 0);
	/* It may have been killed before it removed the epoch, too. */
	EXPECT_EQ(mkdir(from, 0700), 0);
	EXPECT_EQ(gc(&t, &o, &told).n_left, 1);
	EXPECT(stat(from, &st) < 0);
	scratch_release(&t);
}
