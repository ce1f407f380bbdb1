/* SPDX-License-Identifier: BSD-2-Clause */
/* The numbers of rows (columns.h) as cells of the emitter: whole ones as they always were, metrics
 * with as many decimals as the largest of a column needs for six digits.  JSON and CSV have them
 * as stored and exact. */
#ifndef VIEW_AMOUNTS_H
#define VIEW_AMOUNTS_H

#include "query/rows/columns.h"
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

/* How many decimals of a second they are shown with when they are nanoseconds: five digits of the
 * longest.  A may be NULL. */
uint8_t amounts_time_decimals(const struct amounts *a);

/* A column KEY of C's numbers; A is NULL where there is no table. */
struct emit_col amount_col(const struct column *c, const struct amounts *a, const char *key,
			   const char *title, const char *group, unsigned in);

/* The number of column I in a row, with what it is worth: "?" where it is unknown, ">" before one
 * that is at least so, "~" before such a ratio. */
struct emit_cell amount_cell(const struct emit *e, const struct columns *c, unsigned i,
			     const double *values);

/* The columns behind a number: its standard error, and how many more samples it may have, where C
 * has these.  amounts_more_cols makes that many columns (0 to MOST_MORE_COLS) for column I; OF is
 * "" or "_inclusive", behind their names; texts live in ARENA.  amounts_more_cells fills as many
 * cells; OUTSIDE leaves them empty. */
#define MOST_MORE_COLS 4
unsigned amounts_more_cols(const struct columns *c, unsigned i, const struct amounts *a,
			   const char *of, struct arena *arena, struct emit_col *ret);
unsigned amounts_more_cells(const struct emit *e, const struct columns *c, unsigned i,
			    const double *values, bool outside, struct emit_cell *ret);

/* N in percent of WHOLE. */
struct emit_cell percent_cell(double n, double whole);

#endif
