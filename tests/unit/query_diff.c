/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether differences are chance: exact tests against sums over all outcomes, and simulated
 * recordings. */
#include "query/compare/diff.h"
#include "query/samples/source.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "model/fact.h"
#include "query/compare/significance.h"
#include "t.h"

/* --- the tests by themselves --- */

static double choose(unsigned n, unsigned k)
{
	double c = 1;

	if (k > n)
		return 0;
	for (unsigned i = 0; i < k; i++)
		c = c * (n - i) / (i + 1);
	return c;
}

/* Twice the smaller tail, by the formula, over all outcomes. */
static double shares_by_hand(unsigned n1, unsigned total1, unsigned n2, unsigned total2)
{
	unsigned n = n1 + n2;
	double below = 0, above = 0;

	for (unsigned k = 0; k <= n && k <= total1; k++) {
		double p = choose(total1, k) * choose(total2, n - k) / choose(total1 + total2, n);

		below += k <= n1 ? p : 0;
		above += k >= n1 ? p : 0;
	}
	return fmin(1, 2 * fmin(below, above));
}

static double rates_by_hand(unsigned n1, unsigned n2, double share1)
{
	unsigned n = n1 + n2;
	double below = 0, above = 0;

	for (unsigned k = 0; k <= n; k++) {
		double p = choose(n, k) * pow(share1, k) * pow(1 - share1, n - k);

		below += k <= n1 ? p : 0;
		above += k >= n1 ? p : 0;
	}
	return fmin(1, 2 * fmin(below, above));
}

static bool close_to(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b)) + 1e-300;
}

TEST(the_tests_are_exact)
{
	struct t_rng r = {7};

	for (unsigned i = 0; i < t_cases(2000); i++) {
		unsigned total1 = 1 + (unsigned)t_below(&r, 60),
			 total2 = 1 + (unsigned)t_below(&r, 60);
		unsigned n1 = (unsigned)t_below(&r, total1 + 1),
			 n2 = (unsigned)t_below(&r, total2 + 1);
		double share = 0.05 + 0.9 * (double)t_below(&r, 1000) / 1000;

		EXPECT(close_to(two_shares_p(n1, total1, n2, total2),
				shares_by_hand(n1, total1, n2, total2)));
		EXPECT(close_to(two_rates_p(n1, n2, share), rates_by_hand(n1, n2, share)));
		EXPECT(two_shares_least_p(n1, total1, n2, total2) <=
		       two_shares_p(n1, total1, n2, total2) * (1 + 1e-9));
		EXPECT(two_rates_least_p(n1, n2, share) <= two_rates_p(n1, n2, share) * (1 + 1e-9));
	}
}

TEST(large_counts_are_as_the_normal_distribution_says)
{
	/* Shares of 1/100 and 1/100 + three standard deviations, of a billion samples each. */
	const double n = 1e9, p = 0.01, sd = sqrt(2 * p * (1 - p) / n);
	double got = two_shares_p((uint64_t)(n * p), (uint64_t)n, (uint64_t)(n * (p + 3 * sd)),
				  (uint64_t)n);

	EXPECT(fabs(got / erfc(3 / sqrt(2)) - 1) < 0.01);
	EXPECT(two_shares_p(1000000000, 1000000000000, 1000000000, 1000000000000) > 0.99);
	EXPECT(two_rates_p(1000000000, 1001000000, 0.5) < 1e-9);
}

TEST(holm)
{
	double p[] = {0.04, 0.01, NAN, 0.02, 0.9};

	holm_adjust(p, 5);
	EXPECT(close_to(p[1], 0.04)); /* 4 tests */
	EXPECT(close_to(p[3], 0.06)); /* 3 */
	EXPECT(close_to(p[0], 0.08)); /* 2 */
	EXPECT(close_to(p[4], 0.9));
	EXPECT(isnan(p[2]));
	holm_adjust(NULL, 0);
}

/* --- whole sets, of images without symbols --- */

