/* SPDX-License-Identifier: BSD-2-Clause */
/* A whole HPCToolkit database, one of whose files is damaged: as input of `dwell hpc`, for `dwell
 * check` and for the views.  Whatever the damage, each of them ends with an error that says why or
 * has a result.  What the checker finds nothing in can be an input, and it finds nothing in the
 * result either.
 *
 * An input is a byte that chooses the layout, the file and what becomes of it, and a recipe of
 * changes, 11 bytes each: numbers, as in hpc_fuzz.h; 16 bytes that stand elsewhere, so that
 * sections and arrays overlap and pointers go in circles; a cut, with the footer put behind it
 * again. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/hpc/check/check.h"
#include "base/hash.h"
#include "hpc/build.h"
#include "hpc_fuzz.h"
#include "hpcgen.h"
#include "query/hpc/tree.h"
#include "query/source.h"

enum { N_FILES = 4, FEW_PROBLEMS = 1000 };

static const char *const names[N_FILES] = {"meta.db", "profile.db", "cct.db", "trace.db"};

struct bytes {
	char *v;
	size_t n;
};

static char scratch[64];
static struct bytes sound[2][N_FILES];

/* In place of libc's: nothing here is to outlive a power failure, and where there is no memory file
 * system thousands of databases would take minutes. */
int fsync(int fd)
{
	return 0;
}

/* What a command may say. */
static bool is_said(int rc, const struct err *err)
{
	return rc >= 0 || *err->msg;
}

static const char *path_of(const char *dir, const char *name)
{
	static char path[200];

	snprintf(path, sizeof(path), "%s/%s%s%s", scratch, dir, *name ? "/" : "", name);
	return path;
}

