/* SPDX-License-Identifier: BSD-2-Clause */
/* What time lines of any origin look like. */
#ifndef VIEW_TIMELINE_H
#define VIEW_TIMELINE_H

#include "base/arena.h"
#include "view/emit.h"

/* How bars are explained: seconds a character, points in the fullest. */
#define TIMELINE_LEGEND "bars: %.6f s a character; # up to %llu points, . none\n\n"

/* The character of a bar for N points of at most MOST: ' ' not THERE, '.' no point, then by
 * quarters of the fullest stretch. */
char timeline_char(uint64_t n, uint64_t most, bool there);

/* "12.345678", seconds from ZERO_NS to TIME_NS, in A. */
const char *timeline_seconds(struct arena *a, uint64_t zero_ns, uint64_t time_ns);

/* Tells people when second 0 was. */
void timeline_emit_zero(struct emit *e, uint64_t zero_ns, uint64_t n_points, size_t n_threads);

#endif
