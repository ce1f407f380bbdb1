/* SPDX-License-Identifier: BSD-2-Clause */
/* Which elements of a profile go into a segment, in which order and under which numbers. */
#ifndef FORMATS_SEGMENT_RANK_H
#define FORMATS_SEGMENT_RANK_H

#include <stddef.h>
#include <stdint.h>

#include "model/profile.h"

/* A dictionary on its way out. */
struct ranking {
	VEC(uint32_t) list;    /* old ids of what is used */
	const uint32_t *order; /* that list, sorted; n of them */
	uint32_t *rank;	       /* new number by old id; meaningless for unused ones */
	uint32_t n;
};

struct segment_ranks {
	struct ranking strings, events, images, places, owners, vectors, ctxs, traces, branches,
		accesses, scripts, /* by their places */
		containers;	   /* by their ids */
	uint32_t *values; /* numbers of those that count, by (event, vector, owner, context) */
	size_t n_values;
	bool digests;	   /* some image has one */
	bool thread_names; /* some owner has one */
};

/* Fills RET from P; release it. */
void segment_rank(const struct profile *p, struct segment_ranks *ret);
void segment_ranks_release(struct segment_ranks *k);

#endif
