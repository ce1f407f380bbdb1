/* SPDX-License-Identifier: BSD-2-Clause */
/* What is free of a stretch of words that somebody else keeps: taken first-fit, joined again when
 * given back.  Made for a few thousand pieces of some hundred to some million words. */
#ifndef MACHINE_EXTENTS_H
#define MACHINE_EXTENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct extent {
	uint32_t at, n; /* n > 0 */
};

struct extents {
	VEC(struct extent) v; /* free, by position; no two touch */
	uint64_t n_free;
};

/* Words AT .. AT+N-1 are free; none of them may be already. */
void extents_give(struct extents *e, uint32_t at, uint32_t n);

/* Takes N words (1 or more); false when no free piece is that long. */
bool extents_take(struct extents *e, uint32_t n, uint32_t *ret_at);

/* Is there a piece of N words? */
bool extents_fit(const struct extents *e, uint32_t n);

/* A copy, to be released. */
struct extents extents_copy(const struct extents *e);
void extents_release(struct extents *e);

#endif
