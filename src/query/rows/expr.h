/* SPDX-License-Identifier: BSD-2-Clause */
/* Arithmetic over named numbers: what `--derive` takes, and formulas of metric descriptions.
 *
 *     sum     = product { ("+" | "-") product }
 *     product = signed { ("*" | "/") signed }
 *     signed  = { "-" | "+" } power
 *     power   = primary [ ("**" | "^") signed ]                 2 ** -1; 2 ** 3 ** 2 is 2 ** 9
 *     primary = number | name | function "(" sum { "," sum } ")" | "(" sum ")"
 *
 * A name is letters, digits, '_', '.', ':' and '$', not beginning with a digit, or anything between
 * double or single quotes.  Functions: min, max, sum (of one or more), sqrt, abs, exp, log, log2,
 * log10, floor, ceil. */
#ifndef QUERY_ROWS_EXPR_H
#define QUERY_ROWS_EXPR_H

#include <stddef.h>

#include "base/err.h"

struct expr;

/* The number of the variable that the N bytes at NAME mean, or a negative errno
 * with its message. */
typedef int expr_find_fn(void *ctx, const char *name, size_t n, struct err *err);

/* Parses TEXT; FIND is asked for each name.  -EINVAL with the place and what was expected there, or
 * what FIND returned; -E2BIG for brackets nested too deep.  *RET is to be freed. */
int expr_parse(struct expr **ret, const char *text, expr_find_fn *find, void *ctx, struct err *err);

/* The value, VARS being those of the variables; NaN or infinite where arithmetic has no other. */
double expr_eval(const struct expr *x, const double *vars);

void expr_free(struct expr *x);

#endif
