/* SPDX-License-Identifier: BSD-2-Clause */
/* The summary profile: sum, count, sum of squares, minimum and maximum over all threads of each
 * context's values.
 *
 * They are made while profile.db is transposed (hpc_cct_build), when all values of a context come
 * by, in the order of profiles: so their bytes depend neither on threads nor on processes.
 *
 *     statistics_ranges, statistics_values: as hpc_cct_options has them, TO being the statistics
 *     statistics_join(&s, &block);                     the summary profile's values */
#ifndef HPC_STATISTICS_H
#define HPC_STATISTICS_H

#include "hpc/write/cct.h"
#include "hpc/write/profile.h"
#include "hpc/metrics.h"

struct statistics {
	const struct build_metrics *metrics;
	struct hpc_profile_block *ranges; /* by range of contexts */
	uint32_t n_ranges;
};

void statistics_release(struct statistics *s);

void statistics_ranges(void *statistics, uint32_t n);
void statistics_values(void *statistics, uint32_t range, const struct hpc_cct *c);

/* Moves the values of all ranges to RET, which is empty. */
void statistics_join(struct statistics *s, struct hpc_profile_block *ret);

#endif
