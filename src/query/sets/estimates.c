/* SPDX-License-Identifier: BSD-2-Clause */
/* See estimates.h.  The formulas are derived in docs/design/sampling.md: a sample stands for
 * `unit` of what it was taken of, and whether one of those is sampled is a matter of chance that is
 * (nearly) Poisson's, so that the variance of a sum over samples is the sum of their squares and
 * the covariance of two sums that of their products. */
#include "query/sets/estimates.h"

#include <math.h>

#define ROUNDING 1e-12 /* of sums of squares, which are whole numbers */

static double sum_at(const double *sums, uint32_t col)
{
	return col == NO_COL ? 0 : sums[col];
}

struct amount {
	double n, variance; /* in samples */
	enum knowledge state;
	bool least_variance;
};

/* Samples for which it is unknown whether they count. */
static double part_open(const struct estimate_part *p, const double *sums)
{
	double open = sum_at(sums, p->open);

	if (p->total != NO_COL)
		open += sums[p->hits] - sums[p->measured];
	return open;
}

/* The sum, or the number of hits, that P has in a row. */
static struct amount part_get(const struct estimate_part *p, bool is_event, const double *sums)
{
	struct amount a = {.state = IS_KNOWN};
	double open, n_known;

	if (is_event) {
		a.n = a.variance = sums[p->event];
		return a;
	}
	open = part_open(p, sums);
	n_known = sums[p->hits];
	a.n = a.variance = n_known;
	if (p->total != NO_COL) {
		n_known = sums[p->measured];
		a.n = sums[p->total];
		a.variance = sum_at(sums, p->squares);
		a.least_variance = true;
	}
	if (p->never || (open > 0 && n_known <= 0))
		a.state = IS_UNKNOWN;
	else if (open > 0)
		a.state = IS_AT_LEAST;
	if (a.state == IS_UNKNOWN)
		a.n = 0;
	return a;
}

double estimate_get(const struct estimate *e, const double *sums, enum knowledge *ret_state)
{
	struct amount a = part_get(&e->part, e->kind == ESTIMATE_EVENT, sums), b;

	*ret_state = a.state;
	if (e->kind != ESTIMATE_RATIO)
		return a.n;
	b = part_get(&e->per, false, sums);
	if (a.state == IS_UNKNOWN || b.state == IS_UNKNOWN) {
		*ret_state = IS_UNKNOWN;
		return 0;
	}
	if (b.n <= 0) {
		*ret_state = IS_NONE;
		return 0;
	}
	if (b.state == IS_AT_LEAST)
		*ret_state = IS_AT_LEAST;
	return a.n * e->part.unit / (b.n * e->per.unit);
}

double estimate_error(const struct estimate *e, const double *sums, enum knowledge *ret_state)
{
	struct amount a = part_get(&e->part, e->kind == ESTIMATE_EVENT, sums), b;
	double r, relative;

	*ret_state = IS_NONE;
	if (a.state == IS_UNKNOWN || a.n <= 0)
		return 0;
	if (e->kind != ESTIMATE_RATIO) {
		*ret_state = a.variance <= 0 ? IS_NONE : a.least_variance ? IS_AT_LEAST : IS_KNOWN;
		return sqrt(a.variance);
	}
	b = part_get(&e->per, false, sums);
	if (b.state == IS_UNKNOWN || b.n <= 0)
		return 0;
	/* Counters of both parts are in different values: their products are not known. */
	if (e->both == NO_COL && e->part.event == e->per.event)
		return 0;
	*ret_state = a.least_variance || b.least_variance ? IS_AT_LEAST : IS_KNOWN;
	r = a.n * e->part.unit / (b.n * e->per.unit);
	relative = a.variance / (a.n * a.n) + b.variance / (b.n * b.n) -
		   2 * sum_at(sums, e->both) / (a.n * b.n);
	/* Nothing is known of values that hold many samples but their mean. */
	if (*ret_state == IS_AT_LEAST && relative < ROUNDING)
		*ret_state = IS_NONE;
	return relative > 0 ? r * sqrt(relative) : 0;
}

double estimate_open(const struct estimate *e, const double *sums)
{
	if (e->kind == ESTIMATE_EVENT)
		return 0;
	return part_open(&e->part, sums) +
	       (e->kind == ESTIMATE_RATIO ? part_open(&e->per, sums) : 0);
}

static bool part_is_empty(const struct estimate_part *p, const double *sums)
{
	return sum_at(sums, p->hits) <= 0 && sum_at(sums, p->open) <= 0;
}

bool estimate_is_empty(const struct estimate *e, const double *sums)
{
	if (e->kind == ESTIMATE_EVENT)
		return sums[e->part.event] <= 0;
	return part_is_empty(&e->part, sums) &&
	       (e->kind != ESTIMATE_RATIO || part_is_empty(&e->per, sums));
}
