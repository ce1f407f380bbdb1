/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell trace`: time lines of threads, of recordings made with `record --trace`. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "cmd/query_cmd.h"
#include "view/trace.h"

struct trace_args {
	struct trace_opts opts;
	struct thread_opts which;
	uint64_t width, depth;
	const char *range;
};

static int bad_range(struct cmd *c, const char *text)
{
	return err_set(&c->err, -EINVAL,
		       "--range %s: must be FROM..TO, two times since second 0, such as 1.5..2",
		       text);
}

/* FROM..TO, either may be left out. */
static int parse_range(struct cmd *c, struct trace_args *a)
{
	const char *dots = strstr(a->range, "..");
	_mem_ char *from = dots ? xstrndup(a->range, (size_t)(dots - a->range)) : NULL;

	if (!dots)
		return bad_range(c, a->range);
	a->which.has_from = *from != '\0';
	a->which.has_to = dots[2] != '\0';
	if ((a->which.has_from && str_parse_duration_ns(from, &a->which.from_ns) < 0) ||
	    (a->which.has_to && str_parse_duration_ns(dots + 2, &a->which.to_ns) < 0))
		return bad_range(c, a->range);
	return 0;
}

static int parse(struct cmd *c, struct trace_args *a)
{
	const struct opt table[] = {
		{"range", OPT_STR, &a->range, "FROM..TO",
		 "only this time, in seconds, and list its points"},
		{"width", OPT_U64, &a->width, "N", "characters of a bar (default 40; 0: no bars)"},
		{"depth", OPT_U64, &a->depth, "N",
		 "frames shown of a call path (default 4; 0: all)"},
		{"no-header", OPT_FLAG, &a->opts.no_header, NULL, "the tables alone"},
		{0},
	};
	opt_list operands = {0};
	int rc = cmd_parse(c, "[OPTIONS]", table, false, &operands);

	if (!rc && operands.n)
		rc = err_set(&c->err, -EINVAL, "'%s' is not an option", operands.v[0]);
	vec_release(&operands);
	if (!rc && a->range)
		rc = parse_range(c, a);
	if (!rc && a->width > 10000)
		rc = err_set(&c->err, -EINVAL, "--width: must be 0 to 10000");
	if (!rc && a->depth > 10000)
		rc = err_set(&c->err, -EINVAL, "--depth: must be 0 to 10000");
	if (rc)
		return rc;
	/* Lines know their threads even where owners are groups. */
	a->which.pids = c->select.owners[OWNER_KEY_PID];
	a->which.tids = c->select.owners[OWNER_KEY_TID];
	memset(&c->select.owners[OWNER_KEY_PID], 0, sizeof(a->which.pids));
	memset(&c->select.owners[OWNER_KEY_TID], 0, sizeof(a->which.tids));
	c->select.traces = true;
	a->opts.width = (unsigned)a->width;
	a->opts.depth = (unsigned)a->depth;
	a->opts.points = a->range || a->which.tids.n;
	return 0;
}

static int show(struct cmd *c, struct query *q, void *ctx)
{
	struct trace_args *a = ctx;
	struct threads t;
	int rc;

	if (q->profile->traces.n < 2)
		return err_set(&c->err, -ENOENT,
			       "no time lines were recorded; `dwell record --trace` records them");
	rc = threads_find(q, &a->which, &t, &c->err);
	if (!rc && !trace_emit(&c->emit, q, &t, &a->opts))
		rc = CMD_NOTHING;
	threads_release(&t);
	return rc;
}

int cmd_trace(struct cmd *c)
{
	struct trace_args a = {.width = 40, .depth = 4};
	int rc = parse(c, &a);

	if (!rc)
		rc = cmd_with_query(c, show, &a);
	vec_release(&a.which.pids);
	vec_release(&a.which.tids);
	return rc;
}
