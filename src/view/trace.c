/* SPDX-License-Identifier: BSD-2-Clause */
/* See trace.h.  People see seconds since the first thing known of any thread; JSON and CSV have
 * nanoseconds since 1970.  CSV is one table: the points when they are asked for, else the threads.
 */
#include "view/trace.h"

#include <stdlib.h>

#include "view/header.h"
#include "view/timeline.h"

struct view {
	struct emit *e;
	struct query *q;
	const struct threads *t;
	const struct trace_opts *opts;
	struct arena arena; /* texts of rows */
	uint64_t most;	    /* points in the fullest stretch of any thread */
};

/* "12.345678", seconds since zero. */
static struct emit_cell seconds(struct view *v, uint64_t time_ns)
{
	return (struct emit_cell){.s = timeline_seconds(&v->arena, v->t->zero_ns, time_ns)};
}

static struct emit_cell bar(struct view *v, const struct thread *t, uint64_t *counts)
{
	unsigned n = v->opts->width;
	char *text = arena_alloc(&v->arena, n + 1);

	threads_density(v->q, v->t, t, n, counts);
	for (unsigned i = 0; i < n; i++) {
		bool there = t->start_ns < threads_stretch(v->t, n, i + 1) &&
			     t->end_ns > threads_stretch(v->t, n, i);

		text[i] = timeline_char(counts[i], v->most, there);
	}
	text[n] = '\0';
	return (struct emit_cell){.s = text};
}

static void find_most(struct view *v, uint64_t *counts)
{
	vec_each (t, &v->t->threads) {
		uint64_t n = threads_density(v->q, v->t, t, v->opts->width, counts);

		if (n > v->most)
			v->most = n;
	}
}

static const char *comm_of(const struct view *v, const struct trace *t)
{
	const struct profile *p = v->q->profile;

	return profile_str(p, p->owners.v[t->owner].comm);
}

static void emit_threads(struct view *v)
{
	const bool dropped = v->t->n_dropped;
	const unsigned data = EMIT_IN_JSON | EMIT_IN_CSV;
	const struct emit_col cols[] = {
		{"pid", NULL, EMIT_U64},
		{"tid", NULL, EMIT_U64},
		{"start_ns", NULL, EMIT_U64, .in = data},
		{"end_ns", NULL, EMIT_U64, .in = data},
		{"start", NULL, EMIT_STR, .in = EMIT_IN_TABLE},
		{"end", NULL, EMIT_STR, .in = EMIT_IN_TABLE},
		{"points", NULL, EMIT_U64},
		{"dropped", NULL, EMIT_U64, .in = data | (dropped ? EMIT_IN_TABLE : 0)},
		{"bar", "", EMIT_STR,
		 .in = v->opts->width ? EMIT_IN_TABLE | EMIT_IN_JSON : EMIT_IN_NONE},
		{"comm", NULL, EMIT_STR},
	};
	uint64_t *counts = xcalloc(v->opts->width + 1, sizeof(*counts));

	if (v->opts->width)
		find_most(v, counts);
	if (v->opts->width && v->most && !v->opts->no_header)
		emit_text(v->e, TIMELINE_LEGEND,
			  (double)(v->t->to_ns - v->t->from_ns) / 1e9 / v->opts->width,
			  (unsigned long long)v->most);
	emit_table(v->e, v->e->format == EMIT_CSV && !v->opts->points ? "rows" : "threads", cols,
		   n_elems(cols));
	vec_each (t, &v->t->threads) {
		const struct trace *line = t->trace;
		struct emit_cell none = {.none = true};

		emit_row(v->e, (struct emit_cell[]){
				       {.u = line->pid},
				       {.u = line->tid},
				       {.u = line->start_ns, .none = !line->start_ns},
				       {.u = line->end_ns, .none = !line->end_ns},
				       line->start_ns ? seconds(v, line->start_ns) : none,
				       line->end_ns ? seconds(v, line->end_ns) : none,
				       {.u = t->n_points},
				       {.u = line->n_dropped},
				       v->opts->width ? bar(v, t, counts) : none,
				       {.s = comm_of(v, line)},
			       });
	}
	emit_table_end(v->e);
	free(counts);
}

struct point_row {
	const struct trace *line;
	const struct trace_point *point;
};

static int by_time(const void *a, const void *b)
{
	const struct point_row *x = a, *y = b;

	if (x->point->time_ns != y->point->time_ns)
		return x->point->time_ns < y->point->time_ns ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->point < y->point ? -1 : x->point > y->point;
}

/* Each context's path is put together once, however often the thread was there. */
static const char *path_of(struct view *v, const char **paths, ctx_id ctx)
{
	struct str s = {0};

	if (!paths[ctx]) {
		threads_path(v->q, ctx, v->opts->depth, &s);
		paths[ctx] = arena_strdup(&v->arena, str_get(&s));
		str_release(&s);
	}
	return paths[ctx];
}

static void emit_points(struct view *v)
{
	const unsigned data = EMIT_IN_JSON | EMIT_IN_CSV;
	const struct emit_col cols[] = {
		{"time_ns", NULL, EMIT_U64, .in = data},
		{"time", NULL, EMIT_STR, .in = EMIT_IN_TABLE},
		{"pid", NULL, EMIT_U64, .in = data},
		{"tid", NULL, EMIT_U64, .in = v->t->threads.n > 1 ? 0 : data},
		{"event", NULL, EMIT_STR, .in = v->q->n_cols > 1 ? 0 : data},
		{"path", NULL, EMIT_STR, .cut = TEXT_END},
	};
	const char **paths = xcalloc(v->q->profile->ctxs.n, sizeof(*paths));
	VEC(struct point_row) rows = {0};

	vec_each (t, &v->t->threads)
		for (size_t i = t->first; i < t->first + t->n; i++)
			if (threads_wants(v->q, &t->trace->points.v[i]))
				vec_push(&rows,
					 (struct point_row){t->trace, &t->trace->points.v[i]});
	vec_sort(&rows, by_time);
	emit_text(v->e, "\n");
	emit_table(v->e, v->e->format == EMIT_CSV ? "rows" : "points", cols, n_elems(cols));
	vec_each (r, &rows)
		emit_row(v->e, (struct emit_cell[]){
				       {.u = r->point->time_ns},
				       seconds(v, r->point->time_ns),
				       {.u = r->line->pid},
				       {.u = r->line->tid},
				       {.s = v->q->cols[v->q->col_of[r->point->event]].name},
				       {.s = path_of(v, paths, r->point->ctx)},
			       });
	emit_table_end(v->e);
	vec_release(&rows);
	free(paths);
}

/* When second 0 was, and what there was no room for. */
static void emit_head(struct view *v)
{
	struct json *j = emit_json(v->e);

	if (j) {
		json_key(j, "dropped");
		json_u64(j, v->t->n_dropped);
		return;
	}
	timeline_emit_zero(v->e, v->t->zero_ns, v->t->n_points, v->t->threads.n);
	if (v->t->n_dropped)
		emit_text(v->e, "trace_full: %llu points were dropped for want of room\n",
			  (unsigned long long)v->t->n_dropped);
}

size_t trace_emit(struct emit *e, struct query *q, const struct threads *t,
		  const struct trace_opts *opts)
{
	struct view v = {.e = e, .q = q, .t = t, .opts = opts};

	emit_begin(e);
	header_emit(e, q, opts->no_header);
	if (!opts->no_header || emit_json(e))
		emit_head(&v);
	emit_threads(&v);
	if (opts->points)
		emit_points(&v);
	emit_end(e);
	arena_release(&v.arena);
	return t->threads.n;
}
