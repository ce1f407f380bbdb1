/* SPDX-License-Identifier: BSD-2-Clause */
/* Branches of sampled branch stacks as rows. */
#ifndef QUERY_SAMPLES_BRANCH_ROWS_H
#define QUERY_SAMPLES_BRANCH_ROWS_H

#include "query/samples/query.h"
#include "query/select.h"

typedef VEC(struct branch) branch_rows;

/* Adds to RET, which is empty, a row for each event, branch and target of the owners that Q wants,
 * the most frequent first.  With IMAGES: branches in or to these only. */
void branch_rows_gather(const struct query *q, const image_ids *images, branch_rows *ret);

/* Returns how many branch stacks Q's owners have; 0: the source does not tell. */
uint64_t branch_stacks(const struct query *q);

#endif
