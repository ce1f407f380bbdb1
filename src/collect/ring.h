/* SPDX-License-Identifier: BSD-2-Clause */
/* A perf mmap ring: records the kernel wrote for one CPU (perf_event.h, struct
 * perf_event_mmap_page). It carries the sideband of both engines, and the samples of the ring
 * engine. */
#ifndef COLLECT_RING_H
#define COLLECT_RING_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/wr.h"

struct ring {
	uint8_t *base;	/* the control page, then the data */
	size_t n_bytes; /* of data, a power of two; 0: closed */
};

/* Maps FD's ring with N_PAGES (a power of two) of data.  -EPERM when perf_event_mlock_kb is used
 * up: the message names it. */
int ring_open(struct ring *r, int fd, size_t n_pages, struct err *err);
void ring_close(struct ring *r);

/* Appends all whole records now in the ring to OUT, headers and all, and gives their room back.
 * Returns the number of bytes appended. */
size_t ring_drain(struct ring *r, struct wr *out);

/* Share of the ring in use, percent. */
unsigned ring_fill_pct(const struct ring *r);

#endif
