/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts of blocks that fit what was measured best, and the flow of control exactly. */
#ifndef RESOLVE_FLOW_FIT_H
#define RESOLVE_FLOW_FIT_H

#include "resolve/block_counts.h"

/* What was measured of a block: N executions, with C executions a sample.  Its variance is C * n
 * for a block that ran n times, and MORE besides. */
struct flow_measure {
	double n, c, more;
	bool is_known; /* else nothing was measured */
};

/* Sets COUNTS of F's blocks from MEASURES, one for each block.  Where no block was measured all are
 * COUNT_UNKNOWN; none is COUNT_EXACT.  Time: bounded by some 10^8 edges looked at, with less
 * precision for procedures of thousands of blocks. */
void flow_fit(const struct flow *f, const struct flow_measure *measures,
	      struct block_count *counts);

#endif
