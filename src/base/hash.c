/* SPDX-License-Identifier: BSD-2-Clause */
/* See hash.h. */
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

uint64_t hash_bytes(const void *p, size_t n)
{
	const uint8_t *b = p;
	uint64_t h = hash_u64(n + 0x9e3779b97f4a7c15ULL), w;

	for (; n >= 8; n -= 8, b += 8) {
		memcpy(&w, b, 8);
		h = hash_u64(h ^ w);
	}
	if (n) {
		w = 0;
		memcpy(&w, b, n);
		h = hash_u64(h ^ w);
	}
	return h;
}

uint64_t hash_str(const char *s)
{
	return hash_bytes(s, strlen(s));
}

uint32_t index_find(const struct index *ix, uint64_t hash, index_same_fn *same, const void *owner,
		    const void *key)
{
	if (!ix->slots)
		return INDEX_NONE;
	for (size_t s = hash & ix->mask; ix->slots[s]; s = (s + 1) & ix->mask)
		if (same(owner, ix->slots[s] - 1, key))
			return ix->slots[s] - 1;
	return INDEX_NONE;
}

static void put(struct index *ix, uint64_t hash, uint32_t i)
{
	size_t s = hash & ix->mask;

	while (ix->slots[s])
		s = (s + 1) & ix->mask;
	ix->slots[s] = i + 1;
}

void index_add(struct index *ix, uint64_t hash, uint32_t i, index_hash_fn *hash_of,
	       const void *owner)
{
	if (!ix->slots || (ix->n + 1) * 4 > (ix->mask + 1) * 3) {
		uint32_t *old = ix->slots;
		size_t n_old = old ? ix->mask + 1 : 0;

		ix->mask = n_old ? n_old * 2 - 1 : 15;
		ix->slots = xcalloc(ix->mask + 1, sizeof(*ix->slots));
		for (size_t s = 0; s < n_old; s++)
			if (old[s])
				put(ix, hash_of(owner, old[s] - 1), old[s] - 1);
		free(old);
	}
	put(ix, hash, i);
	ix->n++;
}

void index_release(struct index *ix)
{
	free(ix->slots);
	memset(ix, 0, sizeof(*ix));
}
