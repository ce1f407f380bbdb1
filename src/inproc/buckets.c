/* SPDX-License-Identifier: BSD-2-Clause */
/* Regions to disjoint ranges, by a sweep over their starts.
 *
 * The regions that hold the sweep's position are on a stack, the one with the largest offset on
 * top: it counts until it ends or the next one begins.  Each region is pushed once and each range
 * either ends a region or comes before one, so there are at most two ranges for each region. */
#include "inproc/buckets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/lower_bound.h"

uint64_t region_span(enum buckets_rule rule, unsigned elem_bytes, const struct region *r)
{
	/* sprofil.2 "(pc - pr_offset) * pr_scale / 65536 < pr_size"; PAPI: >> 17 and elements. */
	unsigned __int128 limit =
		rule == BUCKETS_SPROFIL
			? (unsigned __int128)r->n_bytes << 16
			: (unsigned __int128)((r->n_bytes + elem_bytes - 1) / elem_bytes) << 17;
	unsigned __int128 span = (limit + r->scale - 1) / r->scale;

	return span > UINT64_MAX - r->offset ? UINT64_MAX - r->offset : (uint64_t)span;
}

struct start {
	uint64_t start, end;
	uint32_t region;
};

/* By start; of equals the one that counts last, so that it is on top of the stack. */
static int compare_starts(const void *a, const void *b)
{
	const struct start *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->region > y->region ? -1 : 1;
}

static void put_range(struct buckets *b, uint64_t start, uint64_t end, uint32_t region)
{
	if (start < end)
		b->ranges[b->n_ranges++] = (struct buckets_range){start, end, region};
}

/* Ranges from *AT to END, or to where the stack of N_STACK ends; gives what
 * is left of the stack. */
static uint32_t sweep_to(struct buckets *b, const struct start *starts, const uint32_t *stack,
			 uint32_t n_stack, uint64_t *at, uint64_t end)
{
	while (n_stack && *at < end) {
		const struct start *top = &starts[stack[n_stack - 1]];
		uint64_t to = top->end < end ? top->end : end;

		if (to > *at) {
			put_range(b, *at, to, top->region);
			*at = to;
		}
		if (top->end <= *at)
			n_stack--;
	}
	*at = end;
	return n_stack;
}

int buckets_init(struct buckets *b, enum buckets_rule rule, unsigned elem_bytes,
		 const struct region *regions, uint32_t n, uint64_t outside)
{
	size_t of_regions = n * sizeof(struct region);
	size_t of_ranges = ((size_t)n * 2 + 1) * sizeof(struct buckets_range);
	size_t of_starts = n * sizeof(struct start);
	size_t n_bytes = of_regions + of_ranges + of_starts + n * sizeof(uint32_t);
	uint8_t *mem =
		mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct start *starts;
	uint32_t *stack, n_stack = 0;
	uint64_t at = 0;

	if (mem == MAP_FAILED)
		return -ENOMEM;
	*b = (struct buckets){.rule = rule,
			      .elem_bytes = elem_bytes,
			      .outside = outside,
			      .n_regions = n,
			      .regions = (struct region *)mem,
			      .ranges = (struct buckets_range *)(mem + of_regions),
			      .n_mapped = n_bytes};
	starts = (struct start *)(mem + of_regions + of_ranges);
	stack = (uint32_t *)(mem + of_regions + of_ranges + of_starts);
	if (n)
		memcpy(b->regions, regions, of_regions);
	for (uint32_t i = 0; i < n; i++)
		starts[i] = (struct start){.start = regions[i].offset,
					   .end = regions[i].offset +
						  region_span(rule, elem_bytes, &regions[i]),
					   .region = i};
	qsort(starts, n, sizeof(*starts), compare_starts);
	for (uint32_t i = 0; i < n; i++) {
		n_stack = sweep_to(b, starts, stack, n_stack, &at, starts[i].start);
		stack[n_stack++] = i;
	}
	sweep_to(b, starts, stack, n_stack, &at, UINT64_MAX);
	return 0;
}

void buckets_release(struct buckets *b)
{
	if (b->regions)
		munmap(b->regions, b->n_mapped);
	*b = (struct buckets){0};
}

uint64_t buckets_find(const struct buckets *b, uint64_t pc)
{
	/* the first range that ends behind pc */
	const uint32_t n = lower_bound(i, 0, b->n_ranges, b->ranges[i].end <= pc);

	if (n == b->n_ranges || b->ranges[n].start > pc)
		return b->outside;

	const struct region *r = &b->regions[b->ranges[n].region];
	unsigned __int128 scaled = (unsigned __int128)(pc - r->offset) * r->scale;

	if (b->rule == BUCKETS_SPROFIL)
		return r->base + ((uint64_t)(scaled >> 16) & ~(uint64_t)(b->elem_bytes - 1));
	return r->base + (uint64_t)(scaled >> 17) * b->elem_bytes;
}
