/* SPDX-License-Identifier: BSD-2-Clause */
/* See amounts.h. */
#include "view/amounts.h"

#include <math.h>

#include "base/cleanup.h"
#include "base/str.h"

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

uint8_t amounts_time_decimals(const struct amounts *a)
{
	const double seconds = a ? a->largest / 1e9 : 0;

	if (!(seconds > 0))
		return 3;
	return (uint8_t)fmin(fmax(4 - floor(log10(seconds)), 1), 6);
}

struct emit_col amount_col(const struct column *c, const struct amounts *a, const char *key,
			   const char *title, const char *group, unsigned in)
{
	return (struct emit_col){key,
				 title,
				 c->kind == COLUMN_REAL	  ? EMIT_FIXED
				 : c->kind == COLUMN_TIME ? EMIT_TIME
							  : EMIT_U64,
				 .group = group,
				 .in = in,
				 .decimals = c->kind == COLUMN_TIME ? amounts_time_decimals(a)
								    : amounts_decimals(a)};
}

struct emit_cell amount_cell(const struct emit *e, const struct columns *columns, unsigned i,
			     const double *values)
{
	const struct column *c = &columns->cols.v[i];
	const enum knowledge worth = cols_knowledge(columns, i, values);
	const bool scales = e->format == EMIT_TABLE && c->kind == COLUMN_COUNT;
	double n = scales ? column_shown(c, values[i]) : values[i];
	struct emit_cell cell = {.u = 0};

	if (worth == IS_UNKNOWN || worth == IS_NONE) {
		cell.none = true;
		cell.mark = worth == IS_UNKNOWN ? '?' : '\0';
	} else if (c->kind == COLUMN_REAL) {
		cell.d = n;
		cell.none = !isfinite(n);
	} else {
		cell.u = (uint64_t)n;
	}
	if (worth == IS_AT_LEAST)
		cell.mark = c->kind == COLUMN_REAL ? '~' : '>';
	return cell;
}

/* --- what stands behind numbers --- */

static bool has_more(const struct columns *c, unsigned i)
{
	return c->errors || (c->has_open && c->cols.v[i].estimate);
}

static const char *amounts_join(struct arena *arena, const char *a, const char *b, const char *c)
{
	_mem_ char *text = xasprintf("%s%s%s", a, b, c);

	return arena_strdup(arena, text);
}

unsigned amounts_more_cols(const struct columns *c, unsigned i, const struct amounts *a,
			   const char *of, struct arena *arena, struct emit_col *ret)
{
	const struct column *col = &c->cols.v[i];
	const unsigned open_in = c->has_open && col->estimate ? 0 : EMIT_IN_NONE;
	const uint8_t decimals = col->kind == COLUMN_REAL ? amounts_decimals(a) : 1;
	const bool inclusive = *of;

	if (!has_more(c, i))
		return 0;
	ret[0] = (struct emit_col){col->name, NULL, EMIT_FIXED,
				   .group = inclusive ? "inclusive_errors" : "errors",
				   .in = c->errors ? EMIT_IN_JSON : EMIT_IN_NONE};
	ret[1] = (struct emit_col){amounts_join(arena, col->name, of, "_error"),
				   "±",
				   EMIT_FIXED,
				   .spare = 1,
				   .in = c->errors ? EMIT_IN_TABLE | EMIT_IN_CSV : EMIT_IN_NONE,
				   .decimals = decimals};
	ret[2] = (struct emit_col){col->name, NULL, EMIT_U64,
				   .group = inclusive ? "inclusive_unknown" : "unknown",
				   .in = open_in ? open_in : EMIT_IN_JSON};
	ret[3] = (struct emit_col){amounts_join(arena, col->name, of, "_unknown"), NULL, EMIT_U64,
				   .in = open_in ? open_in : EMIT_IN_CSV};
	return MOST_MORE_COLS;
}

unsigned amounts_more_cells(const struct emit *e, const struct columns *c, unsigned i,
			    const double *values, bool outside, struct emit_cell *ret)
{
	const struct column *col = &c->cols.v[i];
	enum knowledge worth = IS_NONE;
	double error = 0;

	if (!has_more(c, i))
		return 0;
	if (!outside)
		error = cols_error(c, i, values, &worth);
	if (e->format == EMIT_TABLE && col->kind == COLUMN_COUNT)
		error /= col->duty;
	ret[0] = (struct emit_cell){.d = error, .none = worth == IS_NONE};
	ret[1] = ret[0];
	ret[1].mark = worth == IS_AT_LEAST ? '>' : '\0';
	ret[2] = (struct emit_cell){.u = outside ? 0 : (uint64_t)cols_open(c, i, values),
				    .none = outside};
	ret[3] = ret[2];
	return MOST_MORE_COLS;
}

struct emit_cell percent_cell(double n, double whole)
{
	return (struct emit_cell){.d = whole != 0 ? 100 * n / whole : 0};
}
