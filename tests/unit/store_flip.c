/* SPDX-License-Identifier: BSD-2-Clause */
/* A flipped bit anywhere in a recording is found; what is whole beside it is kept. */
#include "store/check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "daemon/hold.h"

#include "store_t.h"

static void ignore(void *ctx, const struct store_problem *p)
{
	(void)ctx;
	(void)p;
}

static char found[8][160];
static unsigned n_found;

static int add_file(const char *path, const struct stat *st, int flag, struct FTW *f)
{
	const char *name = path + f->base;

	if (flag == FTW_F && st->st_size && n_found < 8 &&
	    (strcmp(name, "MANIFEST") == 0 || strcmp(name, "journal") == 0 ||
	     str_ends(name, ".seg") || strcmp(name, "alpha") == 0 || str_starts(name, "daemon.")))
		snprintf(found[n_found++], sizeof(found[0]), "%s", path);
	return 0;
}

static void flip(int fd, off_t at, unsigned bit)
{
	uint8_t x = 0;

	EXPECT_EQ(pread(fd, &x, 1, at), 1);
	x ^= (uint8_t)(1u << bit);
	EXPECT_EQ(pwrite(fd, &x, 1, at), 1);
}

/* Two segments, and a journal of two records. */
static struct scratch killed_recording(void)
{
	struct scratch t = scratch_new();
	const struct seq_range range = {.cpu = 1, .last_seq = 7};
	struct store *s = t_create(&t, "alpha");
	struct err err = {0};

	for (unsigned i = 0; i < 4; i++) {
		struct profile p;

		t_profile(&p, 5 + i);
		profile_add_moment(&p, &(struct moment){.minute = 29000000 + i, .count = 5 + i});
		EXPECT_EQ(i < 2 ? store_flush(s, &p, &range, 1, &err)
				: store_journal(s, &p, &range, 1, &err),
			  0);
		profile_release(&p);
	}
	store_detach(s);
	return t;
}

TEST(a_flipped_bit_anywhere_is_found)
{
	struct scratch t = killed_recording();
	int holder = hold_database(t.db, NULL, NULL);
	struct err err = {0};
	unsigned n = 0, n_missed = 0;

	EXPECT_EQ(store_check(t.db, false, ignore, NULL, &err), 0);
	n_found = 0;
	nftw(t.db, add_file, 16, FTW_PHYS);
	EXPECT_EQ(n_found, 6); /* and the note of the host, and who holds the database */
	EXPECT(holder >= 0);
	for (unsigned i = 0; i < n_found; i++) {
		int fd = open(found[i], O_RDWR);
		struct stat st;

		REQUIRE(fd >= 0 && fstat(fd, &st) == 0);
		for (off_t at = 0; at < st.st_size; at++, n++) {
			flip(fd, at, (unsigned)at % 8);
			if (store_check(t.db, false, ignore, NULL, &err) < 1) {
				fprintf(stderr, "# %s+%#lx\n", found[i], (long)at);
				n_missed++;
			}
			flip(fd, at, (unsigned)at % 8);
		}
		close(fd);
	}
	EXPECT_EQ(n_missed, 0);
	EXPECT(n > 1000);
	EXPECT_EQ(store_check(t.db, false, ignore, NULL, &err), 0);
	close(holder);
	scratch_release(&t);
}

static void damage(const char *db, const char *name, const char *text)
{
	_mem_ char *path = xasprintf("%s/%s", db, name);
	FILE *f = fopen(path, "w");

	REQUIRE(f);
	fputs(text, f);
	fclose(f);
}

/* What 0.1.0 wrote has no checksum.  A damaged note is made anew, and an interrupted recording goes
 * on; a daemon's file is removed, but for one that is held. */
TEST(small_files_are_made_anew)
{
	struct scratch t = killed_recording();
	struct err err = {0};
	struct store *s = NULL;
	struct utsname u;
	_mem_ char *name = NULL;
	int holder;

	uname(&u);
	name = xasprintf("daemon.%s", u.nodename);
	damage(t.db, name, "dwelld, process 4711\n");
	damage(t.db, "hosts/alpha", "dwell host 1\n");
	EXPECT_EQ(store_check(t.db, false, ignore, NULL, &err), 0);
	damage(t.db, name, "dwelld, process 471q\n");
	EXPECT_EQ(store_check(t.db, true, ignore, NULL, &err), 1);
	EXPECT_EQ(store_check(t.db, false, ignore, NULL, &err), 0);
	holder = hold_database(t.db, NULL, &err);
	EXPECT(holder >= 0);
	damage(t.db, name, "dwelld");
	EXPECT_EQ(store_check(t.db, true, ignore, NULL, &err), 1);
	EXPECT_EQ(hold_check(t.db, &err), 0);
	close(holder);
	damage(t.db, "hosts/alpha", "dwell host 2\nnewest 20261121132400\nsum 0\n");
	EXPECT_EQ(store_resume(t.db, "alpha", &s, &err), 0);
	store_detach(s);
	EXPECT_EQ(store_check(t.db, true, ignore, NULL, &err), 1); /* the file that was held */
	EXPECT_EQ(t_total(&t, "all"), 26);
	scratch_release(&t);
}

