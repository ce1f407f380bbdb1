/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell tree`: calling contexts, from the root down, from procedures to their callers, or flat. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/source_cmd.h"
#include "view/tree.h"

struct tree_args {
	bool callers, flat;
	const char *by;
	char *sort; /* the event of --sort EVENT,WHAT */
	uint64_t depth;
	struct source_args source;
	struct tree_opts tree;
	struct tree_rows_opts rows;
	struct tree_emit_opts emit;
	struct str rows_by;
};

static int tree_parse(struct cmd *c, struct tree_args *a)
{
	const struct opt table[] = {
		TREE_OPTIONS(&a->tree, &a->by, &a->callers),
		{"flat", OPT_FLAG, &a->flat, NULL, "each procedure once"},
		{"percent-limit", OPT_DOUBLE, &a->rows.least_pct, "P",
		 "hide rows with less than P percent (default 0.5)"},
		{"depth", OPT_U64, &a->depth, "N", "at most N levels"},
		{"sort s", OPT_STR, &c->select.sort, "EVENT[,WHAT]",
		 "sort and hide by this event (default: time), inclusive or exclusive"},
		SOURCE_OPTIONS(&a->source),
		{"no-header", OPT_FLAG, &a->emit.no_header, NULL, "the table alone"},
		{"n limit", OPT_SAY, NULL,
		 "--percent-limit P hides small rows, --depth N deep ones; `dwell prof -n N` has N",
		 NULL},
		{0},
	};
	opt_list operands = {0};
	int rc;

	a->rows.least_pct = 0.5;
	rc = cmd_parse(c, "[OPTIONS] [DB]", table, false, &operands);
	if (rc == 0)
		cmd_take_source(c, &operands);
	if (rc == 0 && operands.n)
		rc = err_set(&c->err, -EINVAL,
			     "takes no operands; --focus '%s' shows the paths through it",
			     operands.v[0]);
	vec_release(&operands);
	if (rc != 0)
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
	rc = tree_parse_by(a->by ? a->by : "procedure", &a->tree, &c->err);
	if (rc != 0)
		return rc;
	for (unsigned i = 0; i < a->tree.n_owners; i++)
		str_addf(&a->rows_by, "%s,", owner_key_name(a->tree.owners[i]));
	str_add(&a->rows_by, scope_kind_name(a->tree.scopes.level));
	a->emit.rows_by = a->rows_by.v;
	cmd_want_hosts(c, &a->tree);
	return 0;
}

static int tree_show(struct cmd *c, struct source *s, void *ctx)
{
	struct tree_args *a = ctx;
	struct tree_source *t = NULL;
	struct tree_rows rows = {0};
	int rc = source_tree(s, &a->tree, a->rows.form, &t, &c->err);

	if (rc == 0)
		rc = tree_rows_init(&rows, t, &a->rows, &c->err);
	if (rc == 0) {
		tree_emit(&c->emit, t, &rows, &a->emit);
		rc = rows.rows.n ? 0 : cmd_nothing_in_tree(c, s, &a->tree);
	}
	tree_rows_release(&rows);
	tree_source_close(t);
	return rc;
}

int cmd_tree(struct cmd *c)
{
	struct tree_args a = {0};
	int rc = tree_parse(c, &a);

	if (rc == 0) {
		cmd_want_one_event(c, &a.source);
		rc = cmd_with_source(c, &a.source, tree_show, &a);
	}
	source_args_release(&a.source);
	str_release(&a.rows_by);
	free(a.sort);
	return rc;
}