static void write_file(const char *dir, const char *name, const void *bytes, size_t n)
{
	int fd = open(path_of(dir, name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	FUZZ_REQUIRE(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
	close(fd);
}

static void remove_scratch(void)
{
	char command[100];

	snprintf(command, sizeof(command), "rm -rf %s", scratch);
	if (system(command))
		perror(scratch);
}

/* Makes the sound databases and a place for damaged ones, in memory when there is such a place. */
static void begin(void)
{
	static const enum hpc_layout layouts[] = {HPC_RELEASED, HPC_PAGE};

	if (*scratch)
		return;
	/* Test runners have malloc fill what it gives: megabytes for each build, hardly used. */
	mallopt(M_PERTURB, 0);
#if !defined(__SANITIZE_ADDRESS__)
	setrlimit(RLIMIT_AS, &(struct rlimit){1 << 30, 1 << 30});
#endif
	snprintf(scratch, sizeof(scratch), "%s/dwell-fuzz-XXXXXX",
		 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	FUZZ_REQUIRE(mkdtemp(scratch));
	atexit(remove_scratch);
	for (unsigned l = 0; l < 2; l++) {
		FUZZ_REQUIRE(hpcgen_write(path_of(l ? "page" : "released", ""), layouts[l], NULL) ==
			     0);
		for (unsigned f = 0; f < N_FILES; f++)
			FUZZ_REQUIRE(file_load(path_of(l ? "page" : "released", names[f]), 1 << 20,
					       &sound[l][f].v, &sound[l][f].n, NULL) == 0);
	}
	FUZZ_REQUIRE(mkdir(path_of("damaged", ""), 0755) == 0);
}

/* --- the three that read it --- */

static void count(void *user, const struct hpc_problem *p)
{
	FUZZ_REQUIRE(*p->text && *p->file);
	++*(uint64_t *)user;
}

/* What `dwell check` finds in the database DIR. */
static uint64_t check(const char *dir)
{
	uint64_t n = 0;
	struct hpc_check c = {.report = count, .user = &n};
	void (*const checks[])(struct hpc_check *, const void *, size_t, const char *) = {
		hpc_check_meta, hpc_check_profile, hpc_check_cct, hpc_check_trace};
	struct hpc_db db;

	for (unsigned f = 0; f < N_FILES; f++) {
		struct file_map map;

		if (file_map_open(&map, AT_FDCWD, path_of(dir, names[f]), false, NULL) < 0)
			continue; /* no time lines */
		checks[f](&c, map.bytes, map.n_bytes, names[f]);
		file_map_close(&map);
	}
	if (n)
		return n;
	FUZZ_REQUIRE(hpc_db_open(&db, path_of(dir, ""), NULL) == 0);
	hpc_check_database(&c, &(struct hpc_files){&db.meta, &db.profiles, &db.ccts,
						   db.has_traces ? &db.traces : NULL});
	hpc_db_close(&db);
	return n;
}

/* Builds a database out of the damaged one. */
static void build(enum hpc_layout layout, bool is_sound)
{
	struct build_opts o = {.layout = layout, .no_sources = true, .n_threads = 1};
	struct err err = {0};
	struct new_dir dir;
	struct build b;
	char from[200];
	int rc;

	snprintf(from, sizeof(from), "%s", path_of("damaged", ""));
	rc = new_dir_begin(&dir, path_of("out", ""), "meta.db", false, &err);
	FUZZ_REQUIRE(rc == 0);
	o.dir = &dir;
	build_init(&b, &o);
	rc = build_add_database(&b, from, &err);
	if (!rc)
		rc = build_save(&b, &err);
	build_release(&b);
	FUZZ_REQUIRE(is_said(rc, &err));
	/* Ids may be sparse, but an array of them is not to be gigabytes. */
	FUZZ_REQUIRE(!is_sound || rc == 0 || strstr(err.msg, ": a ctxId of ") ||
		     strcmp(err.msg, "no samples") == 0);
	if (is_sound && !rc)
		FUZZ_REQUIRE(check(dir.aside + strlen(scratch) + 1) == 0);
	new_dir_end(&dir);
}

/* `dwell tree`, of all in DIR. */
static void show(enum tree_form form, enum scope_kind level)
{
	static const struct select select;
	const struct hpc_opts o = {.select = &select};
	const struct hpc_tree_opts to = {.form = form, .scopes.level = level};
	const struct tree_rows_opts ro = {.form = form, .by_inclusive = true, .max_depth = 20};
	struct tree_rows rows = {0};
	struct err err = {0};
	struct hpc_query q;
	struct hpc_tree *t;
	struct hpc_db db;
	int rc = hpc_db_open(&db, path_of("damaged", ""), &err);

	if (!rc) {
		rc = hpc_query_init(&q, &db, &o, &err);
		if (!rc && !(rc = hpc_tree_open(&t, &q, &to, &err))) {
			rc = tree_rows_init(&rows, &t->source, &ro, &err);
			tree_rows_release(&rows);
			tree_source_close(&t->source);
		}
		hpc_query_release(&q);
		hpc_db_close(&db);
	}
	FUZZ_REQUIRE(is_said(rc, &err));
}

/* --- damage --- */

static void damage(struct wr *w, const char *footer, const uint8_t *recipe, size_t n)
{
	for (; n >= 11; recipe += 11, n -= 11) {
		size_t at = (size_t)hpc_le16(recipe) % w->n;

		if (recipe[2] < 192 || w->n < 64) {
			hpc_fuzz_follow(w, recipe, 11);
		} else if (recipe[2] < 248) {
			size_t to = at % (w->n - 16) & ~7ul, from = hpc_le16(recipe + 3);

			memmove(w->v + to, w->v + (from % (w->n - 16) & ~7ul), 16);
		} else {
			w->n = at < 16 ? 16 : at;
			memcpy(w->v + w->n - 8, footer, 8);
		}
	}
}

static void try(enum hpc_layout layout, const struct bytes *files, unsigned f, const struct wr *w)
{
	bool is_sound;

	for (unsigned i = 0; i < N_FILES; i++)
		write_file("damaged", names[i], i == f ? (char *)w->v : files[i].v,
			   i == f ? w->n : files[i].n);
	is_sound = check("damaged") == 0;
	build(layout, is_sound);
	show(TREE_DOWN, SCOPE_ADDRESS);
	show(TREE_CALLERS, SCOPE_PROCEDURE);
}

/* All layouts and files, as they are and with some recipe. */
uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	uint8_t *seed = xcalloc(34, 1);

	*ret_n = i < 2 * N_FILES ? 1 : 34;
	seed[0] = (uint8_t)i;
	for (unsigned k = 1; k < *ret_n; k++)
		seed[k] = (uint8_t)hash_u64(34 * i + k);
	if (i < 4 * N_FILES)
		return seed;
	free(seed);
	return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	enum hpc_layout layout = n && data[0] / N_FILES % 2 ? HPC_PAGE : HPC_RELEASED;
	const struct bytes *files, *file;
	struct wr w = {0};
	unsigned f;

	begin();
	if (!n)
		return 0;
	files = sound[layout == HPC_PAGE];
	f = data[0] % N_FILES;
	file = &files[f];
	wr_bytes(&w, file->v, file->n);
	if (n >= 12)
		damage(&w, file->v + file->n - 8, data + 1, n < 100 ? n - 1 : 99);
	try(data[0] & 128 ? HPC_PAGE : HPC_RELEASED, files, f, &w);
	wr_release(&w);
	return 0;
}
