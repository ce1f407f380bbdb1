/* SPDX-License-Identifier: BSD-2-Clause */
/* Which element of which buffer counts a program counter: regions of text, boiled down so that a
 * look-up is a binary search over disjoint ranges however the regions overlap. */
#ifndef INPROC_BUCKETS_H
#define INPROC_BUCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Two interfaces call their fixed-point factor `scale` and mean different things:
 * sprofil(2):  byte offset = (pc - offset) * scale >> 16, rounded down to an element;
 * PAPI_profil: element     = (pc - offset) * scale >> 17, whatever an element's size. */
enum buckets_rule { BUCKETS_SPROFIL, BUCKETS_PAPI };

struct region {
	uint64_t base;	  /* where the buffer is */
	uint64_t n_bytes; /* of the buffer */
	uint64_t offset;  /* the first pc */
	uint64_t scale;
};

/* PCs of [start, end) are counted in one region. */
struct buckets_range {
	uint64_t start, end;
	uint32_t region;
};

struct buckets {
	enum buckets_rule rule;
	unsigned elem_bytes; /* 2, 4 or 8 */
	uint64_t outside;    /* the element of pcs in no region; 0: not counted */
	uint32_t n_regions, n_ranges;
	struct region *regions;
	struct buckets_range *ranges;
	size_t n_mapped; /* bytes of memory behind it all */
};

/* The number of pcs from its offset on that REGION holds. */
uint64_t region_span(enum buckets_rule rule, unsigned elem_bytes, const struct region *r);

/* Makes look-ups for the N REGIONS, which are copied.  Where several hold a pc, that with the
 * largest offset counts it, of equals the first.  -ENOMEM. */
int buckets_init(struct buckets *b, enum buckets_rule rule, unsigned elem_bytes,
		 const struct region *regions, uint32_t n, uint64_t outside);
void buckets_release(struct buckets *b);

/* The address of the element that counts PC, or 0. */
uint64_t buckets_find(const struct buckets *b, uint64_t pc);

#endif
