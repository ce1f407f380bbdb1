/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell events`: every event `record -e` takes on this machine, and which of them work here. */
#include <ctype.h>
#include <fnmatch.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "cmd/cmd.h"
#include "events/check.h"
#include "events/list.h"
#include "events/parse.h"
#include "events/trace.h"

static const struct emit_col columns[] = {
	{.key = "name", .type = EMIT_STR},
	{.key = "kind", .type = EMIT_STR},
	{.key = "works", .type = EMIT_STR},
	{.key = "description", .type = EMIT_STR, .in = EMIT_IN_TABLE, .cut = TEXT_END},
	{.key = "description", .type = EMIT_STR, .in = EMIT_IN_JSON | EMIT_IN_CSV},
};

struct listing {
	struct cmd *cmd;
	const opt_list *wanted;
	struct arena texts; /* what rows borrow */
	size_t n_rows;
};

static char *lower(const char *s)
{
	char *copy = xstrdup(s);

	for (char *p = copy; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return copy;
}

/* Whether WANTED is INFO's kind, or matches its name as a pattern, or is part of it. */
static bool matches(const char *wanted, const struct event_info *info)
{
	_mem_ char *want = lower(wanted), *name = lower(info->name);

	if (strpbrk(want, "*?["))
		return fnmatch(want, name, 0) == 0;
	return strcmp(want, event_kind_name(info->kind)) == 0 || strstr(name, want);
}

static bool is_wanted(const opt_list *wanted, const struct event_info *info)
{
	for (size_t i = 0; i < wanted->n; i++)
		if (matches(wanted->v[i], info))
			return true;
	return wanted->n == 0;
}

/* "yes", "no" ... */
static const char *works(const struct event_info *info)
{
	static const char *const answers[] = {
		[EVENT_SUPPORTED] = "yes",	   [EVENT_COUNTS_ONLY] = "counts only",
		[EVENT_LESS_PRECISE] = "yes",	   [EVENT_UNSUPPORTED] = "no",
		[EVENT_NOT_PERMITTED] = "unknown",
	};
	struct event_env unchecked = event_env_host;
	struct event_spec spec;
	enum event_support support;

	if (info->is_part)
		return "part";
	unchecked.probe = NULL;
	if (event_parse(&unchecked, info->name, &spec, NULL) < 0)
		return "no";
	support = event_support_of(&event_env_host, &spec, NULL);
	event_spec_release(&spec);
	return answers[support];
}

/* The first sentence of a description that is long: makers write whole paragraphs. */
static char *gist(struct arena *a, const char *description)
{
	enum { LONG = 80 };
	const char *end = strlen(description) > LONG ? strpbrk(description, ".;") : NULL;

	return arena_strndup(a, description,
			     end ? (size_t)(end - description) : strlen(description));
}

static void add_row(const struct event_info *info, void *arg)
{
	struct listing *l = arg;
	if (!is_wanted(l->wanted, info))
		return;
	l->n_rows++;
	emit_row(&l->cmd->emit, (struct emit_cell[]){
					{.s = arena_strdup(&l->texts, info->name)},
					{.s = event_kind_name(info->kind)},
					{.s = works(info)},
					{.s = gist(&l->texts, info->description)},
					{.s = arena_strdup(&l->texts, info->description)},
				});
}

int cmd_events(struct cmd *c)
{
	const struct opt none[] = {{0}};
	opt_list wanted = {0};
	struct listing l = {.cmd = c, .wanted = &wanted};
	_mem_ char *root = NULL;
	struct err why = {""};
	int rc = cmd_parse(c, "[OPTIONS] [PATTERN...]", none, false, &wanted);

	if (rc == 0) {
		root = event_trace_root(&event_env_host, &why);
		emit_begin(&c->emit);
		emit_rows_by(&c->emit, "event");
		emit_table(&c->emit, "rows", columns, n_elems(columns));
		event_list(&event_env_host, ~0u, add_row, &l);
		emit_table_end(&c->emit);
		emit_end(&c->emit);
		if (!root)
			cmd_notice(c, "%s", why.msg);
		if (!l.n_rows) {
			cmd_notice(c, "no event matches");
			rc = CMD_NOTHING;
		}
	}
	arena_release(&l.texts);
	vec_release(&wanted);
	return rc;
}
