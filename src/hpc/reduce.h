/* SPDX-License-Identifier: BSD-2-Clause */
/* Making one set of tables out of those of several processes: contexts, metrics, identities and
 * what inputs say of themselves.
 *
 * They are merged pair by pair (a binomial tree with number 0 at the root), so that nobody merges
 * more than log2(N) times; then everybody is told what has become of its own. */
#ifndef HPC_REDUCE_H
#define HPC_REDUCE_H

#include "hpc/build.h"

/* The numbers of all things, by the numbers they had here. */
struct numbers {
	uint32_t *nodes; /* of contexts: ctxId - 1 */
	uint32_t *metrics;
	uint32_t *identities; /* profile index - 1 */
};

void numbers_release(struct numbers *n);

/* What all processes know in the end. */
struct totals {
	uint32_t n_nodes;    /* contexts with a place in the tree */
	uint64_t n_ids;	     /* in the tuples of databases */
	uint32_t n_unlisted; /* contexts of databases without a place */
	bool has_traces;
};

/* Puts B's tables in order, with those of the other processes when B has some: number 0 has all of
 * them then, the others metrics and identities.  TREE is what propagation needs.  -E2BIG, -EIO. */
int reduce_tables(struct build *b, struct numbers *ret, struct ctx_tree *tree,
		  struct totals *totals, struct err *err);

#endif
