/* SPDX-License-Identifier: BSD-2-Clause */
/* See hpc_trace.h.  As in trace.c people see seconds since the first point, JSON and CSV have
 * nanoseconds since 1970, and CSV is the points when they are asked for, else the threads. */
#include "view/hpc_trace.h"

#include <stdlib.h>

#include "query/hpc/paths.h"
#include "view/hpc.h"
#include "view/timeline.h"

struct view {
	struct emit *e;
	const struct hpc_query *q;
	const struct hpc_lines *l;
	const struct hpc_trace_opts *o;
	struct arena arena; /* texts of rows */
};

static struct emit_cell seconds(struct view *v, uint64_t time_ns)
{
	return (struct emit_cell){.s = timeline_seconds(&v->arena, v->l->zero_ns, time_ns)};
}

static int thread_cell(struct view *v, uint32_t profile, struct emit_cell *ret, struct err *err)
{
	struct str s = {0};
	int rc = hpc_db_thread_name(v->q->db, profile, &s, err);

	*ret = (struct emit_cell){.s = arena_strdup(&v->arena, str_get(&s))};
	str_release(&s);
	return rc;
}

static uint64_t find_most(struct view *v, uint64_t *counts)
{
	uint64_t most = 0;

	vec_each (line, &v->l->lines) {
		uint64_t n = hpc_lines_density(v->l, line, v->o->width, counts);

		most = n > most ? n : most;
	}
	return most;
}

static struct emit_cell bar(struct view *v, const struct hpc_line *line, uint64_t most,
			    uint64_t *counts)
{
	unsigned n = v->o->width;
	char *text = arena_alloc(&v->arena, n + 1);

	hpc_lines_density(v->l, line, n, counts);
	for (unsigned i = 0; i < n; i++) {
		bool there = line->start_ns < hpc_lines_stretch(v->l, n, i + 1) &&
			     line->end_ns > hpc_lines_stretch(v->l, n, i);

		text[i] = timeline_char(counts[i], most, there);
	}
	text[n] = '\0';
	return (struct emit_cell){.s = text};
}

static int emit_threads(struct view *v, struct err *err)
{
	const unsigned data = EMIT_IN_JSON | EMIT_IN_CSV;
	const struct emit_col cols[] = {
		{"thread", NULL, EMIT_STR},
		{"profile", NULL, EMIT_U64},
		{"start_ns", NULL, EMIT_U64, .in = data},
		{"end_ns", NULL, EMIT_U64, .in = data},
		{"start", NULL, EMIT_STR, .in = EMIT_IN_TABLE},
		{"end", NULL, EMIT_STR, .in = EMIT_IN_TABLE},
		{"points", NULL, EMIT_U64},
		{"bar", "", EMIT_STR,
		 .in = v->o->width ? EMIT_IN_TABLE | EMIT_IN_JSON : EMIT_IN_NONE},
	};
	uint64_t *counts = xcalloc(v->o->width + 1, sizeof(*counts)), most = 0;
	int rc = 0;

	if (v->o->width)
		most = find_most(v, counts);
	if (most && !v->o->no_header)
		emit_text(v->e, TIMELINE_LEGEND,
			  (double)(v->l->to_ns - v->l->from_ns) / 1e9 / v->o->width,
			  (unsigned long long)most);
	emit_table(v->e, v->e->format == EMIT_CSV && !v->o->points ? "rows" : "threads", cols,
		   n_elems(cols));
	vec_each (line, &v->l->lines) {
		struct emit_cell cells[n_elems(cols)] = {
			[1] = {.u = line->trace.profIndex}, [2] = {.u = line->start_ns},
			[3] = {.u = line->end_ns},	    [4] = seconds(v, line->start_ns),
			[5] = seconds(v, line->end_ns),	    [6] = {.u = line->n},
		};

		rc = rc ? rc : thread_cell(v, line->trace.profIndex, &cells[0], err);
		if (v->o->width)
			cells[7] = bar(v, line, most, counts);
		emit_row(v->e, cells);
	}
	emit_table_end(v->e);
	free(counts);
	return rc;
}

