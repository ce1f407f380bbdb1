/* SPDX-License-Identifier: BSD-2-Clause */
/* The columns of a query: which events, which sample sets of which of them, and what each value
 * adds to which column.  For query.c. */
#ifndef QUERY_SETS_BIND_H
#define QUERY_SETS_BIND_H

#include "query/samples/query.h"

/* Fills Q's columns, what is shown of them, how it is sorted, and the shares.  -ENOENT for events
 * that are not there and for sample sets where no sample carries facts, else the errors of
 * pm_columns_parse. */
int query_bind(struct query *q, const struct select *s, struct err *err);

#endif
