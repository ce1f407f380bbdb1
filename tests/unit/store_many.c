/* SPDX-License-Identifier: BSD-2-Clause */
/* Databases with many epochs: what is looked at is what was asked for.  Opened files are counted,
 * by this program's own openat, so that no test here is about time. */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "store_t.h"

#define SECOND 1000000000ull
#define HOUR   (3600 * SECOND)
#define BEGIN  (1700000000 * SECOND / HOUR * HOUR) /* a full hour in 2023 */

static unsigned n_opened;

/* Stands before the C library's. */
int openat(int dirfd, const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;

	va_start(ap, flags);
	if (flags & O_CREAT)
		mode = va_arg(ap, mode_t);
	va_end(ap);
	n_opened++;
	return (int)syscall(SYS_openat, dirfd, path, flags, mode);
}

/* Removes a file of the database. */
static int t_remove(const struct scratch *t, const char *name)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", t->db, name);
	return unlink(path);
}

static void name_of(uint64_t wall_ns, char ret[15])
{
	time_t t = (time_t)(wall_ns / SECOND);

	strftime(ret, 15, "%Y%m%d%H%M%S", gmtime(&t));
}

/* A finished recording of HOST that began HOURS after BEGIN and has N samples; they end 30 minutes
 * later. */
static void put(const struct scratch *t, const char *host, unsigned hours, uint64_t n)
{
	t_put_recording(t, host, BEGIN + hours * HOUR, HOUR / 2, n);
}

/* Copies epoch FROM of HOST to each hour before TO, down to BEGIN, without writing samples anew. */
static void fill(const struct scratch *t, const char *host, unsigned to)
{
	char from[128], dir[128], a[160], b[160], name[15];

	name_of(BEGIN + to * HOUR, name);
	snprintf(from, sizeof(from), "%s/epochs/%s/%s", t->db, name, host);
	for (unsigned h = 0; h < to; h++) {
		static const char *const files[] = {"MANIFEST", "000001.seg"};

		name_of(BEGIN + h * HOUR, name);
		snprintf(dir, sizeof(dir), "%s/epochs/%s", t->db, name);
		mkdir(dir, 0755);
		snprintf(dir, sizeof(dir), "%s/epochs/%s/%s", t->db, name, host);
		mkdir(dir, 0755);
		for (unsigned i = 0; i < 2; i++) {
			snprintf(a, sizeof(a), "%s/%s", from, files[i]);
			snprintf(b, sizeof(b), "%s/%s", dir, files[i]);
			EXPECT_EQ(link(a, b), 0);
		}
	}
}

/* Samples that SEL selects; how many files that took into *RET_OPENED. */
static int64_t load(const struct scratch *t, const struct store_selection *sel,
		    unsigned *ret_opened)
{
	struct err err = {0};
	struct profile p;
	int64_t n;

	profile_init(&p);
	n_opened = 0;
	n = store_load(t->db, sel, &p, NULL, &err);
	*ret_opened = n_opened;
	if (n >= 0)
		n = (int64_t)profile_n_samples(&p, 0);
	profile_release(&p);
	return n;
}

TEST(reading_opens_what_it_reads_not_what_is_there)
{
	static const unsigned n_hours[] = {40, 400};
	const struct store_selection latest = {0};
	unsigned opened[2][4], opened_first;

	for (unsigned k = 0; k < 2; k++) {
		const unsigned last = n_hours[k];
		struct scratch t = scratch_new();
		struct store_selection since = {.since_wall_ns = BEGIN + (last - 7) * HOUR};
		struct store_selection host = since, range = {0};
		char name[32], from[15], to[15];

		put(&t, "alpha", last, 5);
		fill(&t, "alpha", last);
		host.host = "alpha";
		name_of(BEGIN + (last - 7) * HOUR, from);
		name_of(BEGIN + (last - 3) * HOUR, to);
		snprintf(name, sizeof(name), "%s..%s", from, to);
		range.epochs = name;
		EXPECT_EQ(load(&t, &latest, &opened[k][0]), 5);
		/* And the one before, whose MANIFEST says it goes on: it is a copy of the last. */
		EXPECT_EQ(load(&t, &since, &opened[k][1]), 9 * 5);
		EXPECT_EQ(load(&t, &host, &opened[k][2]), 9 * 5);
		EXPECT_EQ(load(&t, &range, &opened[k][3]), 5 * 5);
		EXPECT_EQ(load(&t, &(struct store_selection){.epochs = "all"}, &opened_first),
			  5 * (last + 1));
		scratch_release(&t);
	}
	for (unsigned i = 0; i < 4; i++)
		EXPECT_EQ(opened[0][i], opened[1][i]);
	EXPECT(opened[0][0] <= 20);
}

