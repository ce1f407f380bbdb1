/* SPDX-License-Identifier: BSD-2-Clause */
/* See source_cmd.h. */
#include "cmd/source_cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

void source_args_release(struct source_args *a)
{
	vec_release(&a->stats);
	vec_release(&a->threads);
	vec_release(&a->derived);
}

void cmd_take_source(struct cmd *c, opt_list *operands)
{
	for (size_t i = 0; i < operands->n && !c->select.db; i++) {
		if (!source_probe(operands->v[i]))
			continue;
		c->select.db = operands->v[i];
		operands->n--;
		memmove(operands->v + i, operands->v + i + 1,
			(operands->n - i) * sizeof(*operands->v));
	}
}

void cmd_take_only_source(struct cmd *c, opt_list *operands)
{
	if (!c->select.db && operands->n == 1 && access(operands->v[0], F_OK) == 0)
		c->select.db = operands->v[--operands->n];
}

int cmd_nothing_in_tree(struct cmd *c, const struct source *s, const struct tree_opts *o)
{
	const struct columns *cols = &s->columns;
	const struct scopes_opts *scopes = &o->scopes;

	if (!cols->cols.n || cols->cols.v[cols->hide].total == 0)
		return CMD_NOTHING;
	if (scopes->focus && scopes->ignore)
		cmd_notice(c, "--focus '%s' and --ignore '%s' leave no path", scopes->focus,
			   scopes->ignore);
	else if (scopes->focus)
		cmd_notice(c, "--focus '%s' matches no procedure and no image with samples",
			   scopes->focus);
	else if (scopes->ignore)
		cmd_notice(c, "--ignore '%s' leaves out all samples", scopes->ignore);
	c->told_nothing = scopes->focus || scopes->ignore;
	return CMD_NOTHING;
}

void cmd_want_one_event(struct cmd *c, const struct source_args *a)
{
	c->select.one_event = (c->emit.format == EMIT_TABLE || a->one_event) &&
			      !c->select.events.n && !a->stats.n && !a->derived.n &&
			      !a->all_metrics;
}

void cmd_want_hosts(struct cmd *c, const struct tree_opts *o)
{
	for (unsigned i = 0; i < o->n_owners; i++)
		c->select.hosts |= o->owners[i] == OWNER_KEY_HOST;
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
	if (rc != 0)
		return rc;
	rc = show(c, s, ctx);
	if (rc == CMD_NOTHING && !c->told_nothing)
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
		{"inclusive", true}, {"exclusive", false}, {"execution", true}, {"function", false},
		{"point", false},    {"self", false},	   {"flat", false},	{"overhead", false},
		{"samples", false},  {"children", true},   {"cum", true},
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

int cmd_load_counts(struct cmd *c, const char *path, struct exact_counts *ret)
{
	struct file_map map;
	int rc = file_map_open(&map, AT_FDCWD, path, false, &c->err);

	if (rc < 0)
		return rc;
	rc = exact_counts_init(ret, map.bytes, map.n_bytes, &c->err);
	file_map_close(&map);
	return rc < 0 ? err_prefix(&c->err, rc, "%s", path) : 0;
}
