/* SPDX-License-Identifier: BSD-2-Clause */
/* The directory: epochs and hosts, choosing among them, and what is refused. */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "store_t.h"

#define SECOND 1000000000ull

/* A finished recording of N samples; its epoch's name into EPOCH. */
static void put_recording(const struct scratch *t, const char *host, uint64_t now_ns, uint64_t n,
			  char epoch[15])
{
	struct store_opts o = {.host = host, .now_wall_ns = now_ns, .label = "nightly"};
	struct store *s = NULL;
	struct err err = {0};
	struct profile p;

	t_profile(&p, n);
	EXPECT_EQ(store_create(t->db, &o, &s, &err), 0);
	EXPECT_STR(err.msg, "");
	if (!s)
		return;
	snprintf(epoch, 15, "%s", store_epoch(s));
	EXPECT_EQ(store_flush(s, &p, NULL, 0, &err), 0);
	EXPECT_EQ(store_close(s, &err), 0);
	profile_release(&p);
}

/* Samples in what is selected, or the error. */
static int64_t total(const struct scratch *t, const char *epochs, const char *host, struct err *err)
{
	struct profile p;
	int64_t n;

	profile_init(&p);
	n = store_load(t->db, &(struct store_selection){epochs, host}, &p, NULL, err);
	if (n >= 0)
		n = p.events.n ? (int64_t)profile_n_samples(&p, 0) : 0;
	profile_release(&p);
	return n;
}

TEST(epochs_ascend_whatever_the_clock_does)
{
	struct scratch t = scratch_new();
	char a[15], b[15], c[15], d[15];

	put_recording(&t, "alpha", 1000000000 * SECOND, 1, a);
	put_recording(&t, "alpha", 1000000000 * SECOND, 2, b); /* the same second */
	put_recording(&t, "alpha", 900000000 * SECOND, 4, c);  /* a clock set back */
	put_recording(&t, "alpha", 1000000010 * SECOND, 8, d);
	EXPECT_STR(a, "20010909014640");
	EXPECT_STR(b, "20010909014641");
	EXPECT_STR(c, "20010909014642");
	EXPECT_STR(d, "20010909014650");
	scratch_release(&t);
}

TEST(selecting_epochs_and_hosts)
{
	struct scratch t = scratch_new();
	struct err err = {0};
	char e[15];

	put_recording(&t, "alpha", 1000000000 * SECOND, 1, e); /* 20010909 014640 */
	put_recording(&t, "beta", 1000000001 * SECOND, 2, e);
	put_recording(&t, "alpha", 1100000000 * SECOND, 4, e); /* 20041109 113320 */
	put_recording(&t, "alpha", 1200000000 * SECOND, 8, e); /* 20080110 212000 */
	EXPECT_EQ(total(&t, NULL, NULL, &err), 8 + 2);	       /* each host's latest */
	EXPECT_EQ(total(&t, "latest", "alpha", &err), 8);
	EXPECT_EQ(total(&t, "all", NULL, &err), 15);
	EXPECT_EQ(total(&t, "all", "beta", &err), 2);
	EXPECT_EQ(total(&t, "2001", NULL, &err), 3);
	EXPECT_EQ(total(&t, "20010909014640", NULL, &err), 1);
	EXPECT_EQ(total(&t, "2001..2004", NULL, &err), 7);
	EXPECT_EQ(total(&t, "20041109..", NULL, &err), 12);
	EXPECT_EQ(total(&t, "..2001", "alpha", &err), 1);
	EXPECT_EQ(total(&t, "0411091133", NULL, &err), 4); /* DCPI's names: YYMMDDHHMM */
	EXPECT_EQ(total(&t, "0411091133..0801102119", NULL, &err), 4);
	EXPECT_EQ(total(&t, "0411091134..0801102120", NULL, &err), 8);
	EXPECT_EQ(total(&t, "..0109090146", NULL, &err), 3);
	EXPECT_EQ(total(&t, "20041109,latest", NULL, &err), 14);
	EXPECT_STR(err.msg, "");
	EXPECT_EQ(total(&t, "1999", NULL, &err), -ENOENT);
	EXPECT(strstr(err.msg, "no epoch \"1999\""));
	EXPECT_EQ(total(&t, "", NULL, &err), -ENOENT);
	EXPECT_EQ(total(&t, "latest", "gamma", &err), -ENOENT);
	EXPECT(strstr(err.msg, "host gamma"));
	scratch_release(&t);
}

