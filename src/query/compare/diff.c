/* SPDX-License-Identifier: BSD-2-Clause */
/* See diff.h, and docs/design/comparing.md for what is behind the numbers. */
#include "query/compare/diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "query/compare/significance.h"

/* As many samples of equal weight as tell as much as N of set K's. */
static uint64_t effective(const struct diff *d, unsigned k, double n)
{
	const struct set_side *side = &d->set.sides[k];

	return (uint64_t)llround(n / (double)side->n_samples * side->n_effective);
}

/* What a row may have of both sets. */
struct case_of {
	uint64_t n[2], totals[2];
	double share1; /* of rates */
};

static double work_of(const struct diff_opts *o, unsigned k)
{
	return o->per[k] > 0 ? o->per[k] : 1;
}

/* The case that as much of a row's open samples count as OPEN says of each set. */
static struct case_of case_of(const struct diff *d, const struct diff_opts *o,
			      const struct diff_row *r, const bool open[2])
{
	const double w[2] = {d->set.sides[0].amount / d->set.sides[0].n_effective,
			     d->set.sides[1].amount / d->set.sides[1].n_effective};
	const double rate[2] = {work_of(o, 0) / w[0], work_of(o, 1) / w[1]};
	struct case_of c = {.share1 = rate[0] / (rate[0] + rate[1])};

	for (unsigned k = 0; k < 2; k++) {
		const double more = open[k] ? (double)r->row->open[k] : 0;

		c.totals[k] = effective(d, k, (double)d->set.sides[k].n_samples + more);
		c.n[k] = (uint64_t)llround(r->share[k] * d->set.sides[k].n_effective) +
			 effective(d, k, more);
		c.n[k] = c.n[k] < c.totals[k] ? c.n[k] : c.totals[k];
	}
	return c;
}

static double p_of(const struct case_of *c, const struct diff_opts *o)
{
	return o->absolute ? two_rates_p(c->n[0], c->n[1], c->share1)
			   : two_shares_p(c->n[0], c->totals[0], c->n[1], c->totals[1]);
}

static double least_p_of(const struct case_of *c, const struct diff_opts *o)
{
	return o->absolute ? two_rates_least_p(c->n[0], c->n[1], c->share1)
			   : two_shares_least_p(c->n[0], c->totals[0], c->n[1], c->totals[1]);
}

/* Whether B has more than A. */
static bool has_grown(const struct case_of *c, const struct diff_opts *o)
{
	if (o->absolute)
		return (double)c->n[1] * c->share1 > (double)c->n[0] * (1 - c->share1);
	return (double)c->n[1] * (double)c->totals[0] > (double)c->n[0] * (double)c->totals[1];
}

/* Tests a row some of whose samples may or may not count: each set may have none or all of them.
 * The tests are monotonic.  Chance explains the difference most easily when the set with less has
 * all of its open samples and the other has none, and least easily the other way round. */
static void test_open_row(const struct diff *d, const struct diff_opts *o, struct diff_row *r)
{
	const struct case_of most_b = case_of(d, o, r, (const bool[2]){false, true}),
			     most_a = case_of(d, o, r, (const bool[2]){true, false}),
			     most = case_of(d, o, r, (const bool[2]){true, true});

	if (least_p_of(&most, o) >= o->alpha)
		return;
	r->may_be_significant = p_of(&most_a, o) < o->alpha || p_of(&most_b, o) < o->alpha;
	if (has_grown(&most_a, o)) /* whatever of the open ones counts */
		r->p = p_of(&most_a, o);
	else if (!has_grown(&most_b, o))
		r->p = p_of(&most_b, o);
	else
		r->p = 1;
}

/* A smaller change, as a share of all, is what adding up in another order makes. */
#define ROUNDING 1e-9

/* Values of metrics, and times, are no counts of samples: what chance does to them is unknown. */
static bool has_no_test(const struct diff *d)
{
	return *d->set.measures || d->set.is_metric;
}

/* Sets R->p, not yet adjusted; NaN when the row could not tell anything. */
static void test_row(const struct diff *d, const struct diff_opts *o, struct diff_row *r)
{
	const struct case_of known = case_of(d, o, r, (const bool[2]){false, false});

	r->p = NAN;
	if (has_no_test(d))
		return;
	if (r->row->open[0] || r->row->open[1])
		test_open_row(d, o, r);
	else if (least_p_of(&known, o) < o->alpha)
		r->p = p_of(&known, o);
}

/* What chance does to samples is only a part of what makes hosts differ: of the rows whose samples
 * differ, those stay whose hosts do. */
