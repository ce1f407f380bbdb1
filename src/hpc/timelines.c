/* SPDX-License-Identifier: BSD-2-Clause */
/* See timelines.h. */
#include "hpc/timelines.h"
#include "hpc/write/trace.h"

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
	uint32_t *number = vec_at(&t->of, identity);

	if (!*number) {
		vec_push(&t->v, (struct timeline){.identity = identity});
		*number = (uint32_t)t->v.n;
	}
	return &t->v.v[*number - 1];
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
		vec_each (point, &trace->points) {
			const uint32_t node = nodes[point->ctx]; /* HPC_NONE of context 0 */

			if (q->col_of[point->event] < q->n_cols &&
			    (!point->ctx || node != HPC_NONE))
				vec_push(&line->points,
					 (struct timeline_point){point->time_ns, node});
		}
		if (line->points.n > before && trace->end_ns)
			vec_push(&line->points, (struct timeline_point){trace->end_ns, HPC_NONE});
	}
}

void timelines_number(struct timelines *t, const uint32_t *number, const uint32_t *profile)
{
	t->of.n = 0;
	for (uint32_t i = 0; i < t->v.n; i++) {
		struct timeline *line = &t->v.v[i];

		line->identity = profile[line->identity];
		*vec_at(&t->of, line->identity) = i + 1;
		vec_each (p, &line->points)
			p->node = p->node == HPC_NONE ? HPC_ROOT_CTX : number[p->node] + 1;
	}
}

void timelines_add_points(struct timelines *t, uint32_t identity,
			  const struct timeline_point *points, size_t n)
{
	struct timeline *line = line_of(t, identity);

	vec_reserve(&line->points, n);
	memcpy(line->points.v + line->points.n, points, n * sizeof(*points));
	line->points.n += n;
}

/* By time.  At one time, what a thread did comes first, and that it does not run last. */
static int by_time(const void *a, const void *b)
{
	const struct timeline_point *x = a, *y = b;

	/* The root, where it does not run, becomes the largest number. */
	uint32_t a_node = x->node - 1, b_node = y->node - 1;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return a_node < b_node ? -1 : a_node > b_node;
}

/* LINE as the file has it, in fresh memory. */
static struct hpc_trace_elem *elems_of(struct timeline *line, size_t *ret_n)
{
	struct hpc_trace_elem *elems = xcalloc(line->points.n + 1, sizeof(*elems));
	size_t n = 0;

	vec_sort(&line->points, by_time);
	vec_each (point, &line->points) {
		const struct hpc_trace_elem e = {point->time_ns, point->node};

		if (n &&
		    (elems[n - 1].timestamp == e.timestamp || (!e.ctxId && !elems[n - 1].ctxId)))
			continue;
		elems[n++] = e;
	}
	*ret_n = n;
	return elems;
}

/* A viewer finds only what meta.db lists (HPCToolkit's traces name the parent of what it leaves
 * out: hpctracedb2.cpp, notifyTimepoints). */
static void leave_instructions(const struct ctx_tree *t, struct hpc_trace_elem *elems, size_t n)
{
	for (size_t i = 0; i < n; i++)
		while (elems[i].ctxId < t->n && (t->flags[elems[i].ctxId] & TREE_INSTRUCTION))
			elems[i].ctxId = t->parent[elems[i].ctxId];
}

static int put_lines(struct timelines *t, const struct timelines_target *to,
		     struct hpc_trace_writer *w, struct err *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < to->n_profiles && rc >= 0; i++) {
		struct hpc_trace_elem *elems = NULL;
		size_t n = 0;

		if (i < t->of.n && t->of.v[i])
			elems = elems_of(&t->v.v[t->of.v[i] - 1], &n);
		else
			rc = to->other(to->user, i, &elems, &n, err);
		if (to->in)
			leave_instructions(to->in, elems, n);
		if (rc >= 0)
			rc = hpc_trace_put(w, i + 1, elems, n, err);
		free(elems);
	}
	return rc;
}

int timelines_save(struct timelines *t, const struct timelines_target *to, struct err *err)
{
	struct hpc_trace_writer *w = NULL;
	int rc = hpc_trace_create(&w, to->dirfd, "trace.db", to->layout, to->n_profiles, err);

	if (rc >= 0)
		rc = put_lines(t, to, w, err);
	if (rc < 0) {
		hpc_trace_abandon(w);
		return rc;
	}
	return hpc_trace_finish(w, err);
}