struct listed {
	int n;
	bool live;
	uint64_t n_samples, n_reached, n_lost;
	char state[16], label[16], host[16];
};

static int note(void *ctx, const struct store_recording *r)
{
	struct listed *l = ctx;

	l->n++;
	l->live = r->live;
	l->n_samples = r->n_events ? r->events[0].n_samples : 0;
	l->n_reached = r->n_events ? r->events[0].n_reached : 0;
	l->n_lost = r->n_losses ? r->losses[0].n : 0;
	snprintf(l->state, sizeof(l->state), "%s", r->state);
	snprintf(l->label, sizeof(l->label), "%s", r->label);
	snprintf(l->host, sizeof(l->host), "%s", r->host);
	return 0;
}

TEST(listing_tells_state_samples_and_losses)
{
	struct store_selection all = {.epochs = "all"};
	struct scratch t = scratch_new();
	struct listed l = {0};
	struct err err = {0};
	struct store *s;
	struct profile p;
	char e[15];

	put_recording(&t, "alpha", 1000000000 * SECOND, 6, e);
	EXPECT_EQ(store_list(t.db, &all, note, &l, &err), 0);
	EXPECT_EQ(l.n, 1);
	EXPECT_EQ(l.n_samples, 6);
	EXPECT_EQ(l.n_reached, 6);
	EXPECT(!l.live);
	EXPECT_STR(l.state, "finished");
	EXPECT_STR(l.label, "nightly");
	EXPECT_STR(l.host, "alpha");
	s = t_create(&t, "alpha");
	t_profile(&p, 5);
	profile_add_loss(&p, "ring_full", 0, 3);
	EXPECT_EQ(store_flush(s, &p, NULL, 0, &err), 0);
	EXPECT_EQ(store_journal(s, &p, NULL, 0, &err), 0);
	EXPECT_EQ(store_list(t.db, &(struct store_selection){0}, note, &l, &err), 0);
	EXPECT_EQ(l.n, 2);
	EXPECT(l.live);
	EXPECT_STR(l.state, "recording");
	EXPECT_EQ(l.n_samples, 10); /* the journal counts */
	EXPECT_EQ(l.n_lost, 6);
	EXPECT_EQ(store_close(s, &err), 0);
	profile_release(&p);
	scratch_release(&t);
}

TEST(a_dead_recording_is_resumed_with_its_sequence)
{
	struct scratch t = scratch_new();
	struct seq_range ranges[] = {{0, 1, 50}, {3, 7, 9}};
	struct err err = {0};
	struct store *s = t_create(&t, "alpha"), *other = NULL;
	struct listed l = {0};
	uint64_t seq = 0;
	struct profile p;
	char epoch[15];

	REQUIRE(s);
	t_profile(&p, 5);
	EXPECT_EQ(store_journal(s, &p, ranges, 2, &err), 0);
	snprintf(epoch, sizeof(epoch), "%s", store_epoch(s));
	EXPECT_EQ(store_resume(t.db, "alpha", &other, &err), -ENOENT); /* it lives */
	EXPECT_EQ(store_recover(t.db, NULL, &err), 0);
	store_detach(s);
	EXPECT_EQ(store_resume(t.db, "alpha", &s, &err), 0);
	EXPECT_STR(store_epoch(s), epoch);
	EXPECT(store_last_seq(s, 0, &seq) && seq == 50);
	EXPECT(store_last_seq(s, 3, &seq) && seq == 9);
	EXPECT(!store_last_seq(s, 1, &seq));
	EXPECT_EQ(t_total(&t, NULL), 5);
	EXPECT_EQ(store_flush(s, &p, NULL, 0, &err), 0);
	EXPECT_EQ(store_close(s, &err), 0);
	EXPECT_EQ(t_total(&t, NULL), 10);
	EXPECT_EQ(store_list(t.db, &(struct store_selection){0}, note, &l, &err), 0);
	EXPECT_STR(l.state, "finished");
	EXPECT_EQ(store_resume(t.db, "alpha", &s, &err), -ENOENT);
	profile_release(&p);
	scratch_release(&t);
}

