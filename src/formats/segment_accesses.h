/* SPDX-License-Identifier: BSD-2-Clause */
/* Blocks of accesses to memory: docs/formats/segment.md "Accesses". */
#ifndef FORMATS_SEGMENT_ACCESSES_H
#define FORMATS_SEGMENT_ACCESSES_H

#include "formats/segment_block.h"
#include "formats/segment_rank.h"

#define SEGMENT_ACCESS_COLUMNS 13

/* Writes P's accesses under the numbers of K. */
int segment_put_accesses(struct block_writer *w, const struct profile *p,
			 const struct segment_ranks *k, struct err *err);

/* Checks block B of P; with MAP, adds its accesses to INTO. */
int segment_walk_accesses(const struct profile *p, const struct block *b,
			  const struct profile_map *map, struct profile *into, struct err *err);

#endif
