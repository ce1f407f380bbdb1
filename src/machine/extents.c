/* SPDX-License-Identifier: BSD-2-Clause */
/* See extents.h.  Invariant: sorted, disjoint, and joined wherever two pieces touch. */
#include "machine/extents.h"
#include "base/lower_bound.h"

#include <assert.h>

/* Number of pieces that begin at or before AT. */
static size_t extents_upper(const struct extents *e, uint32_t at)
{
	return lower_bound(k, 0, e->v.n, e->v.v[k].at <= at);
}

static void extents_drop(struct extents *e, size_t i)
{
	memmove(&e->v.v[i], &e->v.v[i + 1], (e->v.n - i - 1) * sizeof(*e->v.v));
	e->v.n--;
}

void extents_give(struct extents *e, uint32_t at, uint32_t n)
{
	size_t i = extents_upper(e, at);
	struct extent *before = i ? &e->v.v[i - 1] : NULL;
	struct extent *behind = i < e->v.n ? &e->v.v[i] : NULL;

	assert(n && (!before || before->at + before->n <= at) && (!behind || at + n <= behind->at));
	e->n_free += n;
	if (before && before->at + before->n == at) {
		before->n += n;
		if (behind && at + n == behind->at) {
			before->n += behind->n;
			extents_drop(e, i);
		}
		return;
	}
	if (behind && at + n == behind->at) {
		behind->at = at;
		behind->n += n;
		return;
	}
	vec_reserve(&e->v, 1);
	memmove(&e->v.v[i + 1], &e->v.v[i], (e->v.n - i) * sizeof(*e->v.v));
	e->v.v[i] = (struct extent){.at = at, .n = n};
	e->v.n++;
}

bool extents_take(struct extents *e, uint32_t n, uint32_t *ret_at)
{
	vec_each (x, &e->v) {
		if (x->n < n)
			continue;
		*ret_at = x->at;
		x->at += n;
		x->n -= n;
		e->n_free -= n;
		if (!x->n)
			extents_drop(e, (size_t)(x - e->v.v));
		return true;
	}
	return false;
}

bool extents_fit(const struct extents *e, uint32_t n)
{
	vec_each (x, &e->v)
		if (x->n >= n)
			return true;
	return false;
}

struct extents extents_copy(const struct extents *e)
{
	struct extents copy = {.n_free = e->n_free};

	vec_each (x, &e->v)
		vec_push(&copy.v, *x);
	return copy;
}

void extents_release(struct extents *e)
{
	vec_release(&e->v);
	e->n_free = 0;
}
