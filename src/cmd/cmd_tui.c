/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell tui [DB]`: tables, trees and code of what is stored, in the terminal. */
#include <errno.h>
#include <string.h>

#include "cmd/source_cmd.h"
#include "tui/tui.h"

struct tui_args {
	bool tree;
	struct source_args source;
	opt_list operands;
};

static int tui_show(struct cmd *c, struct source *s, void *ctx)
{
	const struct tui_args *a = ctx;
	const struct tui_opts o = {
		.source = s, .select = &c->select, .about = s->path, .tree = a->tree};

	return tui_run(&o, &c->err);
}

int cmd_tui(struct cmd *c)
{
	struct tui_args a = {0};
	const struct opt table[] = {
		{"tree", OPT_FLAG, &a.tree, NULL, "begin with the tree, not with the table"},
		{"sort s", OPT_STR, &c->select.sort, "EVENT", "sort by this event (default: time)"},
		SOURCE_OPTIONS(&a.source),
		{0},
	};
	int rc = cmd_parse(c, "[OPTIONS] [DB]", table, false, &a.operands);

	if (rc == 0)
		cmd_take_source(c, &a.operands);
	if (rc == 0 && a.operands.n)
		rc = err_set(&c->err, -EINVAL, "takes no operand '%s'; --help lists the options",
			     a.operands.v[0]);
	if (rc == 0 && !cmd_has_terminal())
		rc = err_set(&c->err, -ENOTTY,
			     "stdin and stdout must be a terminal; `dwell prof`, `dwell tree` and "
			     "`dwell list` print text");
	if (rc == 0) {
		cmd_want_one_event(c, &a.source);
		rc = cmd_with_source(c, &a.source, tui_show, &a);
		rc = rc > 0 ? 128 + rc : rc;
	}
	source_args_release(&a.source);
	vec_release(&a.operands);
	return rc;
}