/* The only file in the database whose path ends in SUFFIX. */
static const char *path_suffix;
static char path_found[256];

static int note_path(const char *path, const struct stat *st, int flag, struct FTW *f)
{
	if (str_ends(path, path_suffix))
		snprintf(path_found, sizeof(path_found), "%s", path);
	return 0;
}

static const char *find_path(const struct scratch *t, const char *suffix)
{
	path_suffix = suffix;
	*path_found = '\0';
	nftw(t->db, note_path, 16, FTW_PHYS);
	return path_found;
}

TEST(a_torn_journal_counts_up_to_its_last_whole_record)
{
	struct scratch t = scratch_new();
	struct err err = {0};
	struct store *s = t_create(&t, "alpha");
	off_t ends[4] = {32};
	struct stat st;
	struct profile p;
	const char *path;

	REQUIRE(s);
	t_profile(&p, 5);
	path = find_path(&t, "/alpha");
	REQUIRE(*path);
	for (int i = 1; i < 4; i++) {
		EXPECT_EQ(store_journal(s, &p, NULL, 0, &err), 0);
		REQUIRE(stat(find_path(&t, "/journal"), &st) == 0);
		ends[i] = st.st_size;
	}
	store_detach(s);
	path = find_path(&t, "/journal");
	for (off_t n = ends[3]; n >= 0; n--) {
		int whole = 0;

		while (whole < 3 && n >= ends[whole + 1])
			whole++;
		REQUIRE(truncate(path, n) == 0);
		EXPECT_EQ(t_total(&t, NULL), 5 * whole);
	}
	EXPECT_EQ(store_recover(t.db, NULL, &err), 1);
	EXPECT_EQ(t_total(&t, NULL), 0);
	profile_release(&p);
	scratch_release(&t);
}

TEST(a_damaged_segment_is_named)
{
	struct scratch t = scratch_new();
	struct err err = {0};
	const char *path;
	char e[15];
	int fd;

	put_recording(&t, "alpha", 1000000000 * SECOND, 6, e);
	path = find_path(&t, ".seg");
	fd = open(path, O_RDWR);
	REQUIRE(fd >= 0);
	EXPECT_EQ(pwrite(fd, "\xff", 1, 60), 1);
	close(fd);
	EXPECT_EQ(total(&t, NULL, NULL, &err), -EBADMSG);
	EXPECT(strstr(err.msg, "000001.seg: block "));
	EXPECT(strstr(err.msg, e));
	REQUIRE(truncate(path, 100) == 0);
	EXPECT_EQ(total(&t, NULL, NULL, &err), -EBADMSG);
	EXPECT(strstr(err.msg, "000001.seg"));
	unlink(path);
	EXPECT_EQ(total(&t, NULL, NULL, &err), -ENOENT);
	EXPECT(strstr(err.msg, "000001.seg"));
	scratch_release(&t);
}

/* store_create on T's database must fail with CODE and a message that has TEXT in it. */
static void expect_refused(const struct scratch *t, int code, const char *text)
{
	struct store *s = NULL;
	struct err err = {0};

	EXPECT_EQ(store_create(t->db, &(struct store_opts){.host = "alpha"}, &s, &err), code);
	EXPECT(strstr(err.msg, text));
	if (code)
		EXPECT(strstr(err.msg, t->db) && !strchr(err.msg, '\n'));
	if (s)
		store_close(s, NULL);
}

