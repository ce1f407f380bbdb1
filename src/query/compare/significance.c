/* SPDX-License-Identifier: BSD-2-Clause */
/* See significance.h.
 *
 * Given the samples of a row in both sets together, n = n1 + n2, the first one's n1 is
 * hypergeometric when shares are the same (R. A. Fisher, The Logic of Inductive Inference, 1935)
 * and binomial when rates are (J. Przyborowski and H. Wilenski, Homogeneity of Results in Testing
 * Samples from Poisson Series, Biometrika 31, 1940).  A tail is summed term by term from n1 away
 * from the mean; terms fall off faster than geometrically, so that it takes a few standard
 * deviations' worth of terms: 10,000 for a billion samples. */
#include "query/compare/significance.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/vec.h"

static double log_factorial(double n)
{
	int sign;

	return lgamma_r(n + 1, &sign);
}

static double log_choose(double n, double k)
{
	return log_factorial(n) - log_factorial(k) - log_factorial(n - k);
}

/* How n1 is distributed, all counts as doubles. */
struct chance {
	bool rates;
	double n;	       /* n1 + n2 */
	double total1, total2; /* of shares */
	double share1;	       /* of rates */
	double least, most;    /* what n1 can be */
	double mean;
};

static struct chance of_shares(uint64_t n1, uint64_t total1, uint64_t n2, uint64_t total2)
{
	struct chance c = {
		.n = (double)n1 + (double)n2, .total1 = (double)total1, .total2 = (double)total2};

	c.least = fmax(0, c.n - c.total2);
	c.most = fmin(c.n, c.total1);
	c.mean = c.total1 + c.total2 > 0 ? c.n * c.total1 / (c.total1 + c.total2) : 0;
	return c;
}

static struct chance of_rates(uint64_t n1, uint64_t n2, double share1)
{
	struct chance c = {.rates = true, .n = (double)n1 + (double)n2, .share1 = share1};

	c.most = c.n;
	c.mean = c.n * share1;
	return c;
}

static double probability(const struct chance *c, double k)
{
	if (c->rates)
		return exp(log_choose(c->n, k) + k * log(c->share1) +
			   (c->n - k) * log1p(-c->share1));
	return exp(log_choose(c->total1, k) + log_choose(c->total2, c->n - k) -
		   log_choose(c->total1 + c->total2, c->n));
}

/* P(K + 1) / P(K). */
static double ratio(const struct chance *c, double k)
{
	if (c->rates)
		return (c->n - k) / (k + 1) * (c->share1 / (1 - c->share1));
	return (c->total1 - k) / (k + 1) * ((c->n - k) / (c->total2 - c->n + k + 1));
}

#define NO_MORE 1e-17 /* of the sum: what is left out behind such a term */

static double p_of(const struct chance *c, double n1)
{
	bool up = n1 >= c->mean;
	double term = probability(c, n1), sum = term;

	for (double k = n1; (up ? k < c->most : k > c->least) && term > sum * NO_MORE;) {
		if (up) {
			term *= ratio(c, k);
			k++;
		} else {
			k--;
			term /= ratio(c, k);
		}
		sum += term;
	}
	return fmin(1, 2 * sum);
}

double two_shares_p(uint64_t n1, uint64_t total1, uint64_t n2, uint64_t total2)
{
	struct chance c = of_shares(n1, total1, n2, total2);

	return p_of(&c, (double)n1);
}

double two_rates_p(uint64_t n1, uint64_t n2, double share1)
{
	struct chance c = of_rates(n1, n2, share1);

	return p_of(&c, (double)n1);
}

static double least_p(const struct chance *c)
{
	return fmin(p_of(c, c->least), p_of(c, c->most));
}

double two_shares_least_p(uint64_t n1, uint64_t total1, uint64_t n2, uint64_t total2)
{
	struct chance c = of_shares(n1, total1, n2, total2);

	return least_p(&c);
}

double two_rates_least_p(uint64_t n1, uint64_t n2, double share1)
{
	struct chance c = of_rates(n1, n2, share1);

	return least_p(&c);
}

static int by_p(const void *a, const void *b)
{
	const double *x = *(const double *const *)a, *y = *(const double *const *)b;

	return *x < *y ? -1 : *x > *y;
}

/* S. Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scand.
 * J. Statistics 6, 1979. */
void holm_adjust(double *p, size_t n)
{
	_vec_ VEC(double *) order = {0};
	double largest = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(p[i]))
			vec_push(&order, &p[i]);
	vec_sort(&order, by_p);
	for (size_t i = 0; i < order.n; i++) {
		largest = fmax(largest, fmin(1, *order.v[i] * (double)(order.n - i)));
		*order.v[i] = largest;
	}
}
