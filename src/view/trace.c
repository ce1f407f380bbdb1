/* SPDX-License-Identifier: BSD-2-Clause */
/* See trace.h.  People see seconds since the first thing known of any thread; JSON and CSV have
 * nanoseconds since 1970.  CSV is one table: the points when they are asked
 * for, else the threads. */
#include "view/trace.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/plural.h"
#include "query/source.h"
#include "view/about.h"

#define DATA (EMIT_IN_JSON | EMIT_IN_CSV)

struct view {
	struct emit *e;
	struct thread_lines *t;
	const struct trace_opts *opts;
	struct arena arena; /* texts of rows */
	unsigned bar_width; /* of the table's bars, from the first row on */
	uint64_t most;	    /* points in the fullest stretch of any */
	bool has_blocks;
	struct thread_stretch *stretches; /* of a bar */
};

/* "12.345678", seconds since zero; TIME_NS 0: not known. */
static struct emit_cell seconds(struct view *v, uint64_t time_ns)
{
	char text[40];
	const uint64_t ns = time_ns - v->t->zero_ns;

	if (!time_ns)
		return (struct emit_cell){.none = true};
	snprintf(text, sizeof(text), "%llu.%06llu", (unsigned long long)(ns / 1000000000),
		 (unsigned long long)(ns % 1000000000 / 1000));
	return (struct emit_cell){.s = arena_strdup(&v->arena, text)};
}

/* ' ' where the thread was not, '.' without a point, then by quarters of the fullest stretch. */
static char bar_char(uint64_t n, uint64_t most, bool there)
{
	static const char levels[] = "-+*#";

	if (n)
		return levels[(n * 4 - 1) / most];
	return there ? '.' : ' ';
}

/* --- bars on paper: of all points, as data have them --- */

static struct emit_cell bar(struct view *v, const struct thread_line *l, uint64_t most,
			    uint64_t *counts)
{
	unsigned n = v->opts->width;
	char *text;

	if (!n || v->e->format != EMIT_JSON)
		return (struct emit_cell){.none = true};
	text = arena_alloc(&v->arena, n + 1);
	thread_lines_density(v->t, l, n, counts);
	for (unsigned i = 0; i < n; i++) {
		bool there = l->start_ns < thread_lines_stretch(v->t, n, i + 1) &&
			     l->end_ns > thread_lines_stretch(v->t, n, i);

		text[i] = bar_char(counts[i], most, there);
	}
	text[n] = '\0';
	return (struct emit_cell){.s = text};
}

static uint64_t find_most(struct view *v, uint64_t *counts)
{
	uint64_t most = 0;

	vec_each (l, &v->t->lines) {
		uint64_t n = thread_lines_density(v->t, l, v->opts->width, counts);

		most = n > most ? n : most;
	}
	return most;
}

/* --- bars on a screen: what threads did --- */

/* Sets the width of all bars, once it is known. */
static void measure_bars(struct view *v, size_t room)
{
	const unsigned wanted =
		v->opts->width_is_given || room == SIZE_MAX ? v->opts->width : UINT_MAX;

	v->bar_width = room < wanted ? (unsigned)room : wanted;
	v->stretches = xcalloc(v->bar_width + 1, sizeof(*v->stretches));
	vec_each (l, &v->t->lines) {
		uint64_t n = thread_lines_stretches(v->t, l, v->bar_width, v->stretches);

		v->most = n > v->most ? n : v->most;
	}
}

static const char *stretch_colour(const struct thread_stretch *s)
{
	if (s->n_ran)
		return "\033[32m"; /* green: ran */
	return s->is_blocked ? "\033[34m" /* blue */ : "";
}

