/* SPDX-License-Identifier: BSD-2-Clause */
/* Jumps of a listing as arrows in lanes: columns of a terminal beside the instructions. */
#ifndef QUERY_ROWS_LISTING_ARROWS_H
#define QUERY_ROWS_LISTING_ARROWS_H

#include "query/rows/listing.h"

#define ARROW_LANES 8

/* All jumps to one instruction are one arrow: it covers instructions LO to HI. */
struct arrow {
	uint32_t lo, hi, target;
};

struct arrows {
	const struct listing *l;
	VEC(struct arrow) lanes[ARROW_LANES]; /* ascending, apart; the first stands rightmost */
	unsigned n_lanes;		      /* drawn */
	unsigned n_loops;		      /* columns of brackets */
};

/* Finds a lane for each arrow, the shortest first; L must outlive A.  At most
 * MOST_LANES are drawn. */
void arrows_init(struct arrows *a, const struct listing *l, unsigned most_lanes);
void arrows_release(struct arrows *a);

/* The arrow that LANE has beside instruction I; NULL: none. */
const struct arrow *arrow_over(const struct arrows *a, unsigned lane, uint32_t i);

#endif
