/* SPDX-License-Identifier: BSD-2-Clause */
/* Directed graphs, their dominators and their nests of loops.  Nodes are numbers; what they stand
 * for is the caller's business (blocks of code: flow.h).
 *
 * A graph may begin at several nodes, its roots, in an order: what a root reaches that none before
 * it did is its tree.  An edge into the tree of an earlier root counts for
 * nothing here: it is a way in that only exists because the root is a guess. */
#ifndef RESOLVE_GRAPH_H
#define RESOLVE_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GRAPH_NONE UINT32_MAX

struct graph {
	uint32_t n;
	const uint32_t
		*first; /* n + 1: edges of node i are succ[first[i]] .. succ[first[i + 1] - 1] */
	const uint32_t *succ;
	const uint32_t *roots;
	uint32_t n_roots;
};

/* The nodes in depth-first order, with the edges turned round.  Nodes are called by their number in
 * that order below: a parent has a lower number than its children, and what lies below node W are
 * the numbers W .. last[W]. */
struct graph_order {
	uint32_t n;	    /* as many as the graph has, less those that no root reaches */
	uint32_t *node;	    /* the graph's name of number i */
	uint32_t *number;   /* of the graph's node, GRAPH_NONE: not reached */
	uint32_t *parent;   /* GRAPH_NONE: a root */
	uint32_t *last;	    /* the highest number below */
	uint32_t *tree;	    /* which root's */
	uint32_t *first_in; /* n + 1 */
	uint32_t *in;	    /* predecessors, of the same tree only */
};

/* Walks G. */
void graph_order_init(struct graph_order *o, const struct graph *g);
void graph_order_release(struct graph_order *o);

/* Finds the immediate dominator of each number of O: the last node that every way from its root
 * goes through; GRAPH_NONE for roots.  Fresh memory (free it).  Time: edges x log(nodes). */
uint32_t *graph_dominators(const struct graph_order *o);

#define GRAPH_MAX_DEPTH 1024 /* of loops in loops */

struct graph_loop {
	uint32_t header;  /* node of the graph; of an irreducible loop the way in met first */
	uint32_t parent;  /* the loop around it, a lower number; GRAPH_NONE */
	uint32_t depth;	  /* 0: the outermost */
	bool irreducible; /* there are ways in beside the header */
};

struct graph_loops {
	struct graph_loop *v;
	uint32_t n;
	uint32_t *of_node; /* the innermost loop of each node of the graph; GRAPH_NONE */
};

/* Finds the loops of G: the natural ones (of an edge to a node that dominates its origin, all edges
 * to one node together), and where cycles have several ways in, irreducible ones.  0, or -E2BIG
 * when the ways into loops are more tangled, or the nest deeper, than any compiler's: RET is then
 * empty.
 *
 * Code that only a later root reaches (behind an unknown jump, or a handler of exceptions) and that
 * can come back into a loop belongs to that loop; if to several, to the innermost, or where they
 * are beside each other to what is around them. */
int graph_loops_find(const struct graph *g, const struct graph_order *o, struct graph_loops *ret);
void graph_loops_release(struct graph_loops *l);

#endif