static void fill_bar(void *ctx, uint64_t number, size_t room, struct str *ret)
{
	struct view *v = ctx;
	const struct thread_line *l = &v->t->lines.v[number];
	const char *colour = "";

	if (!v->stretches)
		measure_bars(v, room);
	thread_lines_stretches(v->t, l, v->bar_width, v->stretches);
	for (unsigned i = 0; i < v->bar_width; i++) {
		const struct thread_stretch *s = &v->stretches[i];
		const char *now = v->e->colour ? stretch_colour(s) : "";

		if (now != colour && strcmp(now, colour) != 0) {
			str_add(ret, *colour ? "\033[m" : "");
			str_add(ret, now);
			colour = now;
		}
		v->has_blocks |= s->is_blocked;
		str_addc(ret, s->is_blocked ? '_' : bar_char(s->n_ran, v->most, s->is_there));
	}
	str_add(ret, *colour ? "\033[m" : "");
	while (ret->n && ret->v[ret->n - 1] == ' ')
		ret->v[--ret->n] = '\0';
}

/* What the characters of bars mean. */
static void emit_legend(struct view *v)
{
	if (!v->stretches || v->opts->no_header || !v->most)
		return;
	emit_text(v->e, "\nbars: %.6f s a character; # up to %llu points%s, . none\n",
		  (double)(v->t->to_ns - v->t->from_ns) / 1e9 / v->bar_width,
		  (unsigned long long)v->most, v->has_blocks ? ", _ blocked" : "");
}

static void emit_threads(struct view *v)
{
	const bool processes = v->t->by_process;
	const unsigned pids = processes ? 0 : EMIT_IN_NONE, names = processes ? EMIT_IN_NONE : 0;
	const bool has_bars = v->opts->width || !v->opts->width_is_given;
	const struct emit_col cols[] = {
		{"thread", NULL, EMIT_STR, .in = names, .cut = TEXT_END},
		{"profile", NULL, EMIT_U64, .in = names, .spare = 4},
		{"pid", NULL, EMIT_U64, .in = pids},
		{"tid", NULL, EMIT_U64, .in = pids},
		{"start_ns", NULL, EMIT_U64, .in = DATA},
		{"end_ns", NULL, EMIT_U64, .in = DATA},
		{"start", NULL, EMIT_STR, .in = EMIT_IN_TABLE, .spare = 4},
		{"end", NULL, EMIT_STR, .in = EMIT_IN_TABLE, .spare = 4},
		{"points", NULL, EMIT_U64},
		{"dropped", NULL, EMIT_U64, .spare = 1,
		 .in = !processes ? EMIT_IN_NONE : DATA | (v->t->n_dropped ? EMIT_IN_TABLE : 0)},
		{"bar", "", EMIT_STR, .in = v->opts->width ? EMIT_IN_JSON : EMIT_IN_NONE},
		{"comm", "name", EMIT_STR, .in = pids, .cut = TEXT_END},
		{"line", "", EMIT_STR, .in = has_bars ? EMIT_IN_TABLE : EMIT_IN_NONE,
		 .cut = TEXT_FILL},
	};
	uint64_t *counts = xcalloc(v->opts->width + 1, sizeof(*counts)), most = 0;

	if (v->opts->width && v->e->format == EMIT_JSON)
		most = find_most(v, counts);
	v->e->fill = fill_bar;
	v->e->fill_ctx = v;
	emit_table(v->e, v->e->format == EMIT_CSV && !v->opts->points ? "rows" : "threads", cols,
		   n_elems(cols));
	vec_each (l, &v->t->lines)
		emit_row(v->e, (struct emit_cell[]){
				       {.s = l->name},
				       {.u = l->number},
				       {.u = l->pid},
				       {.u = l->tid},
				       {.u = l->born_ns, .none = !l->born_ns},
				       {.u = l->ended_ns, .none = !l->ended_ns},
				       seconds(v, l->born_ns),
				       seconds(v, l->ended_ns),
				       {.u = l->n_points},
				       {.u = l->n_dropped},
				       bar(v, l, most, counts),
				       {.s = l->name},
				       {.u = (uint64_t)(l - v->t->lines.v)},
			       });
	emit_table_end(v->e);
	emit_legend(v);
	free(v->stretches);
	free(counts);
}

