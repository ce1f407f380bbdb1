/* SPDX-License-Identifier: BSD-2-Clause */
/* HPCToolkit databases that are cut off, damaged or go in circles: every view says what is wrong or
 * shows something, and ends.  And how little of a large one is looked at for the first rows. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hpcgen.h"
#include "query/hpc/lines.h"
#include "query/hpc/listing.h"
#include "query/hpc/neighbours.h"
#include "query/hpc/paths.h"
#include "query/hpc/threads.h"
#include "query/hpc/tree.h"
#include "query/source.h"
#include "scratch_t.h"
#include "t.h"

static const char *const files[] = {"meta.db", "profile.db", "cct.db", "trace.db"};

struct bytes {
	char *v;
	size_t n;
};

/* A database's directory in a scratch one, until scratch_close. */
static const char *open_dir(void)
{
	static char dir[64];

	EXPECT(scratch_open(""));
	snprintf(dir, sizeof(dir), "%s", scratch_path("db"));
	return dir;
}

static bool is_expected(int rc)
{
	return rc == 0 || rc == -EBADMSG || rc == -ENODATA || rc == -EPROTONOSUPPORT ||
	       rc == -ENOENT || rc == -EINVAL;
}

static int show_tree(struct hpc_query *q, const struct hpc_tree_opts *o, struct err *err)
{
	/* As deep as sound databases of the kind are: damaged ones can be as wide as the file. */
	const struct tree_rows_opts ro = {.form = o->form, .by_inclusive = true, .max_depth = 20};
	struct tree_rows rows = {0};
	struct hpc_tree *t;
	int rc = hpc_tree_open(&t, q, o, err);

	if (rc)
		return rc;
	rc = tree_rows_init(&rows, &t->source, &ro, err);
	tree_rows_release(&rows);
	tree_source_close(&t->source);
	return rc;
}

static int show_neighbours(struct hpc_query *q, struct err *err)
{
	const struct hpc_tree_opts o = {.form = TREE_FLAT, .scopes.level = SCOPE_PROCEDURE};
	const opt_list all = {0};
	struct hpc_neighbours n;
	struct hpc_tree *t;
	int rc = hpc_tree_open(&t, q, &o, err);

	if (rc)
		return rc;
	rc = hpc_neighbours_find(t, NEIGHBOUR_CALLEES, "main", &all, &n, err);
	hpc_neighbours_release(&n);
	tree_source_close(&t->source);
	/* Sums only; and damage may have made it another name. */
	return rc == -EINVAL || rc == -ENOENT ? 0 : rc;
}

static int show_lists(struct hpc_query *q, struct err *err)
{
	const struct thread_line_opts lo = {.has_from = true, .from_ns = 200000000};
	const uint32_t ids[] = {0, 9};
	struct sources *sources = sources_new();
	struct hpc_threads threads;
	struct hpc_paths paths;
	struct thread_lines lines;
	struct listing l;
	int rc = hpc_threads_find(&threads, q, ids, 2, err);

	hpc_threads_release(&threads);
	if (!rc) {
		rc = hpc_lines_find(&lines, q, &lo, err);
		thread_lines_release(&lines);
	}
	if (!rc) {
		rc = hpc_paths_init(&paths, q->db, err);
		if (!rc)
			hpc_paths_release(&paths);
	}
	if (!rc) {
		rc = hpc_listing_open(&l, q, &(struct listing_opts){.name = "solve"}, sources, 0,
				      err);
		if (!rc)
			listing_close(&l);
	}
	sources_free(sources);
	return rc;
}

/* Everything there is to see of the database in DIR; the first failure. */
static int show_all(const char *dir, const char *stat, struct err *err)
{
	static const struct select select;
	const struct hpc_tree_opts trees[] = {
		{.form = TREE_DOWN, .scopes.level = SCOPE_ADDRESS},
		{.form = TREE_FLAT, .scopes.level = SCOPE_LINE},
		{.form = TREE_CALLERS, .scopes.level = SCOPE_PROCEDURE},
		{.form = TREE_DOWN, .scopes = {.level = SCOPE_FILE, .focus = "solve"}},
	};
	struct hpc_opts o = {.select = &select};
	struct hpc_query q;
	struct hpc_db db;
	int rc;

	vec_push(&o.stats, stat);
	rc = hpc_db_open(&db, dir, err);
	if (!rc) {
		rc = hpc_query_init(&q, &db, &o, err);
		for (size_t i = 0; i < n_elems(trees) && !rc; i++)
			rc = show_tree(&q, &trees[i], err);
		if (!rc)
			rc = show_lists(&q, err);
		if (!rc)
			rc = show_neighbours(&q, err);
		hpc_query_release(&q);
		hpc_db_close(&db);
	}
	vec_release(&o.stats);
	return rc;
}

static void write_file(const char *dir, const char *name, const void *bytes, size_t n)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	/* A new file: ext4 writes a file that was emptied to the disk at once (auto_da_alloc). */
	EXPECT_EQ(unlink(path), 0);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	REQUIRE(fd >= 0);
	EXPECT_EQ(write(fd, bytes, n), (ssize_t)n);
	close(fd);
}