static void test_hosts_of_rows(struct diff *d, const struct diff_opts *o)
{
	const double work[] = {work_of(o, 0), work_of(o, 1)};
	double *p = xcalloc(d->set.rows.n + 1, sizeof(*p));
	bool *wanted = xcalloc(d->set.rows.n + 1, sizeof(*wanted));

	set_hosts_init(&d->hosts, &d->set);
	for (size_t i = 0; i < d->rows.n; i++)
		wanted[i] = d->rows.v[i].p < o->alpha;
	if (d->hosts.test != HOSTS_NO_TEST)
		set_hosts_test(&d->hosts, &d->set, wanted, o->absolute, work, p);
	for (size_t i = 0; i < d->rows.n && d->hosts.test != HOSTS_NO_TEST; i++)
		if (wanted[i])
			d->rows.v[i].p = fmax(d->rows.v[i].p, p[i]);
	free(wanted);
	free(p);
}

static void test_rows(struct diff *d, const struct diff_opts *o)
{
	double *p = xcalloc(d->rows.n + 1, sizeof(*p));

	for (size_t i = 0; i < d->rows.n; i++) {
		test_row(d, o, &d->rows.v[i]);
		d->n_tested += !isnan(d->rows.v[i].p);
	}
	test_hosts_of_rows(d, o);
	for (size_t i = 0; i < d->rows.n; i++)
		p[i] = d->rows.v[i].p;
	holm_adjust(p, d->rows.n);
	for (size_t i = 0; i < d->rows.n; i++) {
		struct diff_row *r = &d->rows.v[i];

		/* Too few samples to tell anything are chance, not an open question. */
		r->p = isnan(p[i]) && !has_no_test(d) ? 1 : p[i];
		r->is_significant = has_no_test(d) ? fabs(r->change) > ROUNDING : r->p < o->alpha;
		r->may_be_significant &= !r->is_significant;
	}
	free(p);
}

/* How much more of A the row may have, as changes are told. */
static double most_more_of_a(const struct diff *d, const struct diff_row *r,
			     const struct diff_opts *o)
{
	const double open = (double)r->row->open[0], n = (double)d->set.sides[0].n_samples;

	if (d->set.is_metric)
		return 0;
	return o->absolute ? open / n : (r->share[0] * n + open) / (n + open) - r->share[0];
}

static void find_changes(struct diff *d, const struct diff_opts *o)
{
	vec_each (row, &d->set.rows) {
		struct diff_row *r = vec_add(&d->rows);

		r->row = row;
		for (unsigned k = 0; k < 2; k++)
			r->share[k] = r->row->amount[k] / d->set.sides[k].amount;
		r->change = o->absolute ? (r->row->amount[1] * work_of(o, 0) / work_of(o, 1) -
					   r->row->amount[0]) /
						  d->set.sides[0].amount
					: r->share[1] - r->share[0];
		r->least_growth = r->change - most_more_of_a(d, r, o);
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

/* Whether D has what there is a test of. */
static int diff_check(const struct diff *d, struct err *err)
{
	if (d->set.kind == ESTIMATE_TOTAL || d->set.kind == ESTIMATE_RATIO)
		return err_set(err, -EINVAL,
			       "'%s': how many samples are in a set is compared, as in 'retired'; "
			       "there is no test of %s, but `dwell stats --pm` has their spread",
			       d->set.name, d->set.kind == ESTIMATE_RATIO ? "ratios" : "counters");
	for (unsigned k = 0; k < 2; k++)
		if (!d->set.is_metric && !d->set.sides[k].n_samples)
			return err_set(err, -ENOENT,
				       "the %s set has no samples that are known to be in %s%s",
				       k ? "second" : "first", d->set.name,
				       d->set.sides[k].is_unknown ? ", though some may be" : "");
	return 0;
}

int diff_init(struct diff *d, struct source *a, struct source *b, const struct diff_opts *o,
	      struct err *err)
{
	int rc;

	*d = (struct diff){.n_tested = 0};
	rc = set_rows_init(&d->set, (struct source *const[]){a, b}, 2, o->level, o->images, err);
	if (rc < 0)
		return rc;
	rc = diff_check(d, err);
	if (rc < 0) {
		set_rows_release(&d->set);
		return rc;
	}
	find_changes(d, o);
	test_rows(d, o);
	vec_sort(&d->rows, by_change);
	return 0;
}

void diff_release(struct diff *d)
{
	set_hosts_release(&d->hosts);
	vec_release(&d->rows);
	set_rows_release(&d->set);
}
