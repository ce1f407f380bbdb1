/* SPDX-License-Identifier: BSD-2-Clause */
/* The columns of flat tables: for the column sorted by `count % cum%`, for each other one `count
 * %`, with inclusive numbers `incl incl%` behind each; then what the rows are, which is for the
 * user to say.  JSON and CSV carry the numbers as stored. */
#ifndef VIEW_SHEET_H
#define VIEW_SHEET_H

#include "view/amounts.h"

struct sheet {
	const struct columns *columns;
	bool inclusive;	   /* rows have inclusive numbers as well */
	bool by_inclusive; /* and are sorted by them: no cum% */
	double *totals;	   /* by column: what 100 % is; those of the columns unless changed */
	/* The rest is filled by sheet_init. */
	unsigned *order, n_shown;
	struct emit_col *cols;
	unsigned n_cols;
	struct emit_cell *cells;
	double so_far;
	struct arena arena;
};

/* Makes the columns of numbers; AMOUNTS, by column, says what numbers there will be (NULL: counts
 * only).  Room remains for N_MORE columns, which sheet_add_col adds behind them. */
void sheet_init(struct sheet *s, const struct columns *c, const struct amounts *amounts,
		bool inclusive, bool by_inclusive, unsigned n_more);
void sheet_add_col(struct sheet *s, struct emit_col col);
void sheet_release(struct sheet *s);

/* Fills the cells of a row's numbers and returns those behind them.  INCLUSIVE may be NULL.
 * OUTSIDE: the row has no part in the percentages. */
struct emit_cell *sheet_cells(const struct emit *e, struct sheet *s, const double *exclusive,
			      const double *inclusive, bool outside);

#endif