static struct bytes read_file(const char *dir, const char *name)
{
	struct bytes b = {0};
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	EXPECT_EQ(file_load(path, 1 << 20, &b.v, &b.n, NULL), 0);
	return b;
}

static void expect_said(int rc, const struct err *err)
{
	EXPECT(is_expected(rc));
	if (rc == -EBADMSG || rc == -ENODATA || rc == -EPROTONOSUPPORT)
		EXPECT(strstr(err->msg, ".db+") != NULL);
	else if (rc)
		EXPECT(err->msg[0]);
}

/* A file cut off anywhere is refused by name before anything is read of it: this is the way into a
 * database for all readers, and for `dwell hpc`. */
static void check_cuts(const char *dir, const char *file, const struct bytes *b)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	for (size_t n = b->n; n-- > 0;) {
		struct err err = {""};
		struct hpc_db db;
		int rc;

		REQUIRE(truncate(path, (off_t)n) == 0);
		rc = hpc_db_open(&db, dir, &err);
		if (rc >= 0)
			hpc_db_close(&db);
		EXPECT(rc == -ENODATA || rc == -EBADMSG);
		EXPECT(strstr(err.msg, file) != NULL);
	}
}

static void check_layout(enum hpc_layout layout)
{
	struct t_rng r = {7 + layout};
	const char *dir = open_dir();
	struct err err = {""};

	REQUIRE(hpcgen_write(dir, layout, &err) == 0);
	EXPECT_EQ(show_all(dir, "sum", &err), 0);
	EXPECT_EQ(show_all(dir, "stddev", &err), 0);
	for (size_t f = 0; f < n_elems(files); f++) {
		struct bytes b = read_file(dir, files[f]);

		check_cuts(dir, files[f], &b);
		for (size_t n = 0; n < b.n; n += 1 + n / 60) {
			write_file(dir, files[f], b.v, n);
			err.msg[0] = '\0';
			EXPECT(show_all(dir, "sum", &err) < 0);
			EXPECT(strstr(err.msg, files[f]) != NULL);
		}
		for (unsigned round = 0; round < t_cases(300); round++) {
			char *copy = xmemdup(b.v, b.n);

			for (uint64_t k = 1 + t_below(&r, 3); k > 0; k--)
				copy[t_below(&r, b.n)] =
					(char)(t_below(&r, 4) ? t_below(&r, 256)
							      : 255 * t_below(&r, 2));
			write_file(dir, files[f], copy, b.n);
			err.msg[0] = '\0';
			expect_said(show_all(dir, round % 2 ? "sum" : "max", &err), &err);
			free(copy);
		}
		write_file(dir, files[f], b.v, b.n);
		free(b.v);
	}
	EXPECT_EQ(show_all(dir, "sum", &err), 0);
	scratch_close();
}

TEST(hpc_damaged)
{
	check_layout(HPC_RELEASED);
	check_layout(HPC_PAGE);
}

/* A context whose children are those of an ancestor: rows end, with the place. */
TEST(hpc_circles)
{
	static const struct select select;
	const struct hpc_tree_opts down = {.form = TREE_DOWN, .scopes.level = SCOPE_ADDRESS};
	const struct hpc_tree_opts flat = {.form = TREE_FLAT, .scopes.level = SCOPE_PROCEDURE};
	const struct hpc_opts o = {.select = &select};
	const struct tree_rows_opts ro = {.by_inclusive = true};
	const char *dir = open_dir();
	struct err err = {""};
	struct hpc_ctxs it;
	struct hpc_ctx entry, first, ctx;
	struct tree_rows rows;
	struct hpc_query q;
	struct hpc_tree *t;
	struct hpc_db db;
	struct bytes b;

	REQUIRE(hpcgen_write(dir, HPC_RELEASED, &err) == 0);
	REQUIRE(hpc_db_open(&db, dir, &err) == 0);
	EXPECT_EQ(hpc_ctxs_begin(&it, &db.meta, NULL, &err), 0);
	EXPECT_EQ(hpc_ctxs_next(&it, &entry, &err), 1);
	EXPECT_EQ(hpc_ctxs_begin(&it, &db.meta, &entry, &err), 0);
	EXPECT_EQ(hpc_ctxs_next(&it, &first, &err), 1);
	EXPECT_EQ(hpc_ctxs_begin(&it, &db.meta, &first, &err), 0);
	EXPECT_EQ(hpc_ctxs_next(&it, &ctx, &err), 1);
	hpc_db_close(&db);
	/* docs/formats/hpctoolkit.md {Ctx}: szChildren 00, pChildren 08. */
	b = read_file(dir, "meta.db");
	memcpy(b.v + ctx.at, &first.szChildren, 8);
	memcpy(b.v + ctx.at + 8, &first.pChildren, 8);
	write_file(dir, "meta.db", b.v, b.n);
	free(b.v);

	REQUIRE(hpc_db_open(&db, dir, &err) == 0);
	REQUIRE(hpc_query_init(&q, &db, &o, &err) == 0);
	EXPECT_EQ(hpc_tree_open(&t, &q, &down, &err), 0);
	EXPECT_EQ(tree_rows_init(&rows, &t->source, &ro, &err), -EBADMSG);
	EXPECT(strstr(err.msg, "meta.db+") != NULL);
	tree_rows_release(&rows);
	tree_source_close(&t->source);
	EXPECT_EQ(hpc_tree_open(&t, &q, &flat, &err), -EBADMSG);
	EXPECT(strstr(err.msg, "meta.db+") != NULL);
	hpc_query_release(&q);
	hpc_db_close(&db);
	scratch_close();
}

