/* SPDX-License-Identifier: BSD-2-Clause */
/* See diff.h, and docs/design/comparing.md for what is behind the numbers. */
#include "query/diff.h"

#include <math.h>
#include <stdlib.h>

#include "query/significance.h"

/* As many samples of equal weight as tell as much as the row's of set K. */
static uint64_t effective(const struct diff *d, const struct diff_row *r, unsigned k)
{
	return (uint64_t)llround(r->share[k] * d->set.sides[k].n_effective);
}

/* Sets R->p, not yet adjusted; NaN when the row could not tell anything. */
static void test_row(const struct diff *d, const struct diff_opts *o, struct diff_row *r)
{
	const uint64_t totals[2] = {(uint64_t)llround(d->set.sides[0].n_effective),
				    (uint64_t)llround(d->set.sides[1].n_effective)};
	const double w[2] = {d->set.sides[0].amount / d->set.sides[0].n_effective,
			     d->set.sides[1].amount / d->set.sides[1].n_effective};
	const double share1 = w[1] / (w[0] + w[1]);
	uint64_t n[2] = {effective(d, r, 0), effective(d, r, 1)};
	double least;

	for (unsigned k = 0; k < 2; k++)
		n[k] = n[k] < totals[k] ? n[k] : totals[k];
	least = o->absolute ? two_rates_least_p(n[0], n[1], share1)
			    : two_shares_least_p(n[0], totals[0], n[1], totals[1]);
	r->p = NAN;
	if (d->set.is_time || least >= o->alpha)
		return;
	r->p = o->absolute ? two_rates_p(n[0], n[1], share1)
			   : two_shares_p(n[0], totals[0], n[1], totals[1]);
}

static void test_rows(struct diff *d, const struct diff_opts *o)
{
	double *p = xcalloc(d->rows.n + 1, sizeof(*p));

	for (size_t i = 0; i < d->rows.n; i++) {
		test_row(d, o, &d->rows.v[i]);
		p[i] = d->rows.v[i].p;
		d->n_tested += !isnan(p[i]);
	}
	holm_adjust(p, d->rows.n);
	for (size_t i = 0; i < d->rows.n; i++) {
		struct diff_row *r = &d->rows.v[i];

		/* Too few samples to tell anything are chance, not an open question. */
		r->p = isnan(p[i]) && !d->set.is_time ? 1 : p[i];
		r->is_significant = d->set.is_time ? r->change != 0 : r->p < o->alpha;
	}
	free(p);
}

static void find_changes(struct diff *d, const struct diff_opts *o)
{
	vec_each (row, &d->set.rows) {
		struct diff_row *r = vec_add(&d->rows);

		r->row = row;
		for (unsigned k = 0; k < 2; k++)
			r->share[k] = r->row->amount[k] / d->set.sides[k].amount;
		r->change = o->absolute ? (r->row->amount[1] - r->row->amount[0]) /
						  d->set.sides[0].amount
					: r->share[1] - r->share[0];
	}
}

static int by_change(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;

	if (fabs(x->change) != fabs(y->change))
		return fabs(x->change) > fabs(y->change) ? -1 : 1;
	if (x->row->amount[1] != y->row->amount[1])
		return x->row->amount[1] > y->row->amount[1] ? -1 : 1;
	return set_row_compare(x->row, y->row);
}

int diff_init(struct diff *d, struct query *a, struct query *b, const struct diff_opts *o,
	      struct err *err)
{
	int rc;

	*d = (struct diff){.n_tested = 0};
	rc = set_rows_init(&d->set, (struct query *const[]){a, b}, 2, o->level, o->images, err);
	if (rc)
		return rc;
	find_changes(d, o);
	test_rows(d, o);
	vec_sort(&d->rows, by_change);
	return 0;
}

void diff_release(struct diff *d)
{
	vec_release(&d->rows);
	set_rows_release(&d->set);
}
