/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell top [IMAGE...]`: the hottest instructions. */
#include <errno.h>

#include "cmd/source_cmd.h"
#include "view/top.h"

struct top_args {
	uint64_t n;
	bool no_header;
	struct source_args source;
	opt_list names;
};

static int top_show(struct cmd *c, struct source *s, void *ctx)
{
	const struct top_args *a = ctx;
	const struct flat_opts o = {
		.by = {.keys = {ROW_KEY_PROCEDURE}, .n = 1},
		.level = SCOPE_ADDRESS,
		.keep_pct = 100,
		.most = a->n,
		.images = &a->names,
	};
	struct flat f;
	int rc = source_flat(s, &o, &f, &c->err);

	if (rc == 0) {
		top_emit(&c->emit, &f, a->no_header);
		rc = f.n_all ? 0 : CMD_NOTHING;
	}
	flat_release(&f);
	return rc;
}

int cmd_top(struct cmd *c)
{
	struct top_args a = {.n = 20};
	const struct opt table[] = {
		{"n limit", OPT_U64, &a.n, "N", "how many instructions (default 20)"},
		{"sort s", OPT_STR, &c->select.sort, "EVENT", "sort by this event (default: time)"},
		SOURCE_OPTIONS(&a.source),
		{"no-header", OPT_FLAG, &a.no_header, NULL, "the table alone"},
		{0},
	};
	int rc = cmd_parse(c, "[OPTIONS] [DB] [IMAGE...]", table, false, &a.names);

	if (rc == 0)
		cmd_take_source(c, &a.names);
	if (rc == 0 && a.n == 0)
		rc = err_set(&c->err, -EINVAL, "-n: must be 1 or more");
	if (rc == 0) {
		cmd_want_one_event(c, &a.source);
		rc = cmd_with_source(c, &a.source, top_show, &a);
	}
	source_args_release(&a.source);
	vec_release(&a.names);
	return rc;
}
