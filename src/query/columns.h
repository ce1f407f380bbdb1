/* SPDX-License-Identifier: BSD-2-Clause */
/* What the numbers of rows are: samples of an event, or a metric of an HPCToolkit database.  Rows
 * of any origin have one double per column, so that one printer serves all. */
#ifndef QUERY_COLUMNS_H
#define QUERY_COLUMNS_H

#include "base/arena.h"
#include "query/query.h"

enum column_kind {
	COLUMN_COUNT, /* whole numbers; tables show them over the duty */
	COLUMN_TIME,  /* whole nanoseconds; tables show microseconds */
	COLUMN_REAL,  /* what it says, in its own unit */
};

struct column {
	const char *name;  /* for JSON and CSV */
	const char *title; /* above a table's column */
	enum column_kind kind;
	double duty;  /* COLUMN_COUNT */
	double total; /* what 100 % is; 0: no percentages */
};

struct columns {
	struct column *v;
	unsigned n;
	unsigned sort; /* the one rows are sorted and hidden by */
};

/* The columns of Q, in A. */
struct columns columns_of_query(const struct query *q, struct arena *a);

/* What a table shows of N of C, as query_scaled does for samples. */
double column_shown(const struct column *c, double n);

/* The order columns are shown in: the sort column first.  *RET_ORDER has C->n numbers. */
void columns_order(const struct columns *c, unsigned *ret_order);

#endif
