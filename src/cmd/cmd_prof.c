/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell prof [IMAGE...]`: by image, or by procedure for the images named, or by whose it is;
 * `dwell prof --callers PROCEDURE`: who called it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/source_cmd.h"
#include "view/prof.h"

struct prof_args {
	struct prof_opts view;
	struct flat_opts flat;
	struct source_args source;
	opt_list names;
	bool by_image, inclusive, no_inclusive;
	const char *by, *callers, *callees;
	char *sort; /* the event of --sort EVENT,WHAT */
};

/* "thread", keys of owners, or a level of code. */
static int parse_rows(struct cmd *c, struct prof_args *a, const char *by)
{
	struct flat_opts *f = &a->flat;
	struct tree_opts o = {.scopes.level = SCOPE_IMAGE};

	f->threads = strcmp(by, "thread") == 0;
	if (f->threads)
		return 0;
	if (!strchr(by, ',') && tree_parse_by(by, &o, NULL) == 0 && !o.n_owners &&
	    o.scopes.level != SCOPE_LOOP) {
		f->level = o.scopes.level;
		f->by = (struct row_by){
			.keys = {f->level == SCOPE_IMAGE ? ROW_KEY_IMAGE : ROW_KEY_PROCEDURE},
			.n = 1};
		return 0;
	}
	if (rows_parse_by(by, &f->by, &c->err) < 0)
		return -EINVAL;
	f->level = rows_code_key(&f->by) == ROW_KEY_PROCEDURE ? SCOPE_PROCEDURE
		   : rows_code_key(&f->by)		      ? SCOPE_IMAGE
							      : SCOPE_ROOT;
	return 0;
}

static int prof_check(struct cmd *c, const struct prof_args *a)
{
	const struct flat_opts *f = &a->flat;

	if (f->keep_pct < 0 || f->keep_pct > 100)
		return err_set(&c->err, -EINVAL, "--keep: must be 0 to 100");
	if (a->callers && a->callees)
		return err_set(&c->err, -EINVAL, "--callers and --callees exclude each other");
	if ((a->callers || a->callees) &&
	    (a->by || a->by_image || a->inclusive || a->no_inclusive || f->contexts))
		return err_set(&c->err, -EINVAL,
			       "--%s lists procedures; --by, -i, --inclusive and --context do not "
			       "go with it",
			       a->callers ? "callers" : "callees");
	if (a->inclusive && a->no_inclusive)
		return err_set(&c->err, -EINVAL,
			       "--no-inclusive excludes --inclusive and sorting by it");
	if (f->contexts && !f->threads)
		return err_set(&c->err, -EINVAL, "--context goes with --by thread");
	if (f->threads && a->names.n)
		return err_set(&c->err, -EINVAL, "rows of threads are of no image");
	if (a->inclusive && f->level == SCOPE_ROOT && !f->threads)
		return err_set(&c->err, -EINVAL,
			       "--inclusive needs rows of images or procedures (--by %s,procedure)",
			       a->by);
	return 0;
}

static int prof_parse(struct cmd *c, struct prof_args *a)
{
	struct flat_opts *f = &a->flat;
	const struct opt table[] = {
		{"i", OPT_FLAG, &a->by_image, NULL, "by image, even when images are named"},
		{"by", OPT_STR, &a->by, "KEY[,KEY...]",
		 "image, procedure, line, address, comm, pid, tid, cgroup, label, uid, exe"},
		{"inclusive", OPT_FLAG, &a->inclusive, NULL,
		 "also count what rows called (default with call paths)"},
		{"no-inclusive", OPT_FLAG, &a->no_inclusive, NULL, "do not"},
		{"callers", OPT_STR, &a->callers, "PROC", "who called this procedure"},
		{"callees", OPT_STR, &a->callees, "PROC", "what this procedure called"},
		{"keep", OPT_DOUBLE, &f->keep_pct, "P", "only the top rows that hold P percent"},
		{"sort s", OPT_STR, &c->select.sort, "EVENT[,WHAT]",
		 "sort by this event (default: time), exclusive or inclusive"},
		{"kind", OPT_FLAG, &a->view.show_kind, NULL,
		 "show the kind of each image: file, kernel, jit, ..."},
		SOURCE_OPTIONS(&a->source),
		{"context", OPT_STR, &f->contexts, "ID[+ID...]",
		 "HPCToolkit databases: these calling contexts in each thread"},
		{"no-header", OPT_FLAG, &a->view.no_header, NULL, "the table alone"},
		{0},
	};
	int rc;

	f->keep_pct = 100;
	rc = cmd_parse(c, "[OPTIONS] [DB] [IMAGE...]", table, false, &a->names);
	if (rc)
		return rc;
	cmd_parse_sort(c, &a->sort, &f->by_inclusive);
	cmd_take_source(c, &a->names);
	f->images = &a->names;
	rc = parse_rows(c, a,
			a->by			     ? a->by
			: f->contexts		     ? "thread"
			: a->names.n && !a->by_image ? "procedure"
						     : "image");
	if (rc)
		return rc;
	a->inclusive |= f->by_inclusive;
	f->inclusive = !a->no_inclusive && f->level != SCOPE_ROOT;
	return prof_check(c, a);
}

static int show_neighbours(struct cmd *c, struct source *s, const struct prof_args *a)
{
	const struct neighbour_opts o = {
		.kind = a->callers ? NEIGHBOUR_CALLERS : NEIGHBOUR_CALLEES,
		.procedure = a->callers ? a->callers : a->callees,
		.keep_pct = a->flat.keep_pct,
		.images = &a->names,
	};
	struct flat f;
	int rc = source_neighbours(s, &o, &f, &c->err);

	if (!rc)
		prof_emit(&c->emit, &f, &a->view);
	flat_release(&f);
	return rc;
}

static int prof_show(struct cmd *c, struct source *s, void *ctx)
{
	const struct prof_args *a = ctx;
	struct flat f = {0};
	int rc = 0;

	if (a->callers || a->callees)
		return show_neighbours(c, s, a);
	/* Inclusive numbers of samples do not add up to the whole. */
	if (s->query && a->flat.by_inclusive && a->flat.keep_pct < 100)
		return err_set(
			&c->err, -EINVAL,
			"--keep needs rows that add up; sorted by inclusive ones they do not");
	rc = source_flat(s, &a->flat, &f, &c->err);
	if (!rc && a->inclusive && !f.inclusive && !f.threads)
		rc = err_set(&c->err, -ENOENT,
			     "no sample here has a caller; `dwell record -g` records call paths");
	if (!rc) {
		prof_emit(&c->emit, &f, &a->view);
		rc = f.n_all ? 0 : CMD_NOTHING;
	}
	flat_release(&f);
	return rc;
}

int cmd_prof(struct cmd *c)
{
	struct prof_args a = {.by = NULL};
	int rc = prof_parse(c, &a);

	if (!rc)
		rc = cmd_with_source(c, &a.source, prof_show, &a);
	source_args_release(&a.source);
	vec_release(&a.names);
	free(a.sort);
	return rc;
}
