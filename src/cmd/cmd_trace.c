/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell trace`: time lines of threads, of recordings made with `record --trace`. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/out_file.h"
#include "base/wr.h"
#include "cmd/source_cmd.h"
#include "query/boxes/time_lines.h"
#include "view/about.h"
#include "view/trace.h"

#define DEPTH_UNSET UINT64_MAX
#define WIDTH_UNSET UINT64_MAX

struct trace_args {
	struct trace_opts opts;
	struct thread_line_opts which;
	uint64_t width, depth;
	const char *range, *from, *to, *output;
	bool data; /* with output "-": what a page has, alone */
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
		{"data", OPT_FLAG, &a->data, NULL, NULL}, /* for the page of dwell web */
		{"output o", OPT_STR, &a->output, "FILE",
		 "a picture of the lines: NAME.html; - for a page to stdout"},
		{"range", OPT_STR, &a->range, "FROM..TO",
		 "only this time, in seconds, and list its points"},
		{"from", OPT_STR, &a->from, "TIME", "only from this time on; list the points"},
		{"to", OPT_STR, &a->to, "TIME", "only before this time; list the points"},
		{"width", OPT_U64, &a->width, "N",
		 "characters of a bar (default: what fits the screen; 0: no bars)"},
		{"depth", OPT_U64, &a->depth, "N",
		 "frames shown of a call path (default 4; 0: all); of HPCToolkit databases, the "
		 "procedure at this depth"},
		SOURCE_THREAD_OPTION(&a->source),
		{"no-header", OPT_FLAG, &a->opts.no_header, NULL, "the tables alone"},
		{0},
	};
	opt_list operands = {0};
	int rc = cmd_parse(c, "[OPTIONS] [DB] [-o FILE]", table, false, &operands);

	if (rc == 0)
		cmd_take_only_source(c, &operands);
	if (rc == 0 && operands.n)
		rc = err_set(&c->err, -EINVAL, "'%s' is not an option", operands.v[0]);
	vec_release(&operands);
	if (rc == 0 && a->range)
		rc = parse_range(c, a);
	if (rc == 0 && a->from)
		rc = parse_time(c, "from", a->from, &a->which.has_from, &a->which.from_ns);
	if (rc == 0 && a->to)
		rc = parse_time(c, "to", a->to, &a->which.has_to, &a->which.to_ns);
	if (rc == 0 && a->width > 10000 && a->width != WIDTH_UNSET)
		rc = err_set(&c->err, -EINVAL, "--width: must be 0 to 10000");
	a->which.has_depth = a->depth != DEPTH_UNSET;
	if (rc == 0 && a->which.has_depth && a->depth > 10000)
		rc = err_set(&c->err, -EINVAL, "--depth: must be 0 to 10000");
	if (rc != 0)
		return rc;
	a->opts.width_is_given = a->width != WIDTH_UNSET;
	a->opts.width = a->opts.width_is_given ? (unsigned)a->width : 40;
	a->which.depth = (uint32_t)a->depth;
	/* Lines know their threads even where owners are groups. */
	a->which.pids = vec_take(&c->select.owners[OWNER_KEY_PID]);
	a->which.tids = vec_take(&c->select.owners[OWNER_KEY_TID]);
	c->select.traces = true;
	a->opts.points = a->range || a->from || a->to || a->which.tids.n || a->source.threads.n;
	a->which.points = a->opts.points || a->output;
	if (a->output && !str_ends(a->output, ".html") && strcmp(a->output, "-") != 0)
		return err_set(&c->err, -EINVAL, "-o '%s': must end in .html, or be -", a->output);
	return 0;
}

/* Fills L with spans of T, and appends the page of them to TEXT; one that is too large for mail has
 * fewer. */
static void trace_page(struct cmd *c, struct source *s, struct thread_lines *t, bool as_data,
		       struct time_lines *l, struct str *text)
{
	struct str account = {0}, title = {0};
	struct emit e = {.out = &account, .format = EMIT_TABLE};
	const bool all = !c->select.events.n;

	emit_begin(&e);
	about_source_emit(&e, s, false);
	emit_end(&e);
	about_add_recording(&title, s);
	if (!title.n)
		str_add(&title, "time lines");
	time_lines_init(l, t, all, 0);
	time_lines_html(text, l, str_get(&title), str_get(&account));
	while (text->n > TIME_PAGE_BYTES && l->spans.n > 1000) {
		const double share = 0.9 * TIME_PAGE_BYTES / (double)text->n;
		const size_t max = (size_t)((double)l->spans.n * share);

		time_lines_release(l);
		time_lines_init(l, t, all, max);
		text->n = 0;
		time_lines_html(text, l, str_get(&title), str_get(&account));
	}
	if (as_data) {
		struct wr w = {0};

		time_lines_data(&w, l, str_get(&title), str_get(&account));
		text->n = 0;
		str_addn(text, (const char *)w.v, w.n);
		free(w.v);
	}
	str_release(&account);
	str_release(&title);
}

static int trace_save(struct cmd *c, const struct trace_args *a, struct source *s,
		      struct thread_lines *t)
{
	struct str text = {0};
	struct time_lines l;
	int rc = CMD_NOTHING;

	trace_page(c, s, t, a->data, &l, &text);
	if (l.spans.n)
		rc = out_file_save(a->output, text.v, text.n, &c->err);
	if (l.spans.n && rc >= 0 && strcmp(a->output, "-") != 0)
		str_addf(&c->out, "%s: %zu thread%s, %zu bytes; open it in a browser\n", a->output,
			 l.threads.n, l.threads.n == 1 ? "" : "s", text.n);
	time_lines_release(&l);
	str_release(&text);
	return rc;
}

static int trace_show(struct cmd *c, struct source *s, void *ctx)
{
	struct trace_args *a = ctx;
	struct thread_lines t;
	int rc = source_thread_lines(s, &a->which, &t, &c->err);

	if (rc == 0 && !t.lines.n)
		rc = CMD_NOTHING;
	if (rc == 0 && a->output)
		rc = trace_save(c, a, s, &t);
	else if (rc >= 0 && !a->output)
		trace_emit(&c->emit, &t, &a->opts);
	thread_lines_release(&t);
	return rc;
}

int cmd_trace(struct cmd *c)
{
	struct trace_args a = {.width = WIDTH_UNSET, .depth = DEPTH_UNSET};
	int rc = trace_parse(c, &a);

	if (rc == 0)
		rc = cmd_with_source(c, &a.source, trace_show, &a);
	source_args_release(&a.source);
	vec_release(&a.which.pids);
	vec_release(&a.which.tids);
	return rc;
}