TEST(directories_that_are_not_ours_are_refused)
{
	struct scratch t = scratch_new();
	struct err err = {0};
	char path[64];
	int fd;

	EXPECT_EQ(mkdir(t.db, 0755), 0);
	EXPECT(store_is_db(t.db)); /* it can become one */
	EXPECT_EQ(total(&t, NULL, NULL, &err), -ENOENT);
	snprintf(path, sizeof(path), "%s/thesis.tex", t.db);
	fd = open(path, O_CREAT | O_WRONLY, 0644);
	close(fd);
	EXPECT(!store_is_db(t.db));
	expect_refused(&t, -EPERM, "not a dwell database");
	EXPECT_EQ(total(&t, NULL, NULL, &err), -EINVAL);
	EXPECT_EQ(t_files(&t, ""), 1); /* nothing was written there */
	unlink(path);
	expect_refused(&t, 0, "");
	EXPECT(store_is_db(t.db));
	scratch_release(&t);
}

TEST(a_newer_database_is_refused)
{
	struct scratch t = scratch_new();
	struct err err = {0};
	char e[15];
	int fd;

	put_recording(&t, "alpha", 1000000000 * SECOND, 6, e);
	fd = open(find_path(&t, "/VERSION"), O_WRONLY | O_TRUNC);
	EXPECT_EQ(write(fd, "dwell database 3\n", 17), 17);
	close(fd);
	expect_refused(&t, -EPROTONOSUPPORT, "version 3 is newer than this program's (2)");
	EXPECT_EQ(total(&t, NULL, NULL, &err), -EPROTONOSUPPORT);
	EXPECT(store_is_db(t.db));
	scratch_release(&t);
}

TEST(unsafe_roots_are_refused)
{
	struct scratch t = scratch_new();
	char real[64];

	if (geteuid() != 0)
		SKIP("needs root");
	snprintf(real, sizeof(real), "%s/real", t.dir);
	EXPECT_EQ(mkdir(real, 0755), 0);
	EXPECT_EQ(symlink(real, t.db), 0);
	EXPECT_EQ(lchown(t.db, 1000, 1000), 0);
	expect_refused(&t, -EPERM, "a symbolic link of user 1000");
	EXPECT_EQ(lchown(t.db, 0, 0), 0);
	EXPECT_EQ(chown(real, 1000, 1000), 0);
	expect_refused(&t, -EPERM, "belongs to user 1000");
	EXPECT_EQ(chown(real, 0, 0), 0);
	EXPECT_EQ(chmod(real, 0777), 0);
	expect_refused(&t, -EPERM, "everybody may write there");
	EXPECT_EQ(chmod(real, 0755), 0);
	expect_refused(&t, 0, ""); /* a link of our own is fine */
	scratch_release(&t);
}

/* An ordinary user, whom a directory without permissions locks out. */
static int make_with_umask(const char *path, mode_t mask)
{
	struct err err;

	if (geteuid() == 0 && setresuid(65534, 65534, 65534) < 0)
		return 1;
	umask(mask);
	return store_make(path, NULL, &err) < 0;
}

TEST(a_umask_does_not_matter)
{
	static const mode_t masks[] = {0, 0077, 0777};
	struct scratch t = scratch_new();
	char path[300];

	REQUIRE(chmod(t.dir, 0777) == 0);
	for (unsigned i = 0; i < 3; i++) {
		struct stat st;
		int status = -1;
		pid_t pid = fork();

		snprintf(path, sizeof(path), "%s/db%u", t.dir, i);
		if (pid == 0)
			_exit(make_with_umask(path, masks[i]));
		waitpid(pid, &status, 0);
		EXPECT_EQ(status, 0);
		EXPECT_EQ(stat(path, &st), 0);
		EXPECT_EQ(st.st_mode & 0777, 0700);
		snprintf(path, sizeof(path), "%s/db%u/VERSION", t.dir, i);
		EXPECT_EQ(stat(path, &st), 0);
		EXPECT_EQ(st.st_mode & 0777, 0600);
	}
	scratch_release(&t);
}

