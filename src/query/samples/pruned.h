/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef QUERY_SAMPLES_PRUNED_H
#define QUERY_SAMPLES_PRUNED_H

#include "query/samples/query.h"

/* Counts, in n_pruned of Q's columns, what samples have whose rare callers were pruned
 * (model/prune.h).  Q's totals must be there. */
void query_count_pruned(struct query *q);

#endif
