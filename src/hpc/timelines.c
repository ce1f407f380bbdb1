/* SPDX-License-Identifier: BSD-2-Clause */
/* See timelines.h. */
#include "hpc/timelines.h"

#include <stdlib.h>

void timelines_release(struct timelines *t)
{
	vec_each (line, &t->v)
		vec_release(&line->points);
	vec_release(&t->v);
	vec_release(&t->of);
}

static struct timeline *line_of(struct timelines *t, uint32_t identity)
{
	while (t->of.n <= identity)
		vec_push(&t->of, 0);
	if (!t->of.v[identity]) {
		vec_push(&t->v, (struct timeline){.identity = identity});
		t->of.v[identity] = (uint32_t)t->v.n;
	}
	return &t->v.v[t->of.v[identity] - 1];
}

void timelines_add(struct timelines *t, const struct query *q, const uint32_t *nodes,
		   const uint32_t *identity)
{
	const struct profile *p = q->profile;

	for (size_t i = 1; i < p->traces.n; i++) {
		const struct trace *trace = &p->traces.v[i];
		struct timeline *line;
		size_t before;

		if (identity[i] == HPC_NONE)
			continue;
		line = line_of(t, identity[i]);
		before = line->points.n;
		vec_each (point, &trace->points)
			if (q->col_of[point->event] < q->n_cols && nodes[point->ctx] != HPC_NONE)
				vec_push(&line->points, (struct timeline_point){point->time_ns,
										nodes[point->ctx]});
		if (line->points.n > before && trace->end_ns)
			vec_push(&line->points, (struct timeline_point){trace->end_ns, HPC_NONE});
	}
}

/* By time; the end of a thread behind what it did last. */
static int by_time(const void *a, const void *b)
{
	const struct timeline_point *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static int put_line(struct hpc_trace_writer *w, struct timeline *line, uint32_t profile,
		    const uint32_t *number, struct err *err)
{
	struct hpc_trace_elem *elems = xcalloc(line->points.n + 1, sizeof(*elems));
	size_t n = 0;
	int rc;

	vec_sort(&line->points, by_time);
	vec_each (point, &line->points) {
		struct hpc_trace_elem e = {point->time_ns, HPC_ROOT_CTX};

		if (point->node != HPC_NONE)
			e.ctxId = number[point->node] + 1;
		if (n &&
		    (elems[n - 1].timestamp == e.timestamp || (!e.ctxId && !elems[n - 1].ctxId)))
			continue;
		elems[n++] = e;
	}
	rc = hpc_trace_put(w, profile, elems, n, err);
	free(elems);
	return rc;
}

int timelines_save(struct timelines *t, int dirfd, enum hpc_layout layout, const uint32_t *number,
		   const uint32_t *profile, uint32_t n_profiles, struct err *err)
{
	uint32_t *line_of_profile = xcalloc((size_t)n_profiles + 1, sizeof(*line_of_profile));
	struct timeline none = {0};
	struct hpc_trace_writer *w = NULL;
	int rc = hpc_trace_create(&w, dirfd, "trace.db", layout, n_profiles, err);

	for (uint32_t i = 0; i < t->v.n; i++)
		line_of_profile[profile[t->v.v[i].identity]] = i + 1;
	for (uint32_t i = 0; i < n_profiles && !rc; i++) {
		uint32_t line = line_of_profile[i];

		rc = put_line(w, line ? &t->v.v[line - 1] : &none, i + 1, number, err);
	}
	free(line_of_profile);
	if (rc) {
		hpc_trace_abandon(w);
		return rc;
	}
	return hpc_trace_finish(w, err);
}
