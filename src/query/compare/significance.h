/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether two counts of samples differ by more than chance would have them differ.
 *
 * Samples are taken to come independently of each other, so that counts are Poisson's.  The tests
 * are exact: they hold for 3 samples as for 3 billion.  Why these: docs/design/comparing.md. */
#ifndef QUERY_COMPARE_SIGNIFICANCE_H
#define QUERY_COMPARE_SIGNIFICANCE_H

#include <stddef.h>
#include <stdint.h>

/* The probability that two sets whose samples have the same share in a row come to shares at least
 * as far apart as N1 of TOTAL1 and N2 of TOTAL2 (N1 <= TOTAL1, N2 <= TOTAL2), in either direction:
 * Fisher's exact test of two proportions, its smaller tail doubled. */
double two_shares_p(uint64_t n1, uint64_t total1, uint64_t n2, uint64_t total2);

/* The probability that two sets come to counts at least as far apart as N1 and N2, in either
 * direction, when each sample of both is one of the first set with probability SHARE1 (0 < SHARE1 <
 * 1) as long as nothing changed: the conditional test of two Poisson rates, its smaller tail
 * doubled. */
double two_rates_p(uint64_t n1, uint64_t n2, double share1);

/* The smallest two_shares_p or two_rates_p that N1 + N2 samples could come to, however they were
 * distributed: rows for which that is no small number tell nothing and need not be counted. */
double two_shares_least_p(uint64_t n1, uint64_t total1, uint64_t n2, uint64_t total2);
double two_rates_least_p(uint64_t n1, uint64_t n2, double share1);

/* Turns the N probabilities of P into Holm's adjusted ones: when rows with less than A are taken
 * for changed, the probability that any of those that did not change is among them is at most A,
 * whatever the rows have to do with each other.  A NaN is no test; it stays and does not count. */
void holm_adjust(double *p, size_t n);

#endif
