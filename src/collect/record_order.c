/* SPDX-License-Identifier: BSD-2-Clause */
/* See record_order.h. */
#include "collect/record_order.h"

/* Merges the runs V[0 .. MID) and V[MID .. N) to TO. */
static void merge(const struct pending_record *v, size_t mid, size_t n, struct pending_record *to)
{
	for (size_t a = 0, b = mid; a < mid || b < n; to++)
		*to = b == n || (a < mid && v[a].time_ns <= v[b].time_ns) ? v[a++] : v[b++];
}

static void find_runs(struct record_order *o)
{
	o->runs.n = 0;
	for (size_t i = 0; i < o->v.n; i++)
		if (!i || o->v.v[i].time_ns < o->v.v[i - 1].time_ns)
			vec_push(&o->runs, i);
}

/* Merges each two runs, so that half as many are left. */
static void merge_runs(struct record_order *o)
{
	const size_t *at = o->runs.v, n = o->v.n;
	struct pending_record *swap = o->v.v;
	const size_t cap = o->v.cap;
	size_t left = 0;

	o->other.n = 0;
	vec_reserve(&o->other, n);
	for (size_t r = 0; r < o->runs.n; r += 2) {
		size_t begin = at[r], mid = r + 1 < o->runs.n ? at[r + 1] : n;
		size_t end = r + 2 < o->runs.n ? at[r + 2] : n;

		merge(o->v.v + begin, mid - begin, end - begin, o->other.v + begin);
		o->runs.v[left++] = begin;
	}
	o->runs.n = left;
	o->n_moved += n;
	o->v.v = o->other.v;
	o->v.cap = o->other.cap;
	o->other.v = swap;
	o->other.cap = cap;
}

void record_order_sort(struct record_order *o)
{
	find_runs(o);
	while (o->runs.n > 1)
		merge_runs(o);
}

void record_order_release(struct record_order *o)
{
	vec_release(&o->v);
	vec_release(&o->other);
	vec_release(&o->runs);
}
