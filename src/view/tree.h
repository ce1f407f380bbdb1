/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of `dwell tree`: calling contexts with guides for the eye. */
#ifndef VIEW_TREE_H
#define VIEW_TREE_H

#include "query/rows/tree_rows.h"
#include "view/emit.h"

struct tree_emit_opts {
	enum tree_form form;
	bool no_header;
	const char *rows_by; /* what rows are one of, for data */
	const bool *folded;  /* by row: "+" stands before its name; NULL: before none */
};

/* Emits the document of ROWS, which are T's.  In JSON and CSV each row has an id and that of its
 * parent. */
void tree_emit(struct emit *e, struct tree_source *t, const struct tree_rows *rows,
	       const struct tree_emit_opts *o);

#endif
