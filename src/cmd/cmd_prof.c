/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell prof [IMAGE...]`: samples by image, or by procedure for the images named, or by whose they
 * are; `dwell prof --callers PROCEDURE`: who called it. */
#include <errno.h>
#include <string.h>

#include "cmd/query_cmd.h"
#include "query/paths.h"
#include "view/prof.h"

struct prof_args {
	struct prof_opts opts;
	opt_list names;
	bool by_image, inclusive, no_inclusive;
	const char *by, *callers, *callees;
	char *sort; /* the event of --sort EVENT,WHAT */
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
		{"no-header", OPT_FLAG, &a->opts.no_header, NULL, "the table alone"},
		{0},
	};
	int rc;

	a->opts.keep_pct = 100;
	rc = cmd_parse(c, "[OPTIONS] [IMAGE...]", table, false, &a->names);
	if (rc)
		return rc;
	rc = rows_parse_by(a->by			? a->by
			   : a->names.n && !a->by_image ? "procedure"
							: "image",
			   &a->opts.by, &c->err);
	if (rc)
		return rc;
	cmd_parse_sort(c, &a->sort, &a->opts.by_inclusive);
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
	return prof_emit(&c->emit, q, &a->opts) ? 0 : CMD_NOTHING;
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

int cmd_prof(struct cmd *c)
{
	struct prof_args a = {0};
	int rc = parse(c, &a);

	if (!rc)
		rc = cmd_with_query(c, show, &a);
	vec_release(&a.names);
	free(a.sort);
	return rc;
}
