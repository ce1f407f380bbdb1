/* SPDX-License-Identifier: BSD-2-Clause */
/* A batch is sorted and merged by element; then one system call gets the elements and one puts them
 * back. */
#include "inproc/histogram.h"

#include <errno.h>
#include <string.h>

#include "inproc/own_memory.h"

/* Knuth's "quick and dirty" generator (Numerical Recipes 7.1), whose high bits are good. */
static uint32_t next_random(struct histogram *h)
{
	h->random = h->random * 1664525u + 1013904223u;
	return h->random >> 16;
}

void histogram_add(struct histogram *h, uint64_t pc, uint64_t n)
{
	uint64_t at = buckets_find(&h->buckets, pc);

	if (h->broken) {
		h->n_dropped += n;
		return;
	}
	if (!at) {
		h->n_outside += n;
		return;
	}
	if (h->flags & HISTOGRAM_RANDOM && next_random(h) < 0x4000) {
		h->n_dropped += n;
		return;
	}
	if (h->n && h->batch[h->n - 1].at == at && !(h->flags & HISTOGRAM_COMPRESS)) {
		h->batch[h->n - 1].n += n;
		return;
	}
	if (h->n == HISTOGRAM_BATCH)
		histogram_flush(h);
	h->batch[h->n++] = (struct histogram_tick){at, n};
}

/* Shell's sort: qsort(3) may allocate, which the program's own allocator need
 * not stand from here. */
static void sort_batch(struct histogram *h)
{
	static const uint32_t gaps[] = {132, 57, 23, 10, 4, 1};

	for (size_t g = 0; g < sizeof(gaps) / sizeof(gaps[0]); g++)
		for (uint32_t i = gaps[g]; i < h->n; i++) {
			struct histogram_tick tick = h->batch[i];
			uint32_t j = i;

			for (; j >= gaps[g] && h->batch[j - gaps[g]].at > tick.at; j -= gaps[g])
				h->batch[j] = h->batch[j - gaps[g]];
			h->batch[j] = tick;
		}
}

static uint64_t element_max(unsigned n_bytes)
{
	return UINT64_MAX >> (64 - n_bytes * 8);
}

/* VALUE with N more ticks. */
static uint64_t added(struct histogram *h, uint64_t value, uint64_t n)
{
	const uint64_t max = element_max(h->buckets.elem_bytes);

	if (h->flags & HISTOGRAM_COMPRESS && next_random(h) < value) {
		h->n_dropped += n;
		return value;
	}
	h->n_counted += n;
	return n > max - value ? max : value + n;
}

int histogram_flush(struct histogram *h)
{
	const unsigned bytes = h->buckets.elem_bytes;
	uint8_t values[HISTOGRAM_BATCH * 8];
	struct iovec remote[HISTOGRAM_BATCH];
	uint32_t first[HISTOGRAM_BATCH + 1]; /* of an element's ticks, in the sorted batch */
	size_t n_elements = 0, n_there;

	if (!h->n)
		return 0;
	sort_batch(h);
	for (uint32_t i = 0; i < h->n; i++)
		if (!i || h->batch[i].at != h->batch[i - 1].at) {
			remote[n_elements] = (struct iovec){(void *)h->batch[i].at, bytes};
			first[n_elements++] = i;
		}
	first[n_elements] = h->n;
	n_there = own_memory_move(false, values, remote, n_elements, bytes);
	for (size_t e = 0; e < n_there; e++) {
		uint64_t value = 0;

		memcpy(&value, values + e * bytes, bytes); /* little-endian machines only */
		for (uint32_t i = first[e]; i < first[e + 1]; i++)
			value = added(h, value, h->batch[i].n);
		memcpy(values + e * bytes, &value, bytes);
	}
	if (own_memory_move(true, values, remote, n_there, bytes) < n_elements)
		h->broken = true;
	h->n = 0;
	return h->broken ? -EFAULT : 0;
}
