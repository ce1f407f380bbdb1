/* SPDX-License-Identifier: BSD-2-Clause */
/* What of a tree is shown, and in what order: from the root down, from the sampled procedures up to
 * their callers, or each procedure once. */
#ifndef QUERY_TREE_ROWS_H
#define QUERY_TREE_ROWS_H

#include "query/tree.h"

enum tree_form {
	TREE_DOWN,    /* below each row what it called */
	TREE_CALLERS, /* below each row who called it */
	TREE_FLAT,    /* each procedure once */
};

struct tree_rows_opts {
	enum tree_form form;
	bool by_inclusive;  /* what rows are sorted and hidden by; else exclusive */
	double least_pct;   /* rows with less, in percent of all, are hidden: 0 to 100 */
	uint32_t max_depth; /* levels shown; 0: all */
	bool no_small_sums; /* below another row, hidden rows that have less together than
			     * least_pct leave no row behind */
};

#define TREE_ROW_NONE UINT32_MAX

struct tree_row {
	uint32_t parent; /* its row; TREE_ROW_NONE at the top */
	uint32_t depth;	 /* 0 at the top */
	scope_id scope;
	uint32_t n_hidden; /* not 0: stands for that many rows, which are not here */
	bool only, last;   /* of its parent's rows */
	/* One per column.  A row counts each sample once, however often its procedure is on the
	 * path. INCLUSIVE is NULL for hidden rows whose samples may be the same ones. */
	const uint64_t *inclusive, *exclusive;
};

struct tree_rows {
	VEC(struct tree_row) rows; /* each parent before its rows, those by falling count */
	struct arena arena;
};

/* Fills RET with the rows of T.  Marks at the top are never hidden. */
void tree_rows_init(struct tree_rows *ret, const struct tree *t, const struct tree_rows_opts *o);
void tree_rows_release(struct tree_rows *r);

#endif
