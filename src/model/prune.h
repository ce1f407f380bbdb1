/* SPDX-License-Identifier: BSD-2-Clause */
/* Pruning: rare contexts become part of their parents, so that what is kept of months of call paths
 * is bounded by what is frequent, not by what happened.
 *
 * A context is rare when fewer samples than a share of all are at it or below it.  Of the path of a
 * sample the rare callers give way to a mark, "[pruned]", below the last that is not rare:
 *     main;serve;[pruned];leaf        for   main;serve;parse;word;leaf
 * Nothing else changes: owner, event, vector and place of each sample stay, so sums over them, the
 * flat profile among them, are exact, and so are inclusive sums of all that is not rare. */
#ifndef MODEL_PRUNE_H
#define MODEL_PRUNE_H

#include "model/profile.h"

#define PRUNE_MARK "[pruned]"

/* Whether I is the image of the mark. */
bool prune_is_mark(const struct image *i);

/* All there is of each event, as shares are of it: samples, or nanoseconds of one
 * that counts time. */
typedef VEC(uint64_t) prune_sums;
void prune_sum(const struct profile *p, prune_sums *ret);

/* Prunes P's contexts with less than SHARE (0 to 1; 0: none) of what there is of each event beyond
 * BEFORE (NULL: nothing).  So what grows can be pruned again and again: with BEFORE as it was the
 * last time, whatever has its share of what came since is kept from then on, whenever it began.
 * Contexts and values that are not needed any more stay in P, without counts: they
 * are not stored. */
void profile_prune(struct profile *p, double share, const prune_sums *before);

/* Which contexts of P are the mark or below one; by context, for free(3).  NULL: none, for sure. */
bool *prune_marked(const struct profile *p);

/* How many samples of each event have a path with the mark: RET has room for P's events. */
void profile_n_pruned(const struct profile *p, uint64_t *ret);

#endif