TEST(a_recording_begins_without_a_look_at_older_ones)
{
	unsigned opened[2];

	for (unsigned k = 0; k < 2; k++) {
		const unsigned last = k ? 300 : 30;
		struct scratch t = scratch_new();

		put(&t, "alpha", last, 5);
		fill(&t, "alpha", last);
		n_opened = 0;
		put(&t, "alpha", last + 1, 1);
		opened[k] = n_opened;
		scratch_release(&t);
	}
	EXPECT_EQ(opened[0], opened[1]);
}

/* A daemon that takes over a log finds what is stored of it in its host's newest epoch, whatever is
 * before that, and whatever other hosts have recorded since. */
TEST(a_log_is_found_without_a_look_at_all_epochs)
{
	const struct seq_range stored = {.cpu = 2, .last_seq = 41};
	unsigned opened[2];

	for (unsigned k = 0; k < 2; k++) {
		const unsigned last = k ? 300 : 30, n_others = k ? 9 : 1;
		struct store_opts o = {.host = "alpha",
				       .now_wall_ns = BEGIN + (last + 1) * HOUR,
				       .log = 77,
				       .ranges = &stored,
				       .n_ranges = 1};
		struct scratch t = scratch_new();
		seq_ranges got = {0};
		struct err err = {0};
		struct store *s;

		put(&t, "alpha", last, 5);
		fill(&t, "alpha", last);
		REQUIRE(store_create(t.db, &o, &s, &err) == 0);
		store_detach(s); /* killed */
		for (unsigned i = 0; i < n_others; i++)
			put(&t, "beta", last + 2 + i, 1);
		n_opened = 0;
		EXPECT_EQ(store_find_log(t.db, "alpha", 77, &got, &err), 1);
		opened[k] = n_opened;
		EXPECT_EQ(got.n, 1);
		EXPECT_EQ(got.n ? got.v[0].last_seq : 0, 41);
		vec_release(&got);
		EXPECT_EQ(store_find_log(t.db, "beta", 77, &got, &err), 0);
		EXPECT_EQ(store_find_log(t.db, "alpha", 78, &got, &err), 0);
		EXPECT_EQ(got.n, 0);
		/* It is found behind others of the host, too: without a note it is the same. */
		put(&t, "alpha", last + 20, 1);
		put(&t, "alpha", last + 21, 1);
		EXPECT_EQ(store_find_log(t.db, "alpha", 77, &got, &err), 1);
		EXPECT_EQ(got.n ? got.v[0].last_seq : 0, 41);
		got.n = 0;
		EXPECT_EQ(t_remove(&t, "hosts/alpha"), 0);
		EXPECT_EQ(store_find_log(t.db, "alpha", 77, &got, &err), 1);
		EXPECT_EQ(got.n ? got.v[0].last_seq : 0, 41);
		vec_release(&got);
		scratch_release(&t);
	}
	EXPECT_EQ(opened[0], opened[1]);
}

