/* SPDX-License-Identifier: BSD-2-Clause */
/* See query_cmd.h. */
#include "cmd/query_cmd.h"

#include "query/input.h"

int cmd_with_query(struct cmd *c, int (*show)(struct cmd *c, struct query *q, void *ctx), void *ctx)
{
	struct input in;
	struct query q;
	int rc = input_open(&in, &c->select, &c->err);

	if (rc)
		return rc;
	rc = query_init(&q, &in.profile, in.resolver, &c->select, &c->err);
	if (!rc) {
		rc = show(c, &q, ctx);
		query_release(&q);
	}
	if (rc == CMD_NOTHING)
		cmd_notice(c, "no samples in %s", in.path);
	input_close(&in);
	return rc;
}

int cmd_find_images(struct cmd *c, const struct query *q, const opt_list *names, image_ids *ret)
{
	vec_each (name, names) {
		int rc = select_find_images(q->profile, *name, ret, &c->err);

		if (rc)
			return rc;
	}
	return 0;
}
