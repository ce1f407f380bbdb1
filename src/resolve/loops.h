/* SPDX-License-Identifier: BSD-2-Clause */
/* The loops of one procedure, found in its instructions.
 *
 *     if (flow_init(&f, &code) == 0 && loops_init(&l, &f) == 0)
 *             i = loops_find(&l, svma);            ... l.v[i].header, l.v[i].parent
 *
 * A loop is known by the svma of its header, the block that every turn goes through.  Jumps through
 * one table count as one: an interpreter whose every case ends in its own copy of the jump is one
 * loop, whose header is the first such jump in it. */
#ifndef RESOLVE_LOOPS_H
#define RESOLVE_LOOPS_H

#include "resolve/flow.h"

#define LOOP_NONE UINT32_MAX

struct loop {
	uint64_t header;	 /* svma */
	uint32_t parent;	 /* the loop around it, a lower number; LOOP_NONE */
	uint32_t depth;		 /* 0: the outermost */
	uint32_t clues, n_clues; /* in loops.clues: instructions that tell its source line */
	uint32_t body, n_body;	 /* in loops.clues: addresses all over the loop */
	bool irreducible;	 /* it is also entered elsewhere than at the header */
};

/* What begins at START, up to the next: in no loop, or in LOOP. */
struct loop_range {
	uint64_t start;
	uint32_t loop; /* the innermost, or LOOP_NONE */
};

struct loops {
	VEC(struct loop) v;
	VEC(struct loop_range) ranges; /* ascending; the last says LOOP_NONE */
	VEC(uint64_t) clues;	       /* svmas */
	bool incomplete;	       /* some jump is not understood: there may be more loops */
};

/* Finds the loops of F, which is not needed afterwards.  0, or -E2BIG when its ways into loops are
 * too tangled; L is empty then. */
int loops_init(struct loops *l, const struct flow *f);
void loops_release(struct loops *l);

/* The innermost loop that SVMA is in, or LOOP_NONE.  O(log blocks). */
uint32_t loops_find(const struct loops *l, uint64_t svma);

/* Writes the loops around SVMA to RET, outermost first, MAX at the most.  Returns how many there
 * are. */
size_t loops_find_chain(const struct loops *l, uint64_t svma, uint32_t *ret, size_t max);

#endif