struct point {
	struct hpc_trace_elem elem;
	uint32_t line; /* its number in the lines */
};

static int by_time(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	if (x->elem.timestamp != y->elem.timestamp)
		return x->elem.timestamp < y->elem.timestamp ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static const char *path_text(struct view *v, const struct hpc_paths *paths, const char **texts,
			     uint32_t frame)
{
	struct str s = {0};

	if (v->e->format == EMIT_TABLE || frame == HPC_NONE)
		return NULL;
	if (!texts[frame]) {
		hpc_paths_text(paths, frame, &s);
		texts[frame] = arena_strdup(&v->arena, str_get(&s));
		str_release(&s);
	}
	return texts[frame];
}

static int emit_points(struct view *v, const struct hpc_paths *paths, struct err *err)
{
	const unsigned data = EMIT_IN_JSON | EMIT_IN_CSV;
	const struct emit_col cols[] = {
		{"time_ns", NULL, EMIT_U64, .in = data},
		{"time", NULL, EMIT_STR, .in = EMIT_IN_TABLE},
		{"thread", NULL, EMIT_STR},
		{"profile", NULL, EMIT_U64, .in = data},
		{"context", NULL, EMIT_U64, .in = data},
		{"depth", NULL, EMIT_U64},
		{"procedure", NULL, EMIT_STR, .cut = TEXT_NAME},
		{"path", NULL, EMIT_STR, .in = data},
	};
	const char **texts = xcalloc(paths->frames.n + 1, sizeof(*texts));
	struct emit_cell *threads = xcalloc(v->l->lines.n + 1, sizeof(*threads));
	VEC(struct point) points = {0};
	int rc = 0;

	for (uint32_t i = 0; i < v->l->lines.n; i++) {
		const struct hpc_line *line = &v->l->lines.v[i];

		rc = rc ? rc : thread_cell(v, line->trace.profIndex, &threads[i], err);
		for (uint64_t k = line->first; k < line->first + line->n; k++)
			vec_push(&points, (struct point){hpc_trace_elem(&line->trace, k), i});
	}
	vec_sort(&points, by_time);
	emit_text(v->e, "\n");
	emit_table(v->e, v->e->format == EMIT_CSV ? "rows" : "points", cols, n_elems(cols));
	vec_each (p, &points) {
		uint32_t leaf = hpc_paths_find(paths, p->elem.ctxId);
		uint32_t frame = hpc_paths_at_depth(paths, leaf, v->o->depth);
		const char *none = p->elem.ctxId == HPC_ROOT_CTX ? "[not running]" : "[unknown]";

		emit_row(v->e,
			 (struct emit_cell[]){
				 {.u = p->elem.timestamp},
				 seconds(v, p->elem.timestamp),
				 threads[p->line],
				 {.u = v->l->lines.v[p->line].trace.profIndex},
				 {.u = p->elem.ctxId},
				 {.u = frame == HPC_NONE ? 0 : paths->frames.v[frame].depth},
				 {.s = frame == HPC_NONE ? none
							 : hpc_frame_scope(paths, frame)->name},
				 {.s = path_text(v, paths, texts, leaf)},
			 });
	}
	emit_table_end(v->e);
	vec_release(&points);
	free(threads);
	free(texts);
	return rc;
}

int hpc_trace_emit(struct emit *e, const struct hpc_query *q, const struct hpc_lines *l,
		   const struct hpc_trace_opts *opts, struct err *err)
{
	struct view v = {.e = e, .q = q, .l = l, .o = opts};
	struct hpc_paths paths;
	int rc = 0;

	emit_begin(e);
	hpc_recording_emit(e, q, opts->no_header);
	if (!opts->no_header)
		timeline_emit_zero(e, l->zero_ns, l->n_points, l->lines.n);
	rc = emit_threads(&v, err);
	if (!rc && opts->points)
		rc = hpc_paths_init(&paths, q->db, err);
	if (!rc && opts->points) {
		rc = emit_points(&v, &paths, err);
		hpc_paths_release(&paths);
	}
	emit_end(e);
	arena_release(&v.arena);
	return rc;
}
