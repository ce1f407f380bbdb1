/* SPDX-License-Identifier: BSD-2-Clause */
/* See listing_arrows.h.  Arrows of one lane do not touch, so that what a lane has at a row is found
 * by one binary search. */
#include "query/rows/listing_arrows.h"
#include "base/lower_bound.h"

#include <stdlib.h>
#include <string.h>

#define BRACKETS 3 /* columns; deeper loops share the last */

static int shorter(const void *a, const void *b)
{
	const struct arrow *x = a, *y = b;
	uint32_t n_x = x->hi - x->lo, n_y = y->hi - y->lo;

	if (n_x != n_y)
		return n_x < n_y ? -1 : 1;
	return x->lo < y->lo ? -1 : x->lo > y->lo;
}

/* Number of the first arrow of lane V that ends at row I or below. */
static size_t arrow_at(const struct arrows *a, unsigned lane, uint32_t i)
{
	return lower_bound(k, 0, a->lanes[lane].n, a->lanes[lane].v[k].hi < i);
}

static void place_arrow(struct arrows *a, struct arrow new)
{
	for (unsigned lane = 0; lane < ARROW_LANES; lane++) {
		size_t at = arrow_at(a, lane, new.lo);

		if (at < a->lanes[lane].n && a->lanes[lane].v[at].lo <= new.hi)
			continue;
		vec_push(&a->lanes[lane], new);
		memmove(a->lanes[lane].v + at + 1, a->lanes[lane].v + at,
			(a->lanes[lane].n - 1 - at) * sizeof(new));
		a->lanes[lane].v[at] = new;
		if (a->n_lanes < lane + 1)
			a->n_lanes = lane + 1;
		return;
	}
}

void arrows_init(struct arrows *a, const struct listing *l, unsigned most_lanes)
{
	_vec_ VEC(struct arrow) all = {0};
	uint32_t *number = xcalloc(l->insns.n + 1, sizeof(*number)); /* by target, + 1 */

	*a = (struct arrows){.l = l};
	for (uint32_t i = 0; i < l->insns.n; i++) {
		const struct listing_insn *in = &l->insns.v[i];
		const uint32_t to = in->jumps_to;
		struct arrow *at;

		if (a->n_loops < in->n_loops)
			a->n_loops = in->n_loops < BRACKETS ? in->n_loops : BRACKETS;
		if (to == INSN_NONE || to == i)
			continue;
		if (!number[to]) {
			vec_push(&all, (struct arrow){to, to, to});
			number[to] = (uint32_t)all.n;
		}
		at = &all.v[number[to] - 1];
		at->lo = i < at->lo ? i : at->lo;
		at->hi = i > at->hi ? i : at->hi;
	}
	vec_sort(&all, shorter);
	vec_each (at, &all)
		place_arrow(a, *at);
	if (a->n_lanes > most_lanes)
		a->n_lanes = most_lanes;
	free(number);
}

void arrows_release(struct arrows *a)
{
	for (unsigned lane = 0; lane < ARROW_LANES; lane++)
		vec_release(&a->lanes[lane]);
}

const struct arrow *arrow_over(const struct arrows *a, unsigned lane, uint32_t i)
{
	size_t at = arrow_at(a, lane, i);

	return at < a->lanes[lane].n && a->lanes[lane].v[at].lo <= i ? &a->lanes[lane].v[at] : NULL;
}