/* A database made before there were notes: the first writer looks at all, and no other does. */
TEST(notes_are_made_where_there_are_none)
{
	struct scratch t = scratch_new();
	struct store_selection latest = {0};
	unsigned opened[2], n;
	struct store *s;
	char cmd[128];

	put(&t, "alpha", 1, 1);
	s = t_create(&t, "beta"); /* killed */
	store_detach(s);
	put(&t, "alpha", 3, 4);
	put(&t, "gamma", 4, 8);
	snprintf(cmd, sizeof(cmd), "rm -r %s/hosts", t.db);
	EXPECT_EQ(system(cmd), 0);
	EXPECT_EQ(load(&t, &latest, &n), 12); /* beta's is the latest, and empty */
	put(&t, "alpha", 5, 16);
	EXPECT_EQ(load(&t, &latest, &n), 16 + 8);
	EXPECT_EQ(store_resume(t.db, "beta", &s, NULL), 0);
	store_detach(s);
	n_opened = 0;
	put(&t, "alpha", 6, 1);
	opened[0] = n_opened;
	put(&t, "alpha", 7, 1);
	opened[1] = n_opened - opened[0];
	EXPECT_EQ(opened[0], opened[1]);
	scratch_release(&t);
}

TEST(since_a_time)
{
	struct store_selection s = {0};
	struct scratch t = scratch_new();
	unsigned n;

	put(&t, "old", 1, 1); /* ends 1:30 */
	put(&t, "alpha", 10, 2);
	put(&t, "beta", 11, 4);
	put(&t, "alpha", 12, 8);
	put(&t, "beta", 13, 16);
	put(&t, "alpha", 14, 32);
	s.since_wall_ns = BEGIN + 12 * HOUR;
	EXPECT_EQ(load(&t, &s, &n), 8 + 16 + 32);
	s.since_wall_ns += HOUR / 4; /* alpha's of 12:00 goes on until 12:30 */
	EXPECT_EQ(load(&t, &s, &n), 8 + 16 + 32);
	s.since_wall_ns += HOUR / 2; /* not until 12:45 */
	EXPECT_EQ(load(&t, &s, &n), 16 + 32);
	s.since_wall_ns = BEGIN + HOUR + HOUR / 4; /* old goes on */
	EXPECT_EQ(load(&t, &s, &n), 63);
	s.since_wall_ns += HOUR / 2;
	EXPECT_EQ(load(&t, &s, &n), 62);
	s.until_wall_ns = BEGIN + 12 * HOUR + 1;
	EXPECT_EQ(load(&t, &s, &n), 2 + 4 + 8);
	s.since_wall_ns = 0;
	EXPECT_EQ(load(&t, &s, &n), 1 + 2 + 4 + 8);
	s.host = "be*";
	EXPECT_EQ(load(&t, &s, &n), 4);
	s.host = NULL;
	s.until_wall_ns = BEGIN;
	EXPECT_EQ(load(&t, &s, &n), -ENOENT);
	/* With epochs named, both hold. */
	s = (struct store_selection){.epochs = "latest", .since_wall_ns = BEGIN + 13 * HOUR};
	EXPECT_EQ(load(&t, &s, &n), 16 + 32);
	scratch_release(&t);
}

/* The newest was removed: the one before it is the newest. */
TEST(latest_when_the_newest_was_removed)
{
	struct store_selection s = {0};
	struct scratch t = scratch_new();
	char cmd[128], name[15];
	unsigned n;

	put(&t, "alpha", 1, 1);
	put(&t, "alpha", 2, 2);
	put(&t, "beta", 3, 4);
	put(&t, "alpha", 4, 8);
	name_of(BEGIN + 4 * HOUR, name);
	snprintf(cmd, sizeof(cmd), "rm -r %s/epochs/%s", t.db, name);
	EXPECT_EQ(system(cmd), 0);
	EXPECT_EQ(load(&t, &s, &n), 2 + 4);
	/* A note nobody understands is as good as none. */
	snprintf(cmd, sizeof(cmd), "echo nonsense >%s/hosts/alpha", t.db);
	EXPECT_EQ(system(cmd), 0);
	EXPECT_EQ(load(&t, &s, &n), 2 + 4);
	put(&t, "alpha", 5, 16);
	EXPECT_EQ(load(&t, &s, &n), 16 + 4);
	scratch_release(&t);
}
