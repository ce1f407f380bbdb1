/* SPDX-License-Identifier: BSD-2-Clause */
/* See branch_rows.h. */
#include "query/samples/branch_rows.h"

static int by_key(const void *x, const void *y)
{
	const struct branch *a = x, *b = y;

	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->to < b->to ? -1 : a->to > b->to;
}

static int by_count(const void *x, const void *y)
{
	const struct branch *a = x, *b = y;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return by_key(x, y);
}

static bool is_wanted(const struct query *q, const struct branch *b, const image_ids *images)
{
	const struct profile *p = q->profile;

	return (!q->wanted || q->wanted[b->owner]) && q->col_of[b->event] < q->n_cols &&
	       (image_ids_want(images, p->places.v[b->from].image) ||
		image_ids_want(images, p->places.v[b->to].image));
}

void branch_rows_gather(const struct query *q, const image_ids *images, branch_rows *ret)
{
	size_t n = 0;

	vec_each (b, &q->profile->branches)
		if (is_wanted(q, b, images))
			vec_push(ret, *b);
	if (!ret->n)
		return;
	qsort(ret->v, ret->n, sizeof(*ret->v), by_key);
	for (size_t i = 1; i < ret->n; i++) {
		struct branch *to = &ret->v[n];
		const struct branch *b = &ret->v[i];

		if (by_key(to, b) != 0) {
			ret->v[++n] = *b;
			continue;
		}
		to->count += b->count;
		to->n_predicted += b->n_predicted;
		to->n_mispredicted += b->n_mispredicted;
		to->cycles += b->cycles;
		to->n_cycles += b->n_cycles;
		to->n_newest += b->n_newest;
		to->n_oldest += b->n_oldest;
		to->n_again += b->n_again;
	}
	ret->n = n + 1;
	qsort(ret->v, ret->n, sizeof(*ret->v), by_count);
}

uint64_t branch_stacks(const struct query *q)
{
	uint64_t n = 0;

	vec_each (b, &q->profile->branches)
		n += is_wanted(q, b, NULL) ? b->n_newest : 0;
	return n;
}
