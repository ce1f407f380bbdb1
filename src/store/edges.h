/* SPDX-License-Identifier: BSD-2-Clause */
/* Which segments of a recording may become one: see edges.c. */
#ifndef STORE_EDGES_H
#define STORE_EDGES_H

#include "store/manifest.h"

/* How long segments are kept as they were flushed, and by the hour. */
#define EDGES_FLUSH_NS (24ull * 3600 * 1000000000)
#define EDGES_HOUR_NS  (30ull * 24 * 3600 * 1000000000)

/* Segments [FIRST, FIRST + N) of a MANIFEST, which may become one. */
struct segment_run {
	size_t first, n;
};
typedef VEC(struct segment_run) segment_runs;

/* Whether the two times, nanoseconds since 1970, need not be told apart at NOW_NS. */
bool edges_same(uint64_t a_ns, uint64_t b_ns, uint64_t now_ns);

/* All of M's segments as runs, in their order; RET is empty at first. */
void edges_runs(const struct manifest *m, uint64_t now_ns, segment_runs *ret);

/* Whether some run has several segments. */
bool edges_any(const struct manifest *m, uint64_t now_ns);

#endif
