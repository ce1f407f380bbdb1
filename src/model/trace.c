/* SPDX-License-Identifier: BSD-2-Clause */
/* See trace.h.  A line's points are an array that doubles; trace_bytes counts capacity, so that the
 * bound is kept whatever was appended. */
#include "model/trace.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* What a line takes beyond its points: itself and its slots in an index of load 3/8 to 3/4. */
#define LINE_BYTES (sizeof(struct trace) + 2 * sizeof(struct index_slot))

static bool trace_same(const void *owner, uint32_t i, const void *key)
{
	const struct trace *a = &((const struct profile *)owner)->traces.v[i], *b = key;

	return a->owner == b->owner && a->pid == b->pid && a->tid == b->tid &&
	       a->start_ns == b->start_ns;
}

static uint64_t trace_hash_of(const struct trace *t)
{
	return hash_pair(hash_pair((uint64_t)t->pid << 32 | t->tid, t->owner), t->start_ns);
}

static bool has_room(const struct profile *p, size_t more)
{
	return !p->trace_bytes_max || p->trace_bytes + more <= p->trace_bytes_max;
}

trace_id profile_intern_trace(struct profile *p, const struct trace *key)
{
	uint64_t h = trace_hash_of(key);
	trace_id i = index_find(&p->trace_ix, h, trace_same, p, key);
	struct trace *t;

	assert(key->owner < p->owners.n);
	if (i == INDEX_NONE && !has_room(p, LINE_BYTES)) {
		p->traces.v[0].n_dropped += key->n_dropped;
		return 0;
	}
	if (i == INDEX_NONE) {
		i = (trace_id)p->traces.n;
		vec_push(&p->traces, (struct trace){.owner = key->owner,
						    .pid = key->pid,
						    .tid = key->tid,
						    .start_ns = key->start_ns});
		index_add(&p->trace_ix, h, i);
		p->trace_bytes += LINE_BYTES;
	}
	t = &p->traces.v[i];
	if (key->end_ns > t->end_ns)
		t->end_ns = key->end_ns;
	t->n_dropped += key->n_dropped;
	return i;
}

void trace_add_point(struct profile *p, trace_id id, const struct trace_point *point)
{
	struct trace *t = &p->traces.v[id];

	assert(point->ctx < p->ctxs.n && point->event < p->events.n);
	if (t->points.n == t->points.cap) {
		size_t more = t->points.cap ? t->points.cap : 4;

		if (!id || !has_room(p, more * sizeof(*point))) {
			t->n_dropped++;
			return;
		}
		t->points.cap += more;
		t->points.v = xrealloc(t->points.v, t->points.cap, sizeof(*point));
		p->trace_bytes += more * sizeof(*point);
	}
	t->points.v[t->points.n++] = *point;
}

static int by_time(const void *a, const void *b)
{
	const struct trace_point *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	return x->ctx < y->ctx ? -1 : x->ctx > y->ctx;
}

void trace_sort(struct profile *p)
{
	vec_each (t, &p->traces)
		vec_sort(&t->points, by_time);
}

void trace_move(struct profile *p, int64_t by_ns)
{
	const uint64_t by = (uint64_t)by_ns;

	vec_each (t, &p->traces) {
		/* 0 is unknown; nothing else comes to BY. */
		if (t->start_ns)
			t->start_ns = t->start_ns + by ? t->start_ns + by : by;
		t->end_ns += t->end_ns ? by : 0;
		vec_each (point, &t->points)
			point->time_ns += by;
	}
	/* When a line starts is a part of its key. */
	index_clear(&p->trace_ix);
	vec_each (t, &p->traces)
		index_add(&p->trace_ix, trace_hash_of(t), (trace_id)(t - p->traces.v));
}

uint64_t trace_n_points(const struct profile *p)
{
	uint64_t n = 0;

	vec_each (t, &p->traces)
		n += t->points.n;
	return n;
}

uint64_t trace_n_dropped(const struct profile *p)
{
	uint64_t n = 0;

	vec_each (t, &p->traces)
		n += t->n_dropped;
	return n;
}

bool trace_says(const struct profile *p, const struct trace *t)
{
	return t != p->traces.v || t->n_dropped || t->end_ns;
}

void trace_merge(struct profile *dst, const struct profile *src, const struct profile_map *m)
{
	vec_each (t, &src->traces) {
		struct trace key = *t;
		trace_id to;

		if (!trace_says(src, t))
			continue;
		key.owner = m->owners[t->owner];
		to = profile_intern_trace(dst, &key);
		vec_each (point, &t->points)
			trace_add_point(dst, to,
					&(struct trace_point){point->time_ns, m->ctxs[point->ctx],
							      m->events[point->event]});
	}
}

void trace_release(struct profile *p)
{
	vec_each (t, &p->traces)
		vec_release(&t->points);
	vec_release(&p->traces);
	index_release(&p->trace_ix);
	p->trace_bytes = 0;
}

void trace_reset(struct profile *p)
{
	const struct trace nobody = {0};

	trace_release(p);
	vec_push(&p->traces, nobody);
	index_add(&p->trace_ix, trace_hash_of(&nobody), 0);
}

void trace_check(const struct profile *p)
{
	size_t n_bytes = 0;

	assert(p->traces.n && p->traces.n == p->trace_ix.n && !p->traces.v[0].points.n);
	vec_each (t, &p->traces) {
		assert(t->owner < p->owners.n);
		assert(index_find(&p->trace_ix, trace_hash_of(t), trace_same, p, t) ==
		       t - p->traces.v);
		vec_each (point, &t->points)
			assert(point->ctx < p->ctxs.n && point->event < p->events.n);
		n_bytes += t->points.cap * sizeof(*t->points.v);
	}
	assert(p->trace_bytes == n_bytes + (p->traces.n - 1) * LINE_BYTES);
}
