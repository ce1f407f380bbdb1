/* SPDX-License-Identifier: BSD-2-Clause */
/* See query_cmd.h. */
#include "cmd/query_cmd.h"

#include <string.h>

#include "query/samples/input.h"

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

bool cmd_parse_sort(struct cmd *c, char **ret_event, bool *ret_inclusive)
{
	static const struct {
		const char *name;
		bool inclusive;
	} words[] = {
		{"inclusive", true}, {"exclusive", false}, {"execution", true},
		{"function", false}, {"point", false},
	};
	const char *sort = c->select.sort, *comma = sort ? strrchr(sort, ',') : NULL,
		   *word = comma ? comma + 1 : sort;

	for (size_t i = 0; sort && i < n_elems(words); i++) {
		if (strcmp(word, words[i].name) != 0)
			continue;
		*ret_inclusive = words[i].inclusive;
		*ret_event = comma ? xstrndup(sort, (size_t)(comma - sort)) : NULL;
		c->select.sort = *ret_event;
		return true;
	}
	return false;
}
