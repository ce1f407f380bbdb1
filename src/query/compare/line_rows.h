/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of procedures that one set knows and another does not. */
#ifndef QUERY_COMPARE_LINE_ROWS_H
#define QUERY_COMPARE_LINE_ROWS_H

#include "query/compare/set_rows.h"

/* Joins the rows of each procedure of which a set has samples and knows no line, while another set
 * knows lines: it is one row without a line then, for else all of it would vanish from one set and
 * appear in the other.  R is of SCOPE_LINE and samples; what its numbers are worth is not yet
 * settled. */
void line_rows_join(struct set_rows *r);

#endif
