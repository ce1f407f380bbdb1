/* SPDX-License-Identifier: BSD-2-Clause */
/* Counting in somebody else's buffers: ticks are gathered and added in batches, by the kernel's
 * hand, so that a buffer that is gone is an error and not a crash.
 *
 * Only one thread at a time may use a histogram. */
#ifndef INPROC_HISTOGRAM_H
#define INPROC_HISTOGRAM_H

#include "inproc/buckets.h"

enum { HISTOGRAM_BATCH = 256 }; /* elements added at once */

enum histogram_flags {
	HISTOGRAM_RANDOM = 1u << 0,   /* a random quarter of the ticks is not counted */
	HISTOGRAM_COMPRESS = 1u << 1, /* the larger an element, the fewer ticks count */
};

/* N ticks for the element at address AT. */
struct histogram_tick {
	uint64_t at, n;
};

struct histogram {
	struct buckets buckets;
	unsigned flags;
	uint32_t random; /* the generator's state */
	uint32_t n;	 /* of these, waiting */
	struct histogram_tick batch[HISTOGRAM_BATCH];
	bool broken; /* an element was not there; nothing is counted any more */
	uint64_t n_counted, n_outside, n_dropped; /* ticks; dropped: by the flags or broken */
};

/* Counts N ticks at PC. */
void histogram_add(struct histogram *h, uint64_t pc, uint64_t n);

/* Adds what is waiting to the buffers.  An element never goes beyond its maximum.  -EFAULT, once,
 * when a buffer is not there, from when on nothing is counted. */
int histogram_flush(struct histogram *h);

#endif