#define N_ROWS 200

struct world {
	struct profile p[2];
	struct query q[2];
	struct resolver *r;
	event_id events[2];
	struct source *s[2];
};

static void world_begin(struct world *w, uint64_t period_b)
{
	const struct resolver_opts ro = {.proc_dir = "/nonexistent", .sys_dir = "/nonexistent"};

	w->r = resolver_new(&ro);
	for (unsigned k = 0; k < 2; k++) {
		w->s[k] = NULL;
		profile_init(&w->p[k]);
		w->events[k] = profile_intern_event(
			&w->p[k], &(struct event){.name = profile_intern_str(&w->p[k], "cycles"),
						  .period = k ? period_b : 1000});
	}
}

static void world_add(struct world *w, unsigned k, unsigned row, uint64_t n)
{
	char path[32];
	image_id im;

	snprintf(path, sizeof(path), "/nonexistent/%u", row);
	im = profile_intern_image(&w->p[k], &(struct image){.kind = IMAGE_FILE, .path = path});
	profile_add_value(
		&w->p[k],
		&(struct value){.ctx = profile_flat_ctx(&w->p[k],
							profile_intern_place(&w->p[k], im, 16, 0)),
				.event = w->events[k],
				.count = n});
}

static int world_open(struct world *w, unsigned k, const struct select *s, struct err *err)
{
	int rc = query_init(&w->q[k], &w->p[k], w->r, s, err);

	return rc ? rc : samples_source_of(&w->s[k], &w->q[k], NULL, err);
}

static bool world_compare(struct world *w, const struct diff_opts *o, struct diff *d)
{
	const struct select s = {0};
	struct err err = {0};
	int rc = 0;

	for (unsigned k = 0; k < 2 && !rc; k++)
		rc = world_open(w, k, &s, &err);
	if (!rc)
		rc = diff_init(d, w->s[0], w->s[1], o, &err);
	if (rc)
		t_fail_("%s", err.msg);
	return rc == 0;
}

static void world_close(struct world *w)
{
	for (unsigned k = 0; k < 2; k++) {
		source_close(w->s[k]);
		w->s[k] = NULL;
		query_release(&w->q[k]);
	}
}

static void world_end(struct world *w)
{
	world_close(w);
	for (unsigned k = 0; k < 2; k++) {
		profile_release(&w->p[k]);
	}
	resolver_free(w->r);
}

static const struct diff_opts by_image = {.level = SCOPE_IMAGE, .alpha = 0.05};

/* Poisson's, by counting exponential gaps. */
static uint64_t poisson(struct t_rng *r, double mean)
{
	double at = 0;

	for (uint64_t n = 0;; n++) {
		at -= log(((double)t_below(r, 1u << 30) + 0.5) / (double)(1u << 30));
		if (at > mean)
			return n;
	}
}

/* Simulates two recordings of N_ROWS rows with means falling from 300, the second LONGER times as
 * long; row 20 has GROWTH times its share.  Says how many rows came out significant. */
static unsigned simulate(struct t_rng *r, double longer, double growth, bool absolute,
			 bool *ret_found)
{
	struct diff_opts o = by_image;
	struct world w;
	struct diff d;
	unsigned n = 0;

	o.absolute = absolute;
	world_begin(&w, 1000);
	for (unsigned row = 0; row < N_ROWS; row++)
		for (unsigned k = 0; k < 2; k++)
			world_add(&w, k, row,
				  poisson(r, 300.0 / (1 + row) * (k ? longer : 1) *
						     (k && row == 20 ? growth : 1)));
	*ret_found = false;
	if (world_compare(&w, &o, &d)) {
		vec_each (row, &d.rows) {
			n += row->is_significant;
			*ret_found |= row->is_significant &&
				      strcmp(row->row->image, "/nonexistent/20") == 0;
		}
		diff_release(&d);
	}
	world_end(&w);
	return n;
}

