/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell hot [IMAGE...]`: the hottest instructions; `dwell top` of what is stored. */
#include "cmd/cmd_hot.h"

#include <errno.h>

#include "view/top.h"

static int hot_show(struct cmd *c, struct source *s, void *ctx)
{
	const struct hot_args *a = ctx;
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

int hot_run(struct cmd *c, struct hot_args *a)
{
	cmd_take_source(c, &a->names);
	if (a->n == 0)
		return err_set(&c->err, -EINVAL, "-n: must be 1 or more");
	cmd_want_one_event(c, &a->source);
	return cmd_with_source(c, &a->source, hot_show, a);
}

void hot_args_release(struct hot_args *a)
{
	source_args_release(&a->source);
	vec_release(&a->names);
}

int cmd_hot(struct cmd *c)
{
	struct hot_args a = {.n = HOT_ROWS};
	const struct opt table[] = {HOT_OPTIONS(c, &a), {0}};
	int rc = cmd_parse(c, "[OPTIONS] [DB] [IMAGE...]", table, false, &a.names);

	if (rc == 0)
		rc = hot_run(c, &a);
	hot_args_release(&a);
	return rc;
}