static void emit_points(struct view *v)
{
	struct thread_lines *t = v->t;
	const bool processes = t->by_process;
	const unsigned pids = processes ? 0 : EMIT_IN_NONE, names = processes ? EMIT_IN_NONE : 0;
	const bool one_event = !t->source->query || t->source->query->n_cols <= 1;
	const struct emit_col cols[] = {
		{"time_ns", NULL, EMIT_U64, .in = DATA},
		{"time", NULL, EMIT_STR, .in = EMIT_IN_TABLE},
		{"thread", NULL, EMIT_STR, .in = names},
		{"profile", NULL, EMIT_U64, .in = processes ? EMIT_IN_NONE : DATA},
		{"pid", NULL, EMIT_U64, .in = processes ? DATA : EMIT_IN_NONE},
		{"tid", NULL, EMIT_U64, .in = processes && t->lines.n <= 1 ? DATA : pids},
		{"event", NULL, EMIT_STR, .in = processes && one_event ? DATA : pids},
		{"context", NULL, EMIT_U64, .in = processes ? EMIT_IN_NONE : DATA},
		{"depth", NULL, EMIT_U64, .in = names},
		{"procedure", NULL, EMIT_STR, .in = names, .cut = TEXT_NAME},
		{"path", NULL, EMIT_STR, .in = processes ? 0 : DATA, .cut = TEXT_END},
	};
	_vec_ thread_line_points rows = {0};

	thread_lines_points(t, &rows);
	emit_text(v->e, "\n");
	emit_table(v->e, v->e->format == EMIT_CSV ? "rows" : "points", cols, n_elems(cols));
	vec_each (r, &rows) {
		struct thread_line_point p;

		t->ops->point(t, r->line, r->i, &p);
		emit_row(v->e, (struct emit_cell[]){
				       {.u = p.time_ns},
				       seconds(v, p.time_ns),
				       {.s = r->line->name},
				       {.u = r->line->number},
				       {.u = r->line->pid},
				       {.u = r->line->tid},
				       {.s = p.event},
				       {.u = p.context},
				       {.u = p.depth},
				       {.s = p.procedure},
				       {.s = p.path},
			       });
	}
	emit_table_end(v->e);
}

/* When second 0 was, and what there was no room for. */
static void emit_head(struct view *v)
{
	const struct thread_lines *t = v->t;
	const time_t zero = (time_t)(t->zero_ns / 1000000000);
	struct json *j = emit_json(v->e);
	char text[40];
	struct tm tm;

	if (j && t->by_process) {
		json_key(j, "dropped");
		json_u64(j, t->n_dropped);
	}
	if (!t->n_points)
		emit_text(v->e, "0 points of %zu thread%s\n", t->lines.n, plural_s(t->lines.n));
	else if (t->has_no_date)
		emit_text(v->e, "second 0 has no date; %llu point%s of %zu thread%s\n",
			  (unsigned long long)t->n_points, plural_s(t->n_points), t->lines.n,
			  plural_s(t->lines.n));
	else if (gmtime_r(&zero, &tm) && strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm))
		emit_text(v->e, "second 0 is %s.%06u UTC; %llu point%s of %zu thread%s\n", text,
			  (unsigned)(t->zero_ns % 1000000000 / 1000),
			  (unsigned long long)t->n_points, plural_s(t->n_points), t->lines.n,
			  plural_s(t->lines.n));
	if (t->n_dropped)
		emit_text(v->e, "trace_full: %llu points were dropped for want of room\n",
			  (unsigned long long)t->n_dropped);
}

void trace_emit(struct emit *e, struct thread_lines *t, const struct trace_opts *opts)
{
	struct view v = {.e = e, .t = t, .opts = opts};

	emit_begin(e);
	about_source_emit(e, t->source, opts->no_header);
	if (!opts->no_header || emit_json(e))
		emit_head(&v);
	emit_threads(&v);
	if (opts->points)
		emit_points(&v);
	emit_end(e);
	arena_release(&v.arena);
}