TEST(noise_is_no_change)
{
	const unsigned n = t_cases(400);
	struct t_rng r = {11};
	unsigned shown[2] = {0};
	bool found;

	for (unsigned i = 0; i < n; i++) {
		shown[0] += simulate(&r, 1.5, 1, false, &found) > 0;
		shown[1] += simulate(&r, 1, 1, true, &found) > 0;
	}
	/* At most one in twenty, and four standard deviations of that. */
	for (unsigned k = 0; k < 2; k++)
		EXPECT(shown[k] <= 0.05 * n + 4 * sqrt(0.05 * 0.95 * n));
}

TEST(a_change_is_found)
{
	const unsigned n = t_cases(50);
	struct t_rng r = {13};
	unsigned n_found = 0, n_others = 0;
	bool found;

	for (unsigned i = 0; i < n; i++) {
		unsigned all = simulate(&r, 2, 6, false, &found);

		n_found += found;
		n_others += all > found;
	}
	EXPECT(n_found >= n - n / 20);
	EXPECT(n_others <= 0.05 * n + 4 * sqrt(0.05 * 0.95 * n));
}

TEST(a_set_is_no_different_from_itself)
{
	struct world w;
	struct diff d;

	world_begin(&w, 1000);
	for (unsigned row = 0; row < 50; row++)
		for (unsigned k = 0; k < 2; k++)
			world_add(&w, k, row, 7 * row + 1);
	REQUIRE(world_compare(&w, &by_image, &d));
	EXPECT_EQ(d.rows.n, 50);
	vec_each (row, &d.rows) {
		EXPECT(row->change == 0);
		EXPECT(row->p == 1);
		EXPECT(!row->is_significant);
	}
	diff_release(&d);
	world_end(&w);
}

TEST(amounts_count_not_samples)
{
	struct diff_opts o = by_image;
	struct world w;
	struct diff d;

	/* Half the period, twice the samples: the same amount. */
	o.absolute = true;
	world_begin(&w, 500);
	world_add(&w, 0, 1, 1000);
	world_add(&w, 1, 1, 2000);
	world_add(&w, 0, 2, 1000);
	world_add(&w, 1, 2, 4000);
	REQUIRE(world_compare(&w, &o, &d));
	REQUIRE(d.rows.n == 2);
	EXPECT_STR(d.rows.v[0].row->image, "/nonexistent/2");
	EXPECT(d.rows.v[0].is_significant);
	EXPECT(close_to(d.rows.v[0].change, 0.5));
	EXPECT(d.rows.v[1].change == 0 && d.rows.v[1].p == 1);
	diff_release(&d);
	world_end(&w);
}

TEST(rows_of_few_samples_do_not_hide_others)
{
	struct world w;
	struct diff d;

	world_begin(&w, 1000);
	world_add(&w, 0, 0, 1000);
	world_add(&w, 1, 0, 1000);
	world_add(&w, 0, 1, 10);
	world_add(&w, 1, 1, 40);
	for (unsigned row = 2; row < 2000; row++)
		world_add(&w, row % 2, row, 1);
	REQUIRE(world_compare(&w, &by_image, &d));
	EXPECT_EQ(d.rows.n, 2000);
	EXPECT_EQ(d.n_tested, 2);
	vec_each (row, &d.rows)
		EXPECT(row->is_significant == (strcmp(row->row->image, "/nonexistent/1") == 0));
	diff_release(&d);
	world_end(&w);
}

/* --- sample sets --- */

/* Adds N samples of a row: RETIRED 1 yes, 0 no, -1 unknown. */
static void world_add_facts(struct world *w, unsigned k, unsigned row, int retired, uint64_t n)
{
	struct sample_facts facts = {0};
	char path[32];
	image_id im;

	snprintf(path, sizeof(path), "/nonexistent/%u", row);
	im = profile_intern_image(&w->p[k], &(struct image){.kind = IMAGE_FILE, .path = path});
	facts_set(&facts, FACT_LOAD, true);
	if (retired >= 0)
		facts_set(&facts, FACT_RETIRED, retired);
	facts_add(&w->p[k], 0,
		  profile_flat_ctx(&w->p[k], profile_intern_place(&w->p[k], im, 16, 0)),
		  w->events[k], &facts, n);
}

