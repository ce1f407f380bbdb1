/* SPDX-License-Identifier: BSD-2-Clause */
/* See thread_lines.h. */
#include "query/rows/thread_lines.h"

#include <string.h>

uint64_t thread_lines_stretch(const struct thread_lines *t, unsigned n, unsigned i)
{
	const uint64_t length = t->to_ns - t->from_ns;

	return t->from_ns + length / n * i + length % n * i / n;
}

/* The first of L's points in the range at or after TIME_NS. */
static uint64_t point_at(const struct thread_lines *t, const struct thread_line *l,
			 uint64_t time_ns)
{
	uint64_t lo = l->first, hi = l->first + l->n;

	while (lo < hi) {
		uint64_t mid = lo + (hi - lo) / 2;

		if (t->ops->time(l, mid) < time_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

uint64_t thread_lines_density(const struct thread_lines *t, const struct thread_line *l, unsigned n,
			      uint64_t *ret)
{
	uint64_t most = 0, at = point_at(t, l, t->from_ns);

	memset(ret, 0, n * sizeof(*ret));
	for (unsigned i = 0; i < n; i++) {
		uint64_t end = point_at(t, l, thread_lines_stretch(t, n, i + 1));

		if (!t->ops->wants)
			ret[i] = end - at;
		for (; t->ops->wants && at < end; at++)
			ret[i] += t->ops->wants(t, l, at);
		at = end;
		most = ret[i] > most ? ret[i] : most;
	}
	return most;
}

void thread_lines_release(struct thread_lines *t)
{
	if (t->ops && t->ops->release)
		t->ops->release(t);
	vec_release(&t->lines);
	arena_release(&t->arena);
	*t = (struct thread_lines){0};
}
