/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether two groups of numbers, one of each machine, have different means.
 *
 * Samples of one machine are no independent observations of a fleet: what one host happens to do
 * would count a million times.  So each host is one observation.  The tests take the means of
 * several hosts to be normally distributed: docs/design/comparing.md. */
#ifndef QUERY_COMPARE_MEANS_H
#define QUERY_COMPARE_MEANS_H

#include <stddef.h>

/* The probability that |t| is at least |T| when it has Student's distribution with DF > 0 degrees
 * of freedom, which need not be a whole number. */
double student_p(double t, double df);

/* Student's paired test: the probability that N differences, whose mean is 0 in truth, have a mean
 * as far from 0 as those of D (Student, The Probable Error of a Mean, Biometrika 6, 1908).  N below
 * 2: 1. */
double paired_means_p(const double *d, size_t n);

/* Welch's test of two groups whose variances need not be equal (B. L. Welch, The Generalization of
 * Student's Problem when Several Different Population Variances are Involved, Biometrika 34, 1947).
 * A group below 2: 1. */
double two_means_p(const double *a, size_t n_a, const double *b, size_t n_b);

#endif
