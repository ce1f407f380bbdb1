/* SPDX-License-Identifier: BSD-2-Clause */
/* See spread.h. */
#include "query/compare/spread.h"

#include <errno.h>
#include <math.h>

static bool counts(const struct set_row *row, unsigned k)
{
	return row->worth[k] == IS_KNOWN || row->worth[k] == IS_AT_LEAST;
}

static struct spread_row spread_of(const struct set_row *row, unsigned n_sets)
{
	struct spread_row r = {.row = row, .least = INFINITY};
	double squares = 0;
	unsigned n_known;

	for (unsigned k = 0; k < n_sets; k++) {
		double a = row->amount[k];

		r.n_unknown += !counts(row, k);
		r.is_least |= row->worth[k] == IS_AT_LEAST || row->worth[k] == IS_UNKNOWN;
		if (!counts(row, k))
			continue;
		r.n += a > 0;
		r.sum += a;
		r.least = fmin(r.least, a);
		r.most = fmax(r.most, a);
	}
	n_known = n_sets - r.n_unknown;
	r.mean = n_known ? r.sum / n_known : 0;
	r.least = n_known ? r.least : 0;
	for (unsigned k = 0; k < n_sets; k++)
		if (counts(row, k))
			squares += (row->amount[k] - r.mean) * (row->amount[k] - r.mean);
	r.deviation = n_known > 1 ? sqrt(squares / (n_known - 1)) : 0;
	r.range = r.sum > 0 ? (r.most - r.least) / r.sum : 0;
	return r;
}

static int by_range(const void *a, const void *b)
{
	const struct spread_row *x = a, *y = b;

	if (x->range != y->range)
		return x->range > y->range ? -1 : 1;
	if (x->sum != y->sum)
		return x->sum > y->sum ? -1 : 1;
	return set_row_compare(x->row, y->row);
}

/* Scales the amounts of each set to the mean one. */
static void make_shares(struct set_rows *r)
{
	double mean = 0;

	for (unsigned k = 0; k < r->n_sets; k++)
		mean += r->sides[k].amount / r->n_sets;
	vec_each (row, &r->rows)
		for (unsigned k = 0; k < r->n_sets; k++)
			row->amount[k] *= r->sides[k].amount > 0 ? mean / r->sides[k].amount : 0;
}

int spread_init(struct spread *s, struct source *const *sets, unsigned n, enum scope_kind level,
		const opt_list *images, bool shares, struct err *err)
{
	int rc;

	*s = (struct spread){.sum = 0};
	rc = set_rows_init(&s->set, sets, n, level, images, err);
	if (rc >= 0 && shares && s->set.kind == ESTIMATE_RATIO)
		rc = err_set(err, -EINVAL, "--shares: '%s' is a ratio, and no share of anything",
			     s->set.name);
	if (rc < 0) {
		set_rows_release(&s->set);
		return rc;
	}
	for (unsigned k = 0; k < n; k++)
		s->sum += s->set.sides[k].amount;
	if (shares)
		make_shares(&s->set);
	vec_each (row, &s->set.rows)
		vec_push(&s->rows, spread_of(row, n));
	vec_sort(&s->rows, by_range);
	return 0;
}

static int by_sum(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x > *y ? -1 : *x < *y;
}

double spread_least_sum(const struct spread *s, double keep_pct)
{
	_vec_ VEC(double) sums = {0};
	double so_far = 0, least = 0, all = 0;

	if (keep_pct >= 100)
		return 0;
	vec_each (r, &s->rows) {
		vec_push(&sums, r->sum);
		all += r->sum;
	}
	vec_sort(&sums, by_sum);
	vec_each (sum, &sums) {
		if (so_far >= keep_pct / 100 * all)
			break;
		so_far += *sum;
		least = *sum;
	}
	return keep_pct > 0 ? least : INFINITY;
}

void spread_release(struct spread *s)
{
	vec_release(&s->rows);
	set_rows_release(&s->set);
}
