/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples as call paths for exporters: a context is a node, a place is a place. */
#ifndef QUERY_SAMPLES_STACKS_H
#define QUERY_SAMPLES_STACKS_H

#include "query/samples/query.h"
#include "query/stacks.h"

/* Fills RET with Q's samples, in COLUMNS, which are Q's and what is made of them.  As
 * source_stacks. */
int samples_stacks(struct query *q, const struct columns *columns, const struct stacks_opts *o,
		   struct stacks *ret, struct err *err);

#endif
