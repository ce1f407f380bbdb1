/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell trace`: time lines of threads, of recordings made with `record --trace`. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "cmd/source_cmd.h"
#include "view/trace.h"

#define DEPTH_UNSET UINT64_MAX

struct trace_args {
	struct trace_opts opts;
	struct thread_line_opts which;
	uint64_t width, depth;
	const char *range, *from, *to;
	struct source_args source;
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

static int parse_time(struct cmd *c, const char *option, const char *text, bool *ret_has,
		      uint64_t *ret_ns)
{
	if (*ret_has)
		return err_set(&c->err, -EINVAL, "--range and --%s exclude each other", option);
	if (str_parse_duration_ns(text, ret_ns) < 0)
		return err_set(&c->err, -EINVAL,
			       "--%s %s: must be a time since second 0, such as 1.5 or 20ms",
			       option, text);
	*ret_has = true;
	return 0;
}

static int trace_parse(struct cmd *c, struct trace_args *a)
{
	const struct opt table[] = {
		{"range", OPT_STR, &a->range, "FROM..TO",
		 "only this time, in seconds, and list its points"},
		{"from", OPT_STR, &a->from, "TIME", "only from this time on; list the points"},
		{"to", OPT_STR, &a->to, "TIME", "only before this time; list the points"},
		{"width", OPT_U64, &a->width, "N", "characters of a bar (default 40; 0: no bars)"},
		{"depth", OPT_U64, &a->depth, "N",
		 "frames shown of a call path (default 4; 0: all); of HPCToolkit databases, the "
		 "procedure at this depth"},
		SOURCE_THREAD_OPTION(&a->source),
		{"no-header", OPT_FLAG, &a->opts.no_header, NULL, "the tables alone"},
		{0},
	};
	opt_list operands = {0};
	int rc = cmd_parse(c, "[OPTIONS] [DB]", table, false, &operands);

	if (!rc)
		cmd_take_only_source(c, &operands);
	if (!rc && operands.n)
		rc = err_set(&c->err, -EINVAL, "'%s' is not an option", operands.v[0]);
	vec_release(&operands);
	if (!rc && a->range)
		rc = parse_range(c, a);
	if (!rc && a->from)
		rc = parse_time(c, "from", a->from, &a->which.has_from, &a->which.from_ns);
	if (!rc && a->to)
		rc = parse_time(c, "to", a->to, &a->which.has_to, &a->which.to_ns);
	if (!rc && a->width > 10000)
		rc = err_set(&c->err, -EINVAL, "--width: must be 0 to 10000");
	a->which.has_depth = a->depth != DEPTH_UNSET;
	if (!rc && a->which.has_depth && a->depth > 10000)
		rc = err_set(&c->err, -EINVAL, "--depth: must be 0 to 10000");
	if (rc)
		return rc;
	a->opts.width = (unsigned)a->width;
	a->which.depth = (uint32_t)a->depth;
	/* Lines know their threads even where owners are groups. */
	a->which.pids = c->select.owners[OWNER_KEY_PID];
	a->which.tids = c->select.owners[OWNER_KEY_TID];
	memset(&c->select.owners[OWNER_KEY_PID], 0, sizeof(a->which.pids));
	memset(&c->select.owners[OWNER_KEY_TID], 0, sizeof(a->which.tids));
	c->select.traces = true;
	a->opts.points = a->range || a->from || a->to || a->which.tids.n || a->source.threads.n;
	a->which.points = a->opts.points;
	return 0;
}

static int trace_show(struct cmd *c, struct source *s, void *ctx)
{
	struct trace_args *a = ctx;
	struct thread_lines t;
	int rc = source_thread_lines(s, &a->which, &t, &c->err);

	if (!rc) {
		trace_emit(&c->emit, &t, &a->opts);
		rc = t.lines.n ? 0 : CMD_NOTHING;
	}
	thread_lines_release(&t);
	return rc;
}

int cmd_trace(struct cmd *c)
{
	struct trace_args a = {.width = 40, .depth = DEPTH_UNSET};
	int rc = trace_parse(c, &a);

	if (!rc)
		rc = cmd_with_source(c, &a.source, trace_show, &a);
	source_args_release(&a.source);
	vec_release(&a.which.pids);
	vec_release(&a.which.tids);
	return rc;
}
