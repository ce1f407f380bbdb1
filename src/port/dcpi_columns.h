/* SPDX-License-Identifier: BSD-2-Clause */
/* The columns that DCPI shows of an image: one for each event and set of samples, and one for each
 * counter of a set.  dcpicat's text prints a column beside the others; a tree has a file for each.
 *
 *     retired^notrap:m1count        samples of event pm
 *     retired^notrap:m1retdelay     the total of their counter
 *     ibs_op@retired:mlatency       the total of a counter that not all samples know
 *     ibs_op@retired:mlatency.n     how many of the samples know it */
#ifndef PORT_DCPI_COLUMNS_H
#define PORT_DCPI_COLUMNS_H

#include "port/dcpi_flat.h"

struct dcpi_column {
	event_id event;
	vector_id vector;
	bool idle;
	bool measured;	   /* of a counter: how many samples know it, instead of their total */
	size_t first, end; /* its rows */
};

typedef VEC(struct dcpi_column) dcpi_columns;

/* The columns of rows [START, END) of ROWS, which have one image and label and are in the order of
 * dcpi_flatten.  A counter that all samples of its set know has no `measured` column.  Release the
 * result with vec_release. */
dcpi_columns dcpi_list_columns(const struct profile *p, const dcpi_rows *rows, size_t start,
			       size_t end);

/* What column C shows of row R. */
uint64_t dcpi_column_amount(const struct profile *p, const struct dcpi_column *c,
			    const struct dcpi_row *r);

/* The column's name, to be freed: the event's, or SET[@...]; and in *RET_COUNTER what stands behind
 * the colon, to be freed, NULL for nothing. */
char *dcpi_column_name(const struct profile *p, const struct dcpi_column *c, char **ret_counter);

#endif
