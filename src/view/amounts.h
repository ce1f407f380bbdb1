/* SPDX-License-Identifier: BSD-2-Clause */
/* The numbers of rows (columns.h) as cells of the emitter: whole ones as they always were, metrics
 * with as many decimals as the largest of a column needs for six digits.  JSON and CSV have them
 * as stored and exact. */
#ifndef VIEW_AMOUNTS_H
#define VIEW_AMOUNTS_H

#include "query/columns.h"
#include "view/emit.h"

/* What is known of the numbers that a table's column shows; starts zeroed. */
struct amounts {
	double largest; /* without its sign */
	bool has_fractions;
};

/* Notes a row's numbers, one for each of C and A; VALUES may be NULL. */
void amounts_note(struct amounts *a, const struct columns *c, const double *values);
void amounts_note_one(struct amounts *a, double value);

/* How many decimals they are shown with. */
uint8_t amounts_decimals(const struct amounts *a);

/* A column KEY of C's numbers; A is NULL for what is no table. */
struct emit_col amount_col(const struct column *c, const struct amounts *a, const char *key,
			   const char *title, const char *group, unsigned in);

/* N of C. */
struct emit_cell amount_cell(const struct emit *e, const struct column *c, double n);

/* N in percent of WHOLE. */
struct emit_cell percent_cell(double n, double whole);

#endif
