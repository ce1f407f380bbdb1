/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets on common rows, when some of them have values of metrics. */
#ifndef QUERY_COMPARE_METRIC_ROWS_H
#define QUERY_COMPARE_METRIC_ROWS_H

#include "query/compare/set_rows.h"

/* Fills R, whose sets and level are there, from the columns of SETS.  What is compared is the first
 * set's sort column, or the first of its columns that every set has: a metric, or an event of the
 * same name (a unit in parentheses behind it does not count).  Amounts of events are counts, or
 * seconds, as metrics are.  Where all sets are HPCToolkit databases an inlined procedure is a row
 * of its own; else its values belong to the procedure it is in, as samples' do.  -ENOENT when no
 * name is common, or a set has nothing of it. */
int metric_rows_init(struct set_rows *r, struct source *const *sets, const opt_list *images,
		     struct err *err);

#endif