/* Samples in all; what reached a recorder is in them or in losses. */
static int64_t samples_of(const struct scratch *t)
{
	struct err err = {0};
	struct profile p;
	int64_t n = 0;

	profile_init(&p);
	if (store_load(t->db, &(struct store_selection){.epochs = "all"}, &p, NULL, &err) < 0)
		t_fail_("store_load: %s", err.msg);
	for (event_id e = 0; e < p.events.n; e++) {
		n += (int64_t)profile_n_samples(&p, e);
		EXPECT_EQ(profile_n_samples(&p, e) + profile_n_lost(&p, e),
			  p.events.v[e].n_reached);
	}
	profile_release(&p);
	return n;
}

/* Damage at one place costs at most what its block or record holds. */
TEST(repair_keeps_what_is_whole)
{
	struct err err = {0};

	for (unsigned i = 0; i < 4; i++) {
		for (unsigned part = 1; part < 8; part++) {
			struct scratch t = killed_recording();
			struct stat st;
			int64_t left;
			int fd;

			n_found = 0;
			nftw(t.db, add_file, 16, FTW_PHYS);
			fd = open(found[i], O_RDWR);
			REQUIRE(fd >= 0 && fstat(fd, &st) == 0);
			flip(fd, st.st_size * part / 8, part);
			close(fd);
			EXPECT(store_check(t.db, true, ignore, NULL, &err) >= 1);
			EXPECT_EQ(store_check(t.db, false, ignore, NULL, &err), 0);
			left = samples_of(&t);
			/* All but one file's, or one record's; without a
			 * MANIFEST nothing is lost. */
			EXPECT(left >= (str_ends(found[i], "MANIFEST") ? 26 : 26 - 8));
			EXPECT(left <= 26);
			scratch_release(&t);
		}
	}
}

/* A segment that no MANIFEST names is told of, and does not count twice. */
TEST(a_segment_nobody_names_is_told_of)
{
	struct scratch t = killed_recording();
	struct err err = {0};
	char cmd[400];

	snprintf(cmd, sizeof(cmd), "cd %s/epochs/*/alpha && cp 000002.seg 000003.seg", t.db);
	EXPECT_EQ(system(cmd), 0);
	EXPECT_EQ(store_check(t.db, false, ignore, NULL, &err), 1);
	EXPECT_EQ(store_check(t.db, true, ignore, NULL, &err), 1);
	EXPECT_EQ(store_check(t.db, false, ignore, NULL, &err), 0);
	EXPECT_EQ(t_total(&t, "all"), 26);
	EXPECT_EQ(t_files(&t, "/lost/000003.seg"), 1);
	scratch_release(&t);
}

/* Without a MANIFEST a segment that is in place of others counts, and they do not. */
TEST(what_a_merge_left_counts_once)
{
	struct scratch t = killed_recording();
	struct err err = {0};
	struct store *s = NULL;
	char cmd[500];

	snprintf(cmd, sizeof(cmd), "cd %s/epochs/*/alpha && mkdir %s/keep && cp *.seg %s/keep",
		 t.db, t.dir, t.dir);
	EXPECT_EQ(system(cmd), 0);
	EXPECT_EQ(store_resume(t.db, "alpha", &s, &err), 0);
	EXPECT_EQ(store_compact(s, &err), 0);
	store_detach(s);
	snprintf(cmd, sizeof(cmd), "cd %s/epochs/*/alpha && cp %s/keep/*.seg . && rm MANIFEST",
		 t.db, t.dir);
	EXPECT_EQ(system(cmd), 0);
	EXPECT(store_check(t.db, true, ignore, NULL, &err) > 0);
	EXPECT_EQ(t_total(&t, "all"), 26);
	EXPECT_EQ(t_files(&t, "/lost/000001.seg"), 1);
	EXPECT_EQ(t_files(&t, "/lost/000002.seg"), 1);
	scratch_release(&t);
}
