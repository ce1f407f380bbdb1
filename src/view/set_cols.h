/* SPDX-License-Identifier: BSD-2-Clause */
/* The columns behind the numbers of `dwell diff` and `dwell stats`: what a row of several sources
 * is. */
#ifndef VIEW_SET_COLS_H
#define VIEW_SET_COLS_H

#include "query/compare/set_rows.h"
#include "view/emit.h"

/* The order of these columns. */
enum {
	SET_COL_KIND,
	SET_COL_PROCEDURE,
	SET_COL_FILE,
	SET_COL_LINE,
	SET_COL_SVMA,
	SET_COL_IMAGE,
	N_SET_COLS
};

/* Fills N_SET_COLS columns for rows of LEVEL. */
void set_cols(enum scope_kind level, struct emit_col *ret);

/* Fills the cells of R in these columns; IS_TABLE: people read them. */
void set_cells(const struct set_row *r, bool is_table, struct emit_cell *ret);

#endif
