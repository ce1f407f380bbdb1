/* SPDX-License-Identifier: BSD-2-Clause */
/* One profile's values: from counts at some contexts to values of all scopes at these and those
 * above them.
 *
 *     propagate_init(&w, &tree, n_metrics);                       one for each thread
 *     propagate_add(&w, ctxId, metric, n);                        as often as there is one
 *     propagate_finish(&w);
 *     for (i = 0; i < w.n_touched; i++) ... w.touched[i], propagate_cell(&w, i, metric)
 *     propagate_reset(&w);                                        for the next profile
 *
 * Counts are whole numbers of the metric's smallest unit, so that sums are exact and do not depend
 * on the order they are made in.  Work and memory written are those of the contexts touched, not of
 * the tree: what a profile touched is found again through a bitmap of bitmaps, in order. */
#ifndef HPC_PROPAGATE_H
#define HPC_PROPAGATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "hpc/contexts.h"

enum { TREE_LEXICAL = 1u << 0, TREE_LOOP = 1u << 1, TREE_INSTRUCTION = 1u << 2 };

/* What propagation needs of the context tree, by ctxId; 0 is the root of all. */
struct ctx_tree {
	uint32_t n;	  /* the largest ctxId + 1 */
	uint32_t *parent; /* lower than its children */
	uint8_t *flags;	  /* TREE_*: enclosed by its parent, is a loop, contexts_is_instruction */
};

void ctx_tree_init(struct ctx_tree *t, const struct contexts *c);
void ctx_tree_release(struct ctx_tree *t);

enum metric_scope { IN_POINT, IN_FUNCTION, IN_LEX_AWARE, IN_EXECUTION, N_METRIC_SCOPES };

/* "point", "function", "lex_aware", "execution". */
const char *metric_scope_name(enum metric_scope s);

/* A metric's value in each scope.  In a context that is no loop lex_aware is function. */
struct cell {
	uint64_t in[N_METRIC_SCOPES];
};

#define PROPAGATE_LEVELS 6

struct propagate {
	const struct ctx_tree *tree;
	unsigned n_metrics;
	uint64_t *bits[PROPAGATE_LEVELS]; /* [0] by ctxId; [k] by word of [k - 1] */
	unsigned n_levels;
	uint32_t *slot;		/* by ctxId, for those touched: where in cells */
	VEC(struct cell) cells; /* n_metrics for each slot */
	VEC(uint32_t) touched;	/* ctxIds, ascending when finished */
};

void propagate_init(struct propagate *w, const struct ctx_tree *t, unsigned n_metrics);
void propagate_release(struct propagate *w);

/* Adds N (> 0) of METRIC to the point value of CTXID. */
void propagate_add(struct propagate *w, uint32_t ctxId, unsigned metric, uint64_t n);

void propagate_finish(struct propagate *w);
void propagate_reset(struct propagate *w);

/* METRIC at the I-th context touched. */
static inline const struct cell *propagate_cell(const struct propagate *w, size_t i,
						unsigned metric)
{
	return &w->cells.v[(size_t)w->slot[w->touched.v[i]] * w->n_metrics + metric];
}

#endif