TEST(links_below_the_root_are_not_followed)
{
	static const char *const links[] = {"/epochs", "/20010909014640", "640/alpha", "/MANIFEST",
					    "/000001.seg"};
	char e[15];

	for (size_t i = 0; i < n_elems(links); i++) {
		struct scratch t = scratch_new();
		struct err err = {0};
		char away[64], path[256];

		put_recording(&t, "alpha", 1000000000 * SECOND, 6, e);
		snprintf(away, sizeof(away), "%s/away", t.dir);
		snprintf(path, sizeof(path), "%s", find_path(&t, links[i]));
		REQUIRE(rename(path, away) == 0 && symlink(away, path) == 0);
		EXPECT(total(&t, NULL, NULL, &err) < 0);
		EXPECT(*err.msg);
		scratch_release(&t);
	}
}

TEST(a_recorder_does_not_write_through_a_link)
{
	struct scratch t = scratch_new();
	char e[15], path[64], away[64];

	put_recording(&t, "alpha", 1000000000 * SECOND, 6, e);
	snprintf(path, sizeof(path), "%s/epochs", t.db);
	snprintf(away, sizeof(away), "%s/away", t.dir);
	REQUIRE(rename(path, away) == 0 && symlink(away, path) == 0);
	expect_refused(&t, -ENOTDIR, "epochs");
	scratch_release(&t);
}

static int disk_full(enum file_op op, size_t n)
{
	return op == FILE_WRITE ? (n > 1 ? (int)(n / 2) : -ENOSPC) : 0;
}

TEST(disk_full_is_one_clear_line_and_harms_nothing)
{
	struct scratch t = scratch_new();
	struct err err = {0};
	struct store *s = t_create(&t, "alpha");
	struct profile p;

	REQUIRE(s);
	t_profile(&p, 5);
	EXPECT_EQ(store_flush(s, &p, NULL, 0, &err), 0);
	file_fault = disk_full;
	EXPECT_EQ(store_flush(s, &p, NULL, 0, &err), -ENOSPC);
	EXPECT(strstr(err.msg, "No space left on device") && strstr(err.msg, store_epoch(s)));
	EXPECT_EQ(store_journal(s, &p, NULL, 0, &err), -ENOSPC);
	EXPECT(strstr(err.msg, "No space left on device"));
	file_fault = NULL;
	EXPECT_EQ(t_total(&t, NULL), 5);
	EXPECT_EQ(store_flush(s, &p, NULL, 0, &err), 0); /* space was made */
	EXPECT_EQ(store_close(s, &err), 0);
	EXPECT_EQ(t_total(&t, NULL), 10);
	profile_release(&p);
	scratch_release(&t);
}

TEST(default_path_and_images)
{
	struct scratch t = scratch_new();
	struct err err = {0};
	struct stat st;
	char *s, e[15];

	setenv("DCPIDB", "/b", 1);
	unsetenv("DWELLDB");
	s = store_default_path();
	EXPECT_STR(s, "/b");
	free(s);
	setenv("DWELLDB", "/a", 1);
	s = store_default_path();
	EXPECT_STR(s, "/a");
	free(s);
	unsetenv("DWELLDB");
	unsetenv("DCPIDB");
	setenv("HOME", "/home/x", 1);
	s = store_default_path();
	EXPECT_STR(s, "/home/x/.local/share/dwell");
	free(s);
	put_recording(&t, "alpha", 1000000000 * SECOND, 6, e);
	EXPECT(!store_images_dir(t.db, false, &err));
	s = store_images_dir(t.db, true, &err);
	REQUIRE(s);
	EXPECT(stat(s, &st) == 0 && S_ISDIR(st.st_mode));
	free(s);
	scratch_release(&t);
}

struct counter {
	struct value_sink sink;
	uint64_t n;
};

static void count(struct value_sink *s, const struct value *v)
{
	((struct counter *)s)->n += v->count;
}

