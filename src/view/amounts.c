/* SPDX-License-Identifier: BSD-2-Clause */
/* See amounts.h. */
#include "view/amounts.h"

#include <math.h>

#define DIGITS	       6
#define LEAST_DECIMALS 2
#define MOST_DECIMALS  9
#define ROUNDING       1e-12 /* of sums of whole numbers */

void amounts_note(struct amounts *a, const struct columns *c, const double *values)
{
	for (unsigned i = 0; values && i < c->cols.n; i++)
		amounts_note_one(&a[i], values[i]);
}

void amounts_note_one(struct amounts *a, double value)
{
	value = fabs(value);
	if (!isfinite(value))
		return;
	a->largest = fmax(a->largest, value);
	a->has_fractions |= fabs(value - round(value)) > ROUNDING * value;
}

uint8_t amounts_decimals(const struct amounts *a)
{
	double n;

	if (!a || !a->has_fractions)
		return 0;
	n = DIGITS - 1 - floor(log10(a->largest));
	return (uint8_t)fmin(fmax(n, LEAST_DECIMALS), MOST_DECIMALS);
}

struct emit_col amount_col(const struct column *c, const struct amounts *a, const char *key,
			   const char *title, const char *group, unsigned in)
{
	return (struct emit_col){key,
				 title,
				 c->kind == COLUMN_REAL ? EMIT_FIXED : EMIT_U64,
				 .group = group,
				 .in = in,
				 .decimals = amounts_decimals(a)};
}

struct emit_cell amount_cell(const struct emit *e, const struct column *c, double n)
{
	if (e->format == EMIT_TABLE)
		n = column_shown(c, n);
	if (c->kind == COLUMN_REAL)
		return (struct emit_cell){.d = n, .none = !isfinite(n)};
	return (struct emit_cell){.u = (uint64_t)n};
}

struct emit_cell percent_cell(double n, double whole)
{
	return (struct emit_cell){.d = whole != 0 ? 100 * n / whole : 0};
}
