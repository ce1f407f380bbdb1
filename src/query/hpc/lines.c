/* SPDX-License-Identifier: BSD-2-Clause */
/* See lines.h. */
#include "query/hpc/lines.h"
#include "query/hpc/paths.h"

#include <errno.h>
#include <stdlib.h>

struct lines_kept {
	const struct hpc_query *q;
	struct hpc_paths paths;
	bool has_paths;
	const char **texts; /* by frame: each path is put together once */
};

static struct hpc_trace *trace_of(const struct thread_line *l)
{
	return l->line;
}

static int push_line(struct thread_lines *t, const struct hpc_query *q,
		     const struct hpc_trace *trace, struct err *err)
{
	struct hpc_trace *kept = arena_alloc(&t->arena, sizeof(*kept));
	struct str name = {0};
	struct thread_line l = {.number = trace->profIndex, .line = kept};
	int rc = hpc_db_thread_name(q->db, trace->profIndex, &name, err);

	*kept = *trace;
	l.name = arena_strdup(&t->arena, str_get(&name));
	l.born_ns = l.start_ns = hpc_trace_elem(trace, 0).timestamp;
	l.ended_ns = l.end_ns = hpc_trace_elem(trace, trace->n - 1).timestamp;
	vec_push(&t->lines, l);
	str_release(&name);
	return rc;
}

static int add_line(struct thread_lines *t, const struct hpc_query *q, uint32_t i,
		    uint64_t *zero_ns, struct err *err)
{
	struct hpc_trace trace;
	uint64_t start_ns;
	int rc = hpc_trace_open(&trace, &q->db->traces, i, err);

	if (rc < 0 || !trace.n)
		return rc;
	start_ns = hpc_trace_elem(&trace, 0).timestamp;
	*zero_ns = start_ns < *zero_ns ? start_ns : *zero_ns;
	if (trace.profIndex < q->db->profiles.nProfiles &&
	    (!q->wanted || q->wanted[trace.profIndex]))
		rc = push_line(t, q, &trace, err);
	return rc;
}

/* Opens the chosen lines: all are looked at for when time begins, unless the file says. */
static int open_lines(struct thread_lines *t, const struct hpc_query *q, struct err *err)
{
	const struct hpc_trace_db *db = &q->db->traces;
	uint64_t zero_ns = UINT64_MAX;
	int rc = 0;

	if (q->wanted && db->minTimestamp) {
		vec_each (p, &q->threads) {
			struct hpc_trace trace;

			rc = hpc_trace_open_profile(&trace, db, *p, err);
			if (rc == -ENOENT)
				continue;
			if (rc >= 0 && trace.n)
				rc = push_line(t, q, &trace, err);
			if (rc < 0)
				return rc;
		}
		rc = 0;
		zero_ns = db->minTimestamp;
		vec_each (line, &t->lines)
			zero_ns = line->start_ns < zero_ns ? line->start_ns : zero_ns;
	} else {
		for (uint32_t i = 0; i < db->nTraces && rc >= 0; i++)
			rc = add_line(t, q, i, &zero_ns, err);
		if (db->minTimestamp && db->minTimestamp < zero_ns)
			zero_ns = db->minTimestamp;
	}
	t->zero_ns = zero_ns == UINT64_MAX ? 0 : zero_ns;
	return rc;
}

static uint64_t add_time(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* --- points --- */

static uint64_t line_time(const struct thread_line *l, uint64_t i)
{
	return hpc_trace_elem(trace_of(l), i).timestamp;
}

static const char *path_text(struct thread_lines *t, uint32_t frame)
{
	struct lines_kept *k = t->kept;
	struct str s = {0};

	if (frame == HPC_NONE)
		return NULL;
	if (!k->texts)
		k->texts = xcalloc(k->paths.frames.n + 1, sizeof(*k->texts));
	if (!k->texts[frame]) {
		hpc_paths_text(&k->paths, frame, &s);
		k->texts[frame] = arena_strdup(&t->arena, str_get(&s));
		str_release(&s);
	}
	return k->texts[frame];
}

static void line_point(struct thread_lines *t, const struct thread_line *l, uint64_t i,
		       struct thread_line_point *ret)
{
	struct lines_kept *k = t->kept;
	const struct hpc_trace_elem elem = hpc_trace_elem(trace_of(l), i);
	const uint32_t leaf = hpc_paths_find(&k->paths, elem.ctxId);
	const uint32_t frame = hpc_paths_at_depth(&k->paths, leaf, t->depth);

	*ret = (struct thread_line_point){
		.time_ns = elem.timestamp,
		.context = elem.ctxId,
		.path = path_text(t, leaf),
		.procedure = elem.ctxId == HPC_ROOT_CTX ? "[not running]" : "[unknown]",
	};
	if (frame == HPC_NONE)
		return;
	ret->depth = k->paths.frames.v[frame].depth;
	ret->procedure = hpc_frame_scope(&k->paths, frame)->name;
}

static void release_lines(struct thread_lines *t)
{
	struct lines_kept *k = t->kept;

	if (!k)
		return;
	if (k->has_paths)
		hpc_paths_release(&k->paths);
	free(k->texts);
	free(k);
}

static const struct thread_line_ops line_ops = {
	.time = line_time,
	.point = line_point,
	.release = release_lines,
};

int hpc_lines_find(struct thread_lines *t, const struct hpc_query *q,
		   const struct thread_line_opts *o, struct err *err)
{
	struct lines_kept *k;
	uint64_t last = 0;
	int rc;

	*t = (struct thread_lines){.ops = &line_ops, .depth = o->has_depth ? o->depth : 0};
	if (o->pids.n || o->tids.n)
		return err_set(err, -EINVAL,
			       "--%s: an HPCToolkit database has threads (--thread) instead",
			       o->pids.n ? "pid" : "tid");
	if (!q->db->has_traces)
		return err_set(err, -ENOENT, "%s has no traces (trace.db)", q->db->path);
	k = t->kept = xcalloc(1, sizeof(*k));
	k->q = q;
	rc = open_lines(t, q, err);
	if (rc < 0)
		return rc;
	vec_each (line, &t->lines)
		last = line->end_ns > last ? line->end_ns : last;
	t->from_ns = o->has_from ? add_time(t->zero_ns, o->from_ns) : t->zero_ns;
	t->to_ns = o->has_to ? add_time(t->zero_ns, o->to_ns) : add_time(last, 1);
	if (t->to_ns <= t->from_ns && t->lines.n)
		return err_set(err, -ENOENT, "the range is empty: the traces are of %.6f s",
			       (double)(last - t->zero_ns) / 1e9);
	vec_each (line, &t->lines) {
		const struct hpc_trace *trace = trace_of(line);

		line->first = hpc_trace_find(trace, t->from_ns);
		line->n = hpc_trace_find(trace, t->to_ns) - line->first;
		/* What the thread was in when the range began. */
		if (line->first && line->first < trace->n && o->has_from &&
		    hpc_trace_elem(trace, line->first).timestamp > t->from_ns) {
			line->first--;
			line->n++;
		}
		line->n_points = line->n;
		t->n_points += line->n;
	}
	if (o->points) {
		rc = hpc_paths_init(&k->paths, q->db, err);
		k->has_paths = rc >= 0;
	}
	return rc;
}
