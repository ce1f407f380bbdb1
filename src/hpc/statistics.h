/* SPDX-License-Identifier: BSD-2-Clause */
/* The summary profile: sum, count, sum of squares, minimum and maximum over all threads of each
 * context's values.
 *
 * All are whole numbers until they are written, so the result does not depend on who adds first.
 * Any number of threads add at once: contexts are in stripes with a lock each. */
#ifndef HPC_STATISTICS_H
#define HPC_STATISTICS_H

#include "formats/hpc/profile.h"
#include "hpc/metrics.h"

struct statistics;

struct statistics *statistics_new(uint32_t n_ctxs, unsigned n_metrics);
void statistics_free(struct statistics *s);

/* Adds the values of one thread. */
void statistics_add(struct statistics *s, const struct propagate *w);

/* Fills BLOCK, which is empty, with the statistics. */
void statistics_write(const struct statistics *s, const struct build_metrics *ms,
		      struct hpc_profile_block *block);

#endif
