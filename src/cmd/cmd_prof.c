/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell prof [IMAGE...]`: samples by image, or by procedure for the images named, or by whose they
 * are; `dwell prof --callers PROCEDURE`: who called it. */
#include <errno.h>
#include <string.h>

#include "cmd/hpc_cmd.h"
#include "cmd/query_cmd.h"
#include "query/samples/paths.h"
#include "view/hpc_prof.h"
#include "view/prof.h"

struct prof_args {
	struct prof_opts opts;
	opt_list names;
	bool by_image, inclusive, no_inclusive;
	const char *by, *callers, *callees;
	char *sort; /* the event of --sort EVENT,WHAT */
	struct hpc_args hpc;
	const char *contexts;
	bool is_hpc, by_threads;
	enum scope_kind level; /* of an HPCToolkit database's rows */
};

static int check(struct cmd *c, struct prof_args *a)
{
	const bool neighbours = a->callers || a->callees;

	if (a->opts.keep_pct < 0 || a->opts.keep_pct > 100)
		return err_set(&c->err, -EINVAL, "--keep: must be 0 to 100");
	if (a->opts.by_inclusive && a->opts.keep_pct < 100)
		return err_set(
			&c->err, -EINVAL,
			"--keep needs rows that add up; sorted by inclusive ones they do not");
	if (a->callers && a->callees)
		return err_set(&c->err, -EINVAL, "--callers and --callees exclude each other");
	if (a->inclusive && a->no_inclusive)
		return err_set(&c->err, -EINVAL,
			       "--no-inclusive excludes --inclusive and sorting by it");
	if (neighbours && (a->by || a->by_image || a->inclusive || a->no_inclusive))
		return err_set(&c->err, -EINVAL,
			       "--%s lists procedures; --by, -i and --inclusive do not go with it",
			       a->callers ? "callers" : "callees");
	if (a->inclusive && !rows_code_key(&a->opts.by))
		return err_set(&c->err, -EINVAL,
			       "--inclusive needs rows of images or procedures (--by %s,procedure)",
			       a->by);
	return 0;
}

/* The rows of an HPCToolkit database. */
static int parse_hpc_by(struct cmd *c, struct prof_args *a, const char *by)
{
	struct tree_opts o = {.scopes.level = SCOPE_IMAGE};

	a->by_threads = strcmp(by, "thread") == 0;
	if (a->by_threads)
		return 0;
	if (tree_parse_by(by, &o, NULL) < 0 || o.n_owners || o.scopes.level == SCOPE_LOOP)
		return err_set(&c->err, -EINVAL,
			       "--by %s: rows of an HPCToolkit database are thread, image, file, "
			       "procedure, line or address",
			       by);
	a->level = o.scopes.level;
	return 0;
}

static int check_hpc(struct cmd *c, struct prof_args *a)
{
	const char *by = a->by			      ? a->by
			 : a->contexts		      ? "thread"
			 : a->names.n && !a->by_image ? "procedure"
						      : "image";
	int rc = parse_hpc_by(c, a, by);

	if (rc)
		return rc;
	if (a->callers && a->callees)
		return err_set(&c->err, -EINVAL, "--callers and --callees exclude each other");
	if ((a->callers || a->callees) && (a->by || a->by_image || a->inclusive ||
					   a->no_inclusive || a->contexts || a->opts.by_inclusive))
		return err_set(&c->err, -EINVAL,
			       "--%s lists procedures; --by, -i, --inclusive and --context do not "
			       "go with it",
			       a->callers ? "callers" : "callees");
	if (a->callers || a->callees)
		a->level = SCOPE_PROCEDURE;
	if (a->contexts && !a->by_threads)
		return err_set(&c->err, -EINVAL, "--context goes with --by thread");
	if (a->by_threads && a->names.n)
		return err_set(&c->err, -EINVAL, "rows of threads are of no image");
	if (a->opts.keep_pct < 0 || a->opts.keep_pct > 100)
		return err_set(&c->err, -EINVAL, "--keep: must be 0 to 100");
	return 0;
}

static int parse(struct cmd *c, struct prof_args *a)
{
	const struct opt table[] = {
		{"i", OPT_FLAG, &a->by_image, NULL, "by image, even when images are named"},
		{"by", OPT_STR, &a->by, "KEY[,KEY...]",
		 "image, procedure, comm, pid, tid, cgroup, label, uid, exe"},
		{"inclusive", OPT_FLAG, &a->inclusive, NULL,
		 "also count what rows called (default with call paths)"},
		{"no-inclusive", OPT_FLAG, &a->no_inclusive, NULL, "do not"},
		{"callers", OPT_STR, &a->callers, "PROC", "who called this procedure"},
		{"callees", OPT_STR, &a->callees, "PROC", "what this procedure called"},
		{"keep", OPT_DOUBLE, &a->opts.keep_pct, "P",
		 "only the top rows that hold P percent"},
		{"sort s", OPT_STR, &c->select.sort, "EVENT[,WHAT]",
		 "sort by this event (default: time), exclusive or inclusive"},
		{"kind", OPT_FLAG, &a->opts.show_kind, NULL,
		 "show the kind of each image: file, kernel, jit, ..."},
		HPC_DERIVE_OPTION(&a->hpc),
		HPC_OPTIONS(&a->hpc),
		{"context", OPT_STR, &a->contexts, "ID[+ID...]",
		 "HPCToolkit databases: these calling contexts in each thread"},
		{"no-header", OPT_FLAG, &a->opts.no_header, NULL, "the table alone"},
		{0},
	};
	int rc;

	a->opts.keep_pct = 100;
	rc = cmd_parse(c, "[OPTIONS] [DB] [IMAGE...]", table, false, &a->names);
	if (rc)
		return rc;
	cmd_parse_sort(c, &a->sort, &a->opts.by_inclusive);
	a->is_hpc = cmd_is_hpc(c, &a->names);
	if (a->is_hpc)
		return check_hpc(c, a);
	rc = cmd_not_hpc(c, &a->hpc);
	if (!rc && a->contexts)
		rc = err_set(&c->err, -EINVAL, "--context is for HPCToolkit databases");
	if (rc)
		return rc;
	a->opts.derived = &a->hpc.derived;
	rc = rows_parse_by(a->by			? a->by
			   : a->names.n && !a->by_image ? "procedure"
							: "image",
			   &a->opts.by, &c->err);
	if (rc)
		return rc;
	a->inclusive |= a->opts.by_inclusive;
	return check(c, a);
}

static int show_neighbours(struct cmd *c, struct query *q, const struct prof_args *a)
{
	const enum neighbour_kind kind = a->callers ? NEIGHBOUR_CALLERS : NEIGHBOUR_CALLEES;
	struct neighbours n;
	int rc = neighbours_find(q, kind, a->callers ? a->callers : a->callees, a->opts.images, &n,
				 &c->err);

	if (!rc)
		prof_emit_neighbours(&c->emit, q, kind, &n, &a->opts);
	neighbours_release(&n);
	return rc;
}

static int show_rows(struct cmd *c, struct query *q, struct prof_args *a)
{
	const struct row_by *by = &a->opts.by;
	size_t n = 0;
	int rc = 0;

	for (unsigned i = 0; i < by->n && !rc; i++)
		if (by->keys[i] < N_OWNER_KEYS)
			rc = owner_key_check(q->profile, by->keys[i], &c->err);
	if (rc)
		return rc;
	a->opts.inclusive = !a->no_inclusive && rows_code_key(by) && query_has_paths(q);
	if (a->inclusive && !a->opts.inclusive)
		return err_set(&c->err, -ENOENT,
			       "no sample here has a caller; `dwell record -g` records call paths");
	rc = prof_emit(&c->emit, q, &a->opts, &n, &c->err);
	return rc ? rc : n ? 0 : CMD_NOTHING;
}

static int show(struct cmd *c, struct query *q, void *ctx)
{
	struct prof_args *a = ctx;
	image_ids images = {0};
	int rc = cmd_find_images(c, q, &a->names, &images);

	if (a->names.n)
		a->opts.images = &images;
	if (!rc)
		rc = a->callers || a->callees ? show_neighbours(c, q, a) : show_rows(c, q, a);
	vec_release(&images);
	return rc;
}

static int show_hpc_threads(struct cmd *c, struct hpc_query *q, const struct prof_args *a,
			    const struct hpc_prof_opts *o)
{
	struct hpc_threads t = {0};
	ctx_list ids = {0};
	int rc = 0;

	if (a->contexts)
		rc = hpc_parse_contexts(a->contexts, &ids, &c->err);
	else
		vec_push(&ids, HPC_ROOT_CTX);
	if (!rc)
		rc = hpc_threads_find(&t, q, ids.v, ids.n, &c->err);
	if (!rc)
		rc = hpc_threads_emit(&c->emit, q, &t, o, &c->err);
	if (!rc && !t.rows.n)
		rc = CMD_NOTHING;
	hpc_threads_release(&t);
	vec_release(&ids);
	return rc;
}

static int show_hpc_neighbours(struct cmd *c, struct hpc_tree *t, const struct prof_args *a)
{
	const opt_list all = {0};
	struct hpc_neighbours n;
	const struct hpc_prof_opts o = {
		.no_header = a->opts.no_header,
		.no_inclusive = true,
		.keep_pct = a->opts.keep_pct,
		.images = &all,
		.whose = &n,
	};
	size_t n_rows;
	int rc = hpc_neighbours_find(t, a->callers ? NEIGHBOUR_CALLERS : NEIGHBOUR_CALLEES,
				     a->callers ? a->callers : a->callees, &a->names, &n, &c->err);

	if (!rc)
		rc = hpc_prof_emit(&c->emit, t, &n.rows, &o, &n_rows, &c->err);
	hpc_neighbours_release(&n);
	return rc;
}

static int show_hpc(struct cmd *c, struct hpc_query *q, void *ctx)
{
	struct prof_args *a = ctx;
	const struct hpc_tree_opts to = {.form = TREE_FLAT, .scopes.level = a->level};
	const struct tree_rows_opts ro = {.form = TREE_FLAT, .by_inclusive = a->opts.by_inclusive};
	const struct hpc_prof_opts o = {
		.no_header = a->opts.no_header,
		.no_inclusive = a->no_inclusive,
		.by_inclusive = a->opts.by_inclusive || a->by_threads,
		.keep_pct = a->opts.keep_pct,
		.images = &a->names,
		.contexts = a->contexts,
	};
	struct tree_rows rows = {0};
	struct hpc_tree t;
	size_t n = 0;
	int rc;

	if (a->by_threads)
		return show_hpc_threads(c, q, a, &o);
	rc = hpc_tree_open(&t, q, &to, &c->err);
	if (rc)
		return rc;
	if (a->callers || a->callees) {
		rc = show_hpc_neighbours(c, &t, a);
		hpc_tree_close(&t);
		return rc;
	}
	rc = tree_rows_init(&rows, &t.source, &ro, &c->err);
	if (!rc)
		rc = hpc_prof_emit(&c->emit, &t, &rows, &o, &n, &c->err);
	if (!rc && !n)
		rc = CMD_NOTHING;
	tree_rows_release(&rows);
	hpc_tree_close(&t);
	return rc;
}

int cmd_prof(struct cmd *c)
{
	struct prof_args a = {0};
	int rc = parse(c, &a);

	if (!rc && a.is_hpc)
		rc = cmd_with_hpc(c, &a.hpc, show_hpc, &a);
	else if (!rc)
		rc = cmd_with_query(c, show, &a);
	hpc_args_release(&a.hpc);
	vec_release(&a.names);
	free(a.sort);
	return rc;
}
