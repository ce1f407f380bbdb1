/* SPDX-License-Identifier: BSD-2-Clause */
/* Formulas of summary statistics: what is done to each thread's value before values are combined.
 * The language of `formula` in METRICS.yaml as HPCToolkit writes it: numbers, $$ (the value),
 * + - * / ^ and parentheses; ^ binds tightest and to the right. */
#ifndef FORMATS_HPC_SUMMARY_FORMULA_H
#define FORMATS_HPC_SUMMARY_FORMULA_H

#include <stdbool.h>

/* Evaluates TEXT for the value X.  False when it is no such formula. */
bool hpc_summary_eval(const char *text, double x, double *ret);

#endif
