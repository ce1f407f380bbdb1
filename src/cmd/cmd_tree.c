/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell tree`: calling contexts, from the root down, from procedures to their callers, or flat. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/hpc_cmd.h"
#include "cmd/query_cmd.h"
#include "view/hpc.h"
#include "view/tree.h"

struct tree_args {
	bool callers, flat, is_hpc;
	const char *by;
	char *sort; /* the event of --sort EVENT,WHAT */
	uint64_t depth;
	struct hpc_args hpc;
	struct tree_opts tree;
	struct tree_rows_opts rows;
	struct tree_emit_opts emit;
};

static int parse(struct cmd *c, struct tree_args *a)
{
	struct scopes_opts *s = &a->tree.scopes;
	const struct opt table[] = {
		{"callers", OPT_FLAG, &a->callers, NULL, "from procedures up to their callers"},
		{"flat", OPT_FLAG, &a->flat, NULL, "each procedure once"},
		{"by", OPT_STR, &a->by, "KEY[,KEY...]",
		 "comm, pid, tid, cgroup, label, uid, exe; then procedure, image, line or address"},
		{"focus", OPT_STR, &s->focus, "REGEX",
		 "only paths through procedures or images so called"},
		{"ignore", OPT_STR, &s->ignore, "REGEX",
		 "no paths through procedures or images so called"},
		{"percent-limit", OPT_DOUBLE, &a->rows.least_pct, "P",
		 "hide rows with less than P percent (default 0.5)"},
		{"depth", OPT_U64, &a->depth, "N", "at most N levels"},
		{"fold-recursion", OPT_FLAG, &a->tree.fold_recursion, NULL,
		 "a procedure that calls itself is one row"},
		{"no-inline", OPT_FLAG, &s->no_inline, NULL,
		 "inlined calls belong to the procedure they are in"},
		{"sort s", OPT_STR, &c->select.sort, "EVENT[,WHAT]",
		 "sort and hide by this event (default: time), inclusive or exclusive"},
		HPC_DERIVE_OPTION(&a->hpc),
		HPC_OPTIONS(&a->hpc),
		{"no-header", OPT_FLAG, &a->emit.no_header, NULL, "the table alone"},
		{0},
	};
	opt_list operands = {0};
	int rc;

	a->rows.least_pct = 0.5;
	rc = cmd_parse(c, "[OPTIONS] [DB]", table, false, &operands);
	if (!rc)
		a->is_hpc = cmd_is_hpc(c, &operands);
	if (!rc && !a->is_hpc)
		rc = cmd_not_hpc(c, &a->hpc);
	if (!rc && operands.n)
		rc = err_set(&c->err, -EINVAL,
			     "takes no operands; --focus '%s' shows the paths through it",
			     operands.v[0]);
	vec_release(&operands);
	if (rc)
		return rc;
	if (a->callers && a->flat)
		return err_set(&c->err, -EINVAL, "--callers and --flat exclude each other");
	if (a->rows.least_pct < 0 || a->rows.least_pct > 100)
		return err_set(&c->err, -EINVAL, "--percent-limit: must be 0 to 100");
	a->rows.max_depth = a->depth < UINT32_MAX ? (uint32_t)a->depth : 0;
	a->rows.form = a->callers ? TREE_CALLERS : a->flat ? TREE_FLAT : TREE_DOWN;
	a->emit.form = a->rows.form;
	/* Inclusive counts of callers overlap, and all are large near the root: those who ask for
	 * callers mean the callers of what was sampled. */
	a->rows.by_inclusive = !a->callers;
	a->rows.no_small_sums = c->emit.format == EMIT_TABLE;
	cmd_parse_sort(c, &a->sort, &a->rows.by_inclusive);
	return tree_parse_by(a->by ? a->by : "procedure", &a->tree, &c->err);
}

static int show(struct cmd *c, struct query *q, void *ctx)
{
	struct tree_args *a = ctx;
	struct tree_source source;
	struct tree_rows rows = {0};
	struct tree t;
	int rc = 0;

	if (a->tree.scopes.level == SCOPE_FILE || a->tree.scopes.level == SCOPE_LOOP)
		return err_set(&c->err, -EINVAL, "--by %s is for HPCToolkit databases",
			       scope_kind_name(a->tree.scopes.level));
	for (unsigned i = 0; i < a->tree.n_owners && !rc; i++)
		rc = owner_key_check(q->profile, a->tree.owners[i], &c->err);
	if (rc)
		return rc;
	rc = tree_init(&t, q, &a->tree, &c->err);
	if (!rc) {
		tree_source_init(&source, &t);
		for (size_t i = 0; i < a->hpc.derived.n && !rc; i++)
			rc = cols_derive(&source.columns, a->hpc.derived.v[i], NULL, NULL, &c->err);
		if (!rc)
			rc = tree_rows_init(&rows, &source, &a->rows, &c->err);
		if (!rc)
			tree_emit(&c->emit, &source, &rows, &a->emit);
		if (!rc && !rows.rows.n)
			rc = CMD_NOTHING;
		tree_rows_release(&rows);
		tree_source_release(&source);
	}
	tree_release(&t);
	return rc;
}

static int show_hpc(struct cmd *c, struct hpc_query *q, void *ctx)
{
	struct tree_args *a = ctx;
	const struct hpc_tree_opts o = {
		.form = a->rows.form,
		.scopes = a->tree.scopes,
		.fold_recursion = a->tree.fold_recursion,
	};
	struct tree_rows rows = {0};
	struct hpc_tree t;
	int rc;

	if (a->tree.n_owners)
		return err_set(&c->err, -EINVAL,
			       "--by: rows of an HPCToolkit database are procedure, image, file, "
			       "loop, line or address");
	rc = hpc_tree_open(&t, q, &o, &c->err);
	if (rc)
		return rc;
	rc = tree_rows_init(&rows, &t.source, &a->rows, &c->err);
	if (!rc) {
		hpc_tree_emit(&c->emit, &t, &rows, &a->emit);
		rc = rows.rows.n ? 0 : CMD_NOTHING;
	}
	tree_rows_release(&rows);
	hpc_tree_close(&t);
	return rc;
}

int cmd_tree(struct cmd *c)
{
	struct tree_args a = {0};
	int rc = parse(c, &a);

	if (!rc && a.is_hpc)
		rc = cmd_with_hpc(c, &a.hpc, show_hpc, &a);
	else if (!rc)
		rc = cmd_with_query(c, show, &a);
	hpc_args_release(&a.hpc);
	free(a.sort);
	return rc;
}
