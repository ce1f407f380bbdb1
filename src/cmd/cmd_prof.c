/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell prof [IMAGE...]`: by procedure, of all images or of those named, or by image, or by whose
 * it is (dcpiprof: by image where none is named); `dwell prof --callers PROCEDURE`: who called
 * it. */
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
	uint64_t most;
	bool by_image, inclusive, no_inclusive, children;
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
	if (!strchr(by, ',') && tree_parse_by(by, &o, NULL) >= 0 && !o.n_owners &&
	    o.scopes.level != SCOPE_LOOP) {
		f->level = o.scopes.level;
		f->by = (struct row_by){
			.keys = {f->level == SCOPE_IMAGE ? ROW_KEY_IMAGE : ROW_KEY_PROCEDURE},
			.n = 1};
		return 0;
	}
	if (rows_parse_by(by, &f->by, &c->err) < 0)
		return -EINVAL;
	for (unsigned i = 0; i < f->by.n; i++)
		c->select.hosts |= f->by.keys[i] == OWNER_KEY_HOST;
	f->level = rows_code_key(&f->by) == ROW_KEY_PROCEDURE ? SCOPE_PROCEDURE
		   : rows_code_key(&f->by)		      ? SCOPE_IMAGE
							      : SCOPE_ROOT;
	return 0;
}

/* Whether TEXT says what rows are, as --by would. */
static bool is_rows_key(const char *text)
{
	struct tree_opts o = {0};
	struct row_by by;

	return rows_parse_by(text, &by, NULL) >= 0 || tree_parse_by(text, &o, NULL) >= 0;
}

static int prof_check(struct cmd *c, const struct prof_args *a)
{
	const struct flat_opts *f = &a->flat;

	if (f->keep_pct < 0 || f->keep_pct > 100)
		return err_set(&c->err, -EINVAL, "--keep: must be 0 to 100");
	if (a->callers && a->callees)
		return err_set(&c->err, -EINVAL, "--callers and --callees exclude each other");
	if ((a->callers || a->callees) &&
	    (a->by || a->by_image || a->inclusive || a->children || a->no_inclusive || f->contexts))
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
		{c->dcpi ? "i" : "by-image", OPT_FLAG, &a->by_image, NULL,
		 c->dcpi ? "by image, even when images are named" : NULL},
		{"by", OPT_STR, &a->by, "KEY[,KEY...]",
		 "procedure (default), image, line, address, thread, comm, pid, tid, cgroup, "
		 "unit, container, pod, namespace, image-tag, version, tenant, label, uid, exe, "
		 "host",
		 .words = "procedure image line address thread " OWNER_KEY_WORDS},
		{"n limit", OPT_U64, &a->most, "N", "only the first N rows",
		 .no_number_needed = strcmp(c->argv[0], "report") == 0},
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
		{"children", OPT_FLAG, &a->children, NULL, NULL}, /* perf's words */
		{"no-children", OPT_FLAG, &a->no_inclusive, NULL, NULL},
		{"stdio", OPT_FLAG, &c->no_pager, NULL, NULL},
		{"g call-graph G", OPT_SAY, NULL,
		 "`dwell tree` shows call paths, `dwell flame` draws them", NULL},
		{"S symbols", OPT_SAY, NULL,
		 "`dwell list NAME` shows a procedure, --callers NAME who called it, --callees "
		 "NAME what it called",
		 NULL},
		{"percent-limit", OPT_SAY, NULL,
		 "--keep P shows the rows that hold P percent, "
		 "-n N the first N",
		 NULL},
		{0},
	};
	int rc;

	f->keep_pct = 100;
	a->most = UINT32_MAX;
	rc = cmd_parse(c, "[OPTIONS] [DB] [IMAGE...]", table, false, &a->names);
	if (rc != 0)
		return rc;
	if (a->most == 0)
		return err_set(&c->err, -EINVAL, "-n: must be 1 or more");
	f->most = a->most;
	f->by_inclusive = a->children;
	/* perf's --sort says what rows are. */
	if (!a->by && c->select.sort && is_rows_key(c->select.sort)) {
		a->by = c->select.sort;
		c->select.sort = NULL;
	}
	cmd_parse_sort(c, &a->sort, &f->by_inclusive);
	cmd_take_source(c, &a->names);
	f->images = &a->names;
	rc = parse_rows(c, a,
			a->by					  ? a->by
			: f->contexts				  ? "thread"
			: a->by_image || (c->dcpi && !a->names.n) ? "image"
								  : "procedure");
	if (rc != 0)
		return rc;
	a->inclusive |= f->by_inclusive;
	f->inclusive = !a->no_inclusive && f->level != SCOPE_ROOT;
	c->select.no_code = f->level == SCOPE_ROOT && !f->threads && !a->callers && !a->callees;
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

	if (rc >= 0)
		prof_emit(&c->emit, &f, &a->view);
	flat_release(&f);
	return rc;
}

static int prof_show(struct cmd *c, struct source *s, void *ctx)
{
	struct prof_args *a = ctx;
	struct flat f = {0};
	int rc = 0;

	if (s->query && a->flat.threads && !a->flat.contexts) {
		a->flat.threads = false;
		rows_parse_by("comm,tid", &a->flat.by, NULL);
	}

	if (a->callers || a->callees)
		return show_neighbours(c, s, a);
	/* Inclusive numbers of samples do not add up to the whole. */
	if (s->query && a->flat.by_inclusive && a->flat.keep_pct < 100)
		return err_set(
			&c->err, -EINVAL,
			"--keep needs rows that add up; sorted by inclusive ones they do not");
	rc = source_flat(s, &a->flat, &f, &c->err);
	if (rc == 0 && a->inclusive && !f.inclusive && !f.threads)
		rc = err_set(&c->err, -ENOENT,
			     "no sample here has a caller; `dwell record -g` records call paths");
	if (rc == 0) {
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

	if (rc == 0) {
		cmd_want_one_event(c, &a.source);
		rc = cmd_with_source(c, &a.source, prof_show, &a);
	}
	source_args_release(&a.source);
	vec_release(&a.names);
	free(a.sort);
	return rc;
}
