/* SPDX-License-Identifier: BSD-2-Clause */
/* See means.h. */
#include "query/compare/means.h"

#include <math.h>
#include <stdlib.h>

#define MOST_TERMS 10000
#define EXACT	   1e-15
#define TINY	   1e-300

/* The continued fraction of the incomplete beta function, by Lentz's method as Thompson and Barnett
 * changed it: NIST Digital Library of Mathematical Functions, 8.17.22 and 3.10. */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 - (a + b) * x / (a + 1), f;

	d = 1 / (fabs(d) < TINY ? TINY : d);
	f = d;
	for (int m = 1; m < MOST_TERMS; m++) {
		const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
			     odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		const double terms[] = {even, odd};
		double step = 1;

		for (int i = 0; i < 2; i++) {
			d = 1 + terms[i] * d;
			d = 1 / (fabs(d) < TINY ? TINY : d);
			c = 1 + terms[i] / c;
			c = fabs(c) < TINY ? TINY : c;
			step = c * d;
			f *= step;
		}
		if (fabs(step - 1) < EXACT)
			break;
	}
	return f;
}

static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

/* The regularized incomplete beta function. */
static double incomplete_beta(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
	/* Each form converges fast on its side. */
	return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
					 : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double student_p(double t, double df)
{
	/* M. Abramowitz and I. A. Stegun, Handbook of Mathematical Functions, 26.5.27. */
	return isinf(t) ? 0 : incomplete_beta(df / 2, 0.5, df / (df + t * t));
}

/* The mean of N numbers, and the variance of that mean. */
static double mean_of(const double *v, size_t n, double *ret_variance)
{
	double sum = 0, squares = 0, mean;

	for (size_t i = 0; i < n; i++)
		sum += v[i];
	mean = sum / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (v[i] - mean) * (v[i] - mean);
	*ret_variance = squares / (double)(n - 1) / (double)n;
	return mean;
}

static double t_of(double difference, double variance)
{
	if (variance > 0)
		return difference / sqrt(variance);
	return difference > 0 || difference < 0 ? INFINITY : 0;
}

double paired_means_p(const double *d, size_t n)
{
	double variance, mean;

	if (n < 2)
		return 1;
	mean = mean_of(d, n, &variance);
	return student_p(t_of(mean, variance), (double)(n - 1));
}

double two_means_p(const double *a, size_t n_a, const double *b, size_t n_b)
{
	double v[2], mean[2], df;

	if (n_a < 2 || n_b < 2)
		return 1;
	mean[0] = mean_of(a, n_a, &v[0]);
	mean[1] = mean_of(b, n_b, &v[1]);
	if (!(v[0] + v[1] > 0))
		return student_p(t_of(mean[1] - mean[0], 0), 1);
	df = (v[0] + v[1]) * (v[0] + v[1]) /
	     (v[0] * v[0] / (double)(n_a - 1) + v[1] * v[1] / (double)(n_b - 1));
	return student_p(t_of(mean[1] - mean[0], v[0] + v[1]), df);
}
