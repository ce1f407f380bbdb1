/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of `dwell tree`: calling contexts with guides for the eye. */
#ifndef VIEW_TREE_H
#define VIEW_TREE_H

#include "query/rows/tree_rows.h"
#include "view/emit.h"

struct tree_emit_opts {
	enum tree_form form;
	bool no_header;
};

/* Emits the document of ROWS, which are S's, a source of samples (tree_source_init). */
void tree_emit(struct emit *e, struct tree_source *s, const struct tree_rows *rows,
	       const struct tree_emit_opts *o);

/* Parts of a document: the table of rows of any source, and for JSON what form it has.  In JSON and
 * CSV each row has an id and that of its parent. */
void tree_rows_emit(struct emit *e, struct tree_source *s, const struct tree_rows *rows,
		    const struct tree_emit_opts *o);
void tree_emit_form(struct emit *e, enum tree_form form);

#endif