TEST(values_go_to_the_sink)
{
	struct scratch t = scratch_new();
	struct counter c = {{count}, 0};
	struct err err = {0};
	struct profile p;
	char e[15];

	put_recording(&t, "alpha", 1000000000 * SECOND, 6, e);
	put_recording(&t, "alpha", 1000000001 * SECOND, 9, e);
	profile_init(&p);
	EXPECT_EQ(store_load(t.db, &(struct store_selection){.epochs = "all"}, &p, &c.sink, &err),
		  2);
	EXPECT_EQ(c.n, 15);
	EXPECT_EQ(p.values.n, 0);
	EXPECT_EQ(p.places.n, 3);
	profile_release(&p);
	scratch_release(&t);
}

/* --- a log's sequence numbers --- */

static void journal(struct store *s, uint64_t n, uint64_t last)
{
	const struct seq_range range = {.cpu = 3, .last_seq = last};
	struct profile p;
	struct err err;

	t_profile(&p, n);
	EXPECT_EQ(store_journal(s, &p, &range, 1, &err), 0);
	profile_release(&p);
}

/* What the database says of LOG's CPU 3; -1: it does not know the log. */
static int64_t stored_of(const struct scratch *t, uint64_t log)
{
	seq_ranges ranges = {0};
	struct err err;
	int64_t last = -1;

	if (store_find_log(t->db, "alpha", log, &ranges, &err) == 1)
		last = ranges.n ? (int64_t)ranges.v[0].last_seq : 0;
	vec_release(&ranges);
	return last;
}

TEST(sequence_numbers_are_those_of_one_log)
{
	struct scratch t = scratch_new();
	const struct seq_range carried = {.cpu = 3, .last_seq = 30};
	struct store_opts o = {.host = "alpha", .log = 77};
	struct store *s, *next;
	struct err err;
	uint64_t last;

	REQUIRE(store_create(t.db, &o, &s, &err) == 0);
	EXPECT_EQ(stored_of(&t, 77), 0);
	EXPECT_EQ(stored_of(&t, 78), -1);
	journal(s, 5, 20);
	journal(s, 6, 30);
	EXPECT_EQ(store_flush_journal(s, &err), 0);
	EXPECT_EQ(t_named_segments(&t), 1);
	EXPECT_EQ(stored_of(&t, 77), 30);
	EXPECT_EQ(store_flush_journal(s, &err), 0); /* nothing to do */
	EXPECT_EQ(t_named_segments(&t), 1);
	/* The next epoch goes on with the same log. */
	o.ranges = &carried;
	o.n_ranges = 1;
	o.now_wall_ns = 4000000000ull * 1000000000;
	REQUIRE(store_create(t.db, &o, &next, &err) == 0);
	EXPECT_EQ(store_close(s, &err), 0);
	EXPECT_EQ(stored_of(&t, 77), 30);
	journal(next, 7, 40);
	EXPECT_EQ(store_flush_journal(next, &err), 0);
	EXPECT_EQ(stored_of(&t, 77), 40);
	/* Another log: what the journal holds of the one before is kept. */
	journal(next, 8, 50);
	EXPECT_EQ(store_use_log(next, 99, NULL, 0, &err), 0);
	EXPECT_EQ(store_log(next), 99);
	EXPECT(!store_last_seq(next, 3, &last));
	EXPECT_EQ(stored_of(&t, 99), 0);
	EXPECT_EQ(t_total(&t, "all"), 5 + 6 + 7 + 8);
	EXPECT_EQ(store_close(next, &err), 0);
	scratch_release(&t);
}

TEST(journals_become_segments_that_are_merged)
{
	struct scratch t = scratch_new();
	struct store *s = t_create(&t, "alpha"); /* which merges at 4 */
	struct err err;
	uint64_t n = 0;

	for (uint64_t i = 1; i <= 11; i++) {
		journal(s, i, i);
		n += i;
		EXPECT_EQ(store_flush_journal(s, &err), 0);
		EXPECT(t_named_segments(&t) < 4);
		EXPECT_EQ(t_total(&t, "all"), n);
		EXPECT_EQ(t_files(&t, ".seg"), t_named_segments(&t));
	}
	EXPECT_EQ(store_close(s, &err), 0);
	EXPECT_EQ(t_total(&t, "all"), n);
	scratch_release(&t);
}
