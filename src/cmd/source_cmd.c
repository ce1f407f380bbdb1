/* SPDX-License-Identifier: BSD-2-Clause */
/* See source_cmd.h. */
#include "cmd/source_cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void source_args_release(struct source_args *a)
{
	vec_release(&a->stats);
	vec_release(&a->threads);
	vec_release(&a->derived);
}

void cmd_take_source(struct cmd *c, opt_list *operands)
{
	if (c->select.db || !operands->n || !source_probe(operands->v[0]))
		return;
	c->select.db = operands->v[0];
	operands->n--;
	memmove(operands->v, operands->v + 1, operands->n * sizeof(*operands->v));
}

void cmd_take_only_source(struct cmd *c, opt_list *operands)
{
	if (!c->select.db && operands->n == 1 && access(operands->v[0], F_OK) == 0)
		c->select.db = operands->v[--operands->n];
}

int cmd_with_source(struct cmd *c, const struct source_args *a,
		    int (*show)(struct cmd *c, struct source *s, void *ctx), void *ctx)
{
	struct source_opts o = {.select = &c->select};
	struct source *s;
	int rc;

	if (a) {
		o.stats = a->stats;
		o.threads = a->threads;
		o.derived = a->derived;
		o.taxonomy = a->taxonomy;
		o.all_metrics = a->all_metrics;
	}
	rc = source_open(&s, &o, &c->err);
	if (rc)
		return rc;
	rc = show(c, s, ctx);
	if (rc == CMD_NOTHING)
		cmd_notice(c, "no %s in %s", s->query ? "samples" : "values", s->path);
	source_close(s);
	return rc;
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
