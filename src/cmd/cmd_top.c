/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell top [IMAGE...]`: the hottest instructions. */
#include <errno.h>

#include "cmd/cmd.h"
#include "cmd/query_cmd.h"
#include "view/top.h"

struct top_args {
	uint64_t n;
	bool no_header;
	opt_list names;
};

static int show(struct cmd *c, struct query *q, void *ctx)
{
	const struct top_args *a = ctx;
	image_ids images = {0};
	int rc = cmd_find_images(c, q, &a->names, &images);

	if (!rc && !top_emit(&c->emit, q, a->names.n ? &images : NULL, a->n, a->no_header))
		rc = CMD_NOTHING;
	vec_release(&images);
	return rc;
}

int cmd_top(struct cmd *c)
{
	struct top_args a = {.n = 20};
	const struct opt table[] = {
		{"n", OPT_U64, &a.n, "N", "how many instructions (default 20)"},
		{"sort s", OPT_STR, &c->select.sort, "EVENT", "sort by this event (default: time)"},
		{"no-header", OPT_FLAG, &a.no_header, NULL, "the table alone"},
		{0},
	};
	int rc = cmd_parse(c, "[OPTIONS] [IMAGE...]", table, false, &a.names);

	if (!rc && a.n == 0)
		rc = err_set(&c->err, -EINVAL, "-n: must be 1 or more");
	if (!rc)
		rc = cmd_with_query(c, show, &a);
	vec_release(&a.names);
	return rc;
}
