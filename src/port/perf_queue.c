/* SPDX-License-Identifier: BSD-2-Clause */
/* See perf_queue.h.
 *
 * Each CPU's records come in order, so what waits is a few ascending runs: they are merged, two by
 * two, when some of it goes out.  Merging is stable: records of the same time
 * go out as they came. */
#include "port/perf_queue.h"

#include <stdlib.h>
#include <string.h>

#include "port/perf_stream.h"

void perf_queue_init(struct perf_queue *q,
		     int (*put)(void *ctx, const uint8_t *p, uint64_t off, struct err *err),
		     void *ctx)
{
	*q = (struct perf_queue){.put = put, .ctx = ctx};
}

struct perf_chunk *perf_chunk_of(const uint8_t *p)
{
	return (struct perf_chunk *)((uintptr_t)p & ~(uintptr_t)(PERF_CHUNK_BYTES - 1));
}

struct perf_chunk *perf_chunk_new(struct perf_queue *q)
{
	struct perf_chunk *c = q->free;

	if (c)
		q->free = c->next;
	else
		c = aligned_alloc(PERF_CHUNK_BYTES, PERF_CHUNK_BYTES);
	if (!c)
		abort();
	c->n_refs = 1;
	return c;
}

void perf_chunk_unref(struct perf_queue *q, struct perf_chunk *c)
{
	if (--c->n_refs)
		return;
	c->next = q->free;
	q->free = c;
}

void perf_queue_release(struct perf_queue *q)
{
	vec_each (w, &q->v)
		perf_chunk_unref(q, perf_chunk_of(w->p));
	while (q->free) {
		struct perf_chunk *next = q->free->next;

		free(q->free);
		q->free = next;
	}
	vec_release(&q->v);
	vec_release(&q->spare);
	vec_release(&q->runs);
}

/* Merges the runs [A, B) and [B, C) of FROM into TO. */
static void perf_queue_merge(const struct perf_waiting *from, struct perf_waiting *to, size_t a,
			     size_t b, size_t c)
{
	size_t i = a, k = b;

	for (size_t at = a; at < c; at++)
		to[at] = k == c || (i < b && from[i].time <= from[k].time) ? from[i++] : from[k++];
}

static void perf_queue_sort(struct perf_queue *q)
{
	while (q->runs.n > 1) {
		struct perf_waiting *from = q->v.v;
		size_t n_runs = 0, cap = q->v.cap;

		q->spare.n = 0;
		vec_reserve(&q->spare, q->v.n);
		for (size_t i = 0; i < q->runs.n; i += 2) {
			size_t a = q->runs.v[i];
			size_t b = i + 1 < q->runs.n ? q->runs.v[i + 1] : q->v.n;
			size_t c = i + 2 < q->runs.n ? q->runs.v[i + 2] : q->v.n;

			perf_queue_merge(from, q->spare.v, a, b, c);
			q->runs.v[n_runs++] = a;
		}
		q->runs.n = n_runs;
		q->v.v = q->spare.v;
		q->v.cap = q->spare.cap;
		q->spare.v = from;
		q->spare.cap = cap;
	}
}

int perf_queue_flush(struct perf_queue *q, uint64_t limit, struct err *err)
{
	size_t n = 0;
	int rc = 0;

	perf_queue_sort(q);
	while (n < q->v.n && q->v.v[n].time <= limit && rc >= 0) {
		const struct perf_waiting w = q->v.v[n++];
		struct perf_chunk *c = perf_chunk_of(w.p);

		rc = q->put(q->ctx, w.p, w.off, err);
		q->gone_out = w.time;
		q->n_bytes -= w.n + sizeof(w);
		perf_chunk_unref(q, c);
	}
	if (n < q->v.n)
		memmove(q->v.v, q->v.v + n, (q->v.n - n) * sizeof(*q->v.v));
	q->v.n -= n;
	q->runs.n = 0;
	if (q->v.n)
		vec_push(&q->runs, 0);
	return rc;
}

static int flush_half(struct perf_queue *q, struct err *err)
{
	uint64_t limit;

	q->forced = true;
	perf_queue_sort(q);
	limit = q->v.v[q->v.n / 2].time;
	return perf_queue_flush(q, limit, err);
}

int perf_queue_add(struct perf_queue *q, struct perf_chunk *c, uint64_t time, const uint8_t *p,
		   size_t n, uint64_t off, struct err *err)
{
	if (time < q->gone_out)
		q->n_late++;
	if (!q->v.n || time < q->v.v[q->v.n - 1].time)
		vec_push(&q->runs, q->v.n);
	vec_push(&q->v, (struct perf_waiting){time, p, off, n});
	c->n_refs++;
	q->newest = time > q->newest ? time : q->newest;
	q->n_bytes += n + sizeof(struct perf_waiting);
	q->most_bytes = q->n_bytes > q->most_bytes ? q->n_bytes : q->most_bytes;
	return q->n_bytes > PERF_STREAM_MOST_BYTES ? flush_half(q, err) : 0;
}

int perf_queue_round(struct perf_queue *q, struct err *err)
{
	int rc = perf_queue_flush(q, q->before, err);

	q->before = q->newest;
	return rc;
}

int perf_queue_end(struct perf_queue *q, struct err *err)
{
	return perf_queue_flush(q, UINT64_MAX, err);
}
