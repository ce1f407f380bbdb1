/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell prof [IMAGE...]`: samples by image, or by procedure for the images named. */
#include <errno.h>
#include <string.h>

#include "cmd/query_cmd.h"
#include "view/prof.h"

struct prof_args {
	struct prof_opts opts;
	opt_list names;
	bool by_image;
	const char *by;
};

static int parse(struct cmd *c, struct prof_args *a)
{
	const struct opt table[] = {
		{"i", OPT_FLAG, &a->by_image, NULL, "by image, even when images are named"},
		{"by", OPT_STR, &a->by, "WHAT", "image or procedure"},
		{"keep", OPT_DOUBLE, &a->opts.keep_pct, "P",
		 "only the top rows that hold P percent"},
		{"sort s", OPT_STR, &c->select.sort, "EVENT", "sort by this event (default: time)"},
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
	if (a->by && strcmp(a->by, "image") != 0 && strcmp(a->by, "procedure") != 0)
		return err_set(&c->err, -EINVAL, "--by %s: must be image or procedure", a->by);
	if (a->opts.keep_pct < 0 || a->opts.keep_pct > 100)
		return err_set(&c->err, -EINVAL, "--keep: must be 0 to 100");
	a->opts.by_procedure = a->by ? strcmp(a->by, "procedure") == 0 : a->names.n && !a->by_image;
	return 0;
}

static int show(struct cmd *c, struct query *q, void *ctx)
{
	struct prof_args *a = ctx;
	image_ids images = {0};
	int rc = cmd_find_images(c, q, &a->names, &images);

	if (a->names.n)
		a->opts.images = &images;
	if (!rc && !prof_emit(&c->emit, q, &a->opts))
		rc = CMD_NOTHING;
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
	return rc;
}