static int compare_sets(struct world *w, const char *set, const struct diff_opts *o, struct diff *d)
{
	struct select s = {.sort_set = set};
	struct err err = {0};
	int rc = 0;

	for (unsigned k = 0; k < 2 && !rc; k++)
		rc = world_open(w, k, &s, &err);
	return rc ? rc : diff_init(d, w->s[0], w->s[1], o, &err);
}

static const struct diff_row *row_called(const struct diff *d, const char *image)
{
	vec_each (row, &d->rows)
		if (strcmp(row->row->image, image) == 0)
			return row;
	return NULL;
}

TEST(a_set_is_compared_by_what_is_known)
{
	const struct diff_row *row;
	struct world w;
	struct diff d;

	world_begin(&w, 1000);
	for (unsigned k = 0; k < 2; k++) {
		world_add_facts(&w, k, 1, 1, 1000);
		world_add_facts(&w, k, 1, 0, 5000);
	}
	/* More than what may be in it explains, as much as it may explain, and nothing known. */
	world_add_facts(&w, 0, 2, 1, 10);
	world_add_facts(&w, 0, 2, -1, 20);
	world_add_facts(&w, 1, 2, 1, 500);
	world_add_facts(&w, 0, 3, 1, 10);
	world_add_facts(&w, 0, 3, -1, 500);
	world_add_facts(&w, 1, 3, 1, 500);
	world_add_facts(&w, 0, 4, -1, 100);
	world_add_facts(&w, 1, 4, -1, 1);
	world_add_facts(&w, 0, 5, -1, 1);
	world_add_facts(&w, 1, 5, 1, 1);
	REQUIRE(compare_sets(&w, "retired", &by_image, &d) == 0);
	EXPECT_EQ(d.set.sides[0].n_samples, 1020);
	EXPECT_EQ(d.set.sides[0].n_open, 621);
	EXPECT_EQ(d.rows.n, 5);
	row = row_called(&d, "/nonexistent/1");
	EXPECT(row && row->row->worth[0] == IS_KNOWN && row->row->n[0] == 1000);
	row = row_called(&d, "/nonexistent/2");
	REQUIRE(row);
	EXPECT(row->row->worth[0] == IS_AT_LEAST && row->row->worth[1] == IS_KNOWN);
	EXPECT(row->is_significant && !row->may_be_significant);
	EXPECT(close_to(row->change, 500.0 / 2001 - 10.0 / 1020));
	EXPECT(close_to(row->least_growth, 500.0 / 2001 - 30.0 / 1040));
	row = row_called(&d, "/nonexistent/3");
	EXPECT(row && !row->is_significant && row->may_be_significant);
	row = row_called(&d, "/nonexistent/4");
	REQUIRE(row);
	EXPECT(row->row->worth[0] == IS_UNKNOWN && row->row->worth[1] == IS_UNKNOWN);
	EXPECT(!row->is_significant && row->may_be_significant);
	row = row_called(&d, "/nonexistent/5");
	EXPECT(row && !row->is_significant && !row->may_be_significant);
	diff_release(&d);
	world_end(&w);
}

TEST(what_cannot_be_tested_is_refused)
{
	struct world w;
	struct diff d;

	world_begin(&w, 1000);
	for (unsigned k = 0; k < 2; k++)
		world_add_facts(&w, k, 1, 1, 1000);
	EXPECT_EQ(compare_sets(&w, "retired::any", &by_image, &d), -EINVAL);
	world_close(&w);
	EXPECT_EQ(compare_sets(&w, "retired:latency", &by_image, &d), -EINVAL);
	world_close(&w);
	EXPECT_EQ(compare_sets(&w, "store", &by_image, &d), -ENOENT);
	world_end(&w);
}
