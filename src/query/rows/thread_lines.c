/* SPDX-License-Identifier: BSD-2-Clause */
/* See thread_lines.h. */
#include "query/rows/thread_lines.h"
#include "base/lower_bound.h"

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
	return lower_bound(k, l->first, l->first + l->n, t->ops->time(l, k) < time_ns);
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

static bool is_wanted(const struct thread_lines *t, const struct thread_line *l, uint64_t i)
{
	return !t->ops->wants || t->ops->wants(t, l, i);
}

static bool is_block(const struct thread_lines *t, const struct thread_line *l, uint64_t i)
{
	return t->ops->is_block && t->ops->is_block(t, l, i);
}

uint64_t thread_lines_stretches(const struct thread_lines *t, const struct thread_line *l,
				unsigned n, struct thread_stretch *ret)
{
	uint64_t most = 0, at = l->first + l->n;
	bool blocks = false; /* the next point that is known is the end of a block */

	memset(ret, 0, n * sizeof(*ret));
	for (unsigned i = n; i-- > 0;) {
		struct thread_stretch *s = &ret[i];
		const uint64_t begin = thread_lines_stretch(t, n, i);
		bool any_block = false;

		for (; at > l->first && t->ops->time(l, at - 1) >= begin; at--) {
			if (!is_wanted(t, l, at - 1))
				continue;
			blocks = is_block(t, l, at - 1);
			any_block |= blocks;
			s->n_ran += !blocks;
		}
		s->is_there = l->start_ns < thread_lines_stretch(t, n, i + 1) && l->end_ns > begin;
		s->is_blocked = !s->n_ran && s->is_there && (any_block || blocks);
		most = s->n_ran > most ? s->n_ran : most;
	}
	return most;
}

static int by_heat(const void *a, const void *b)
{
	const struct thread_line *x = a, *y = b;

	if (x->n_ran != y->n_ran)
		return x->n_ran > y->n_ran ? -1 : 1;
	if (x->n_points != y->n_points)
		return x->n_points > y->n_points ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->born_ns != y->born_ns)
		return x->born_ns < y->born_ns ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

void thread_lines_sort(struct thread_lines *t)
{
	vec_each (l, &t->lines) {
		l->n_ran = 0;
		for (uint64_t i = l->first; t->ops->is_block && i < l->first + l->n; i++)
			l->n_ran += is_wanted(t, l, i) && !is_block(t, l, i);
		if (!t->ops->is_block)
			l->n_ran = l->n_points;
	}
	vec_sort(&t->lines, by_heat);
}

static int by_time(const void *a, const void *b)
{
	const struct thread_line_at *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->i < y->i ? -1 : x->i > y->i;
}

void thread_lines_points(const struct thread_lines *t, thread_line_points *ret)
{
	vec_each (l, &t->lines)
		for (uint64_t i = l->first; i < l->first + l->n; i++)
			if (!t->ops->wants || t->ops->wants(t, l, i))
				vec_push(ret, (struct thread_line_at){t->ops->time(l, i), i, l});
	vec_sort(ret, by_time);
}

void thread_lines_release(struct thread_lines *t)
{
	if (t->ops && t->ops->release)
		t->ops->release(t);
	vec_release(&t->lines);
	arena_release(&t->arena);
	*t = (struct thread_lines){0};
}