/* What of scope IT and below, in column 0 of T, has SCOPE (0: none) as its neighbour: by going up
 * from each node. */
static double count_neighbour(struct hpc_tree *t, enum neighbour_kind kind, scope_id it,
			      scope_id scope)
{
	double sum = 0;

	for (node_id n = 1; n < t->end[0]; n++) {
		node_id found = 0, below = 0, last = 0;
		double own[8] = {0};

		for (node_id up = n; up; last = up, up = t->parent[up]) {
			if (t->scope[up] != it)
				continue;
			if (!found)
				below = last; /* what the innermost calls */
			found = up;	      /* the outermost in the end */
		}
		if (!found)
			continue;
		t->source.amounts(&t->source, n, NULL, own);
		if (t->scope[kind == NEIGHBOUR_CALLERS ? t->parent[found] : below] == scope)
			sum += own[0];
	}
	return sum;
}

TEST(hpc_neighbours)
{
	static const struct select select;
	const struct hpc_tree_opts o = {.form = TREE_FLAT, .scopes.level = SCOPE_PROCEDURE};
	const struct hpc_opts qo = {.select = &select};
	const opt_list all = {0};
	const char *dir = open_dir();
	struct err err = {""};
	unsigned n_checked = 0;
	struct hpc_query q;
	struct hpc_tree *t;
	struct hpc_db db;
	scope_id n_scopes;

	REQUIRE(hpcgen_write(dir, HPC_RELEASED, &err) == 0);
	REQUIRE(hpc_db_open(&db, dir, &err) == 0);
	REQUIRE(hpc_query_init(&q, &db, &qo, &err) == 0);
	REQUIRE(hpc_tree_open(&t, &q, &o, &err) == 0);
	n_scopes = (scope_id)t->scopes.scopes.scopes.n;
	for (scope_id it = 1; it < n_scopes; it++)
		for (int kind = 0; kind < 2; kind++) {
			const char *name = t->scopes.scopes.scopes.v[it].name;
			struct hpc_neighbours n;

			EXPECT_EQ(hpc_neighbours_find(t, (enum neighbour_kind)kind, name, &all, &n,
						      &err),
				  0);
			EXPECT_EQ(n.n_procedures, 1);
			for (size_t i = 0; i < n.rows.rows.n; i++) {
				const struct tree_row *r = &n.rows.rows.v[i];
				scope_id scope = r->scope < n_scopes ? r->scope : 0;

				EXPECT(r->exclusive[0] ==
				       count_neighbour(t, (enum neighbour_kind)kind, it, scope));
				n_checked++;
			}
			hpc_neighbours_release(&n);
		}
	EXPECT(n_checked > 12);
	tree_source_close(&t->source);
	hpc_query_release(&q);
	hpc_db_close(&db);
	scratch_close();
}

/* 111111 contexts of which the rows that are shown are 111: only they and their children are
 * looked at. */
TEST(hpc_first_rows)
{
	static const struct select select;
	const struct hpc_tree_opts down = {.form = TREE_DOWN, .scopes.level = SCOPE_PROCEDURE};
	const struct hpc_opts o = {.select = &select};
	const struct tree_rows_opts ro = {
		.by_inclusive = true, .least_pct = 0.5, .no_small_sums = true};
	const char *dir = open_dir();
	struct err err = {""};
	struct tree_rows rows;
	struct hpc_query q;
	struct hpc_tree *t;
	struct hpc_db db;
	uint32_t n;

	REQUIRE(hpcgen_write_tree(dir, 10, 5, &n, &err) == 0);
	EXPECT_EQ(n, 111111);
	REQUIRE(hpc_db_open(&db, dir, &err) == 0);
	REQUIRE(hpc_query_init(&q, &db, &o, &err) == 0);
	EXPECT_EQ(hpc_tree_open(&t, &q, &down, &err), 0);
	EXPECT_EQ(tree_rows_init(&rows, &t->source, &ro, &err), 0);
	EXPECT_EQ(rows.rows.n, 111 + 100); /* with a sum of hidden ones below each of the last */
	EXPECT_EQ(t->n_decoded, 1 + 10 + 100 + 1000);
	tree_rows_release(&rows);
	tree_source_close(&t->source);
	hpc_query_release(&q);
	hpc_db_close(&db);
	scratch_close();
}
