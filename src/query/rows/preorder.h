/* SPDX-License-Identifier: BSD-2-Clause */
/* Trees whose nodes are numbered so that those below a node follow it. */
#ifndef QUERY_ROWS_PREORDER_H
#define QUERY_ROWS_PREORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct preorder {
	uint32_t n;
	uint32_t *old;		/* the number each node had */
	uint32_t *parent, *end; /* those below node I are (I, end[I]) */
};

/* Numbers the nodes that KEEP has, and node 0, in preorder, children as they are.  PARENT, by old
 * number, is below each node's own but for node 0; the parents of those kept are kept. */
void preorder_init(struct preorder *p, const uint32_t *parent, size_t n, const bool *keep);

/* Frees what is not taken over (NULL). */
void preorder_release(struct preorder *p);

#endif
