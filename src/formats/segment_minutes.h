/* SPDX-License-Identifier: BSD-2-Clause */
/* The block of a segment that tells when samples came: docs/formats/segment.md "Minutes". */
#ifndef FORMATS_SEGMENT_MINUTES_H
#define FORMATS_SEGMENT_MINUTES_H

#include "formats/segment_block.h"
#include "formats/segment_rank.h"

#define SEGMENT_MINUTES_COLUMNS 4

/* What the block may take where the rest of the segment is small. */
#define SEGMENT_MINUTES_LEAST 64

/* Writes P's moments under the numbers of K, in at most N_BYTES (SIZE_MAX: any).  What does not fit
 * is told more coarsely, see segment_minutes.c; sums of events stay the same, or there is no
 * block. */
int segment_put_minutes(struct block_writer *w, const struct profile *p,
			const struct segment_ranks *k, size_t n_bytes, struct err *err);

/* Checks block B of P; with MAP, adds its moments to INTO. */
int segment_walk_minutes(const struct profile *p, const struct block *b,
			 const struct profile_map *map, struct profile *into, struct err *err);

#endif
