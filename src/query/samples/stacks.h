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

/* Calls FN with stacks of all of P's samples, lines included; they live no longer than the call.  P
 * is changed for that: interpreters' own frames are folded.  R names places. */
int samples_with_stacks(struct profile *p, struct resolver *r,
			int (*fn)(void *ctx, const struct stacks *s, struct err *err), void *ctx,
			struct err *err);

#endif
