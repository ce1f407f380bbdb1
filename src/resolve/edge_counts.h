/* SPDX-License-Identifier: BSD-2-Clause */
/* How often control went along each edge of a procedure, from how often its blocks ran. */
#ifndef RESOLVE_EDGE_COUNTS_H
#define RESOLVE_EDGE_COUNTS_H

#include "resolve/block_counts.h"

/* Sets N[E] of each edge E of F (an index into F's succ) from COUNTS of its blocks.  What comes to
 * a block goes on, so an edge is known when all others at one of its ends are.  NAN: nothing tells
 * it.  Time: O(edges + blocks). */
void edge_counts_of(const struct flow *f, const struct block_count *counts, double *n);

#endif
