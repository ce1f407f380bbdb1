/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell stalls [IMAGE...]`: the instructions that stall most; `dwell why [IMAGE...]`: what all
 * procedures together wait for. */
#include <errno.h>
#include <string.h>

#include "cmd/calc_args.h"
#include "query/rows/calc_kinds.h"
#include "view/stalls.h"

/* Rows and procedures shown and looked at, unless the user says otherwise: dcpitopstalls' number.
 * */
#define STALL_ROWS  100
#define STALL_PROCS 100

#define TOPDOWN_PROCS 10

struct stalls_cmd {
	struct calc_args args;
	opt_list images;
	uint64_t n, n_procs;
	double length;
	const char *stall; /* the name of a row of the table; NULL: none */
	bool why;	   /* not the rows, but what they come to */
	int kind;
};

static int take_step(void *ctx, const struct calc_step *step)
{
	stalls_add(ctx, step->listing, step->calc);
	return 0;
}

static int stalls_show(struct cmd *c, struct source *s, void *ctx)
{
	struct stalls_cmd *a = ctx;
	struct stalls_view v = {.no_header = a->args.no_header,
				.conf = a->args.opts.conf,
				.length = a->length,
				.kind = a->kind};
	struct stalls stalls = {0};
	struct topdown_rows topdown = {0};
	struct calc_walk walk;
	int rc = source_needs(s, SOURCE_CODE, a->why ? "why" : "stalls", &c->err);

	if (rc >= 0)
		rc = source_needs(s, SOURCE_SAMPLES, a->why ? "why" : "stalls", &c->err);
	if (rc < 0)
		return rc;
	calc_args_fit(&a->args, s);
	rc = calc_walk_run(c, s, &a->args, &a->images, a->n_procs, take_step, &stalls, &walk);
	v.n_refused = walk.n_refused;
	v.refused_pct = walk.samples > 0 ? 100 * walk.refused_samples / walk.samples : 0;
	v.refusal = walk.first_refusal.msg;
	if (rc >= 0 && a->why)
		rc = topdown_rows_gather(s, &a->images, TOPDOWN_PROCS, &topdown, &c->err);
	v.topdown = &topdown;
	if (rc >= 0 && topdown.rows.n && a->kind < 0)
		rc = 0; /* that much is known */
	else if (rc >= 0 && !walk.n_analysed && walk.n_refused)
		rc = err_set(&c->err, -ENODATA, "no procedure can be analysed; the hottest: %s",
			     v.refusal);
	else if (rc >= 0 && !walk.n_analysed)
		rc = CMD_NOTHING;
	if (rc == 0 && a->why) {
		if (a->kind >= 0)
			stalls_keep_kind(&stalls, (unsigned)a->kind);
		why_emit(&c->emit, s, &stalls, &v);
	} else if (rc == 0) {
		stalls_keep(&stalls, a->n, a->length);
		stalls_emit(&c->emit, s, &stalls, &v);
	}
	stalls_release(&stalls);
	topdown_rows_release(&topdown);
	return rc;
}

static int stalls_run(struct cmd *c, struct stalls_cmd *a, const struct opt *table)
{
	int rc = cmd_parse(c, "[OPTIONS] [DB] [IMAGE...]", table, false, &a->images);

	if (rc == 0 && (a->n == 0 || a->n_procs == 0))
		rc = err_set(&c->err, -EINVAL, "-n and --procedures: must be 1 or more");
	a->kind = -1;
	if (rc == 0 && a->stall) {
		rc = calc_kind_find(a->stall, &c->err);
		a->kind = rc;
	}
	if (rc >= 0) {
		cmd_take_source(c, &a->images);
		rc = calc_args_settle(c, &a->args);
	}
	if (rc >= 0)
		rc = cmd_with_source(c, &a->args.source, stalls_show, a);
	calc_args_release(&a->args);
	vec_release(&a->images);
	return rc;
}

int cmd_stalls(struct cmd *c)
{
	struct stalls_cmd a = {.n = STALL_ROWS, .n_procs = STALL_PROCS};
	const struct opt table[] = {
		{"n limit", OPT_U64, &a.n, "N", "how many instructions (default 100)"},
		{"length", OPT_DOUBLE, &a.length, "N",
		 "only stalls of so many cycles an execution"},
		{"procedures", OPT_U64, &a.n_procs, "N",
		 "look at the N hottest procedures (default 100)"},
		CALC_OPTIONS(&a.args),
		{0},
	};

	return stalls_run(c, &a, table);
}

int cmd_why(struct cmd *c)
{
	struct stalls_cmd a = {.n = STALL_ROWS, .n_procs = STALL_PROCS, .why = true};
	const struct opt table[] = {
		{"stall", OPT_STR, &a.stall, "KIND",
		 "list the procedures that have cycles of KIND, a row of the table"},
		{"procedures", OPT_U64, &a.n_procs, "N",
		 "look at the N hottest procedures (default 100)"},
		CALC_OPTIONS(&a.args),
		{0},
	};

	return stalls_run(c, &a, table);
}
