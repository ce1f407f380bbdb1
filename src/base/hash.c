/* SPDX-License-Identifier: BSD-2-Clause */
/* See hash.h. */
#include "base/hash.h"

#include <assert.h>
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
	for (size_t s = hash & ix->mask; ix->slots[s].element; s = (s + 1) & ix->mask)
		if (ix->slots[s].hash == (uint32_t)hash &&
		    same(owner, ix->slots[s].element - 1, key))
			return ix->slots[s].element - 1;
	return INDEX_NONE;
}

static void hash_put(struct index *ix, struct index_slot slot)
{
	size_t s = slot.hash & ix->mask;

	while (ix->slots[s].element)
		s = (s + 1) & ix->mask;
	ix->slots[s] = slot;
}

void index_add(struct index *ix, uint64_t hash, uint32_t i)
{
	if (!ix->slots || (ix->n + 1) * 4 > (ix->mask + 1) * 3) {
		struct index_slot *old = ix->slots;
		size_t n_old = old ? ix->mask + 1 : 0;

		assert(n_old < 1ull << 32); /* places come from 32 bits of the hash */
		ix->mask = n_old ? n_old * 2 - 1 : 15;
		ix->slots = xcalloc(ix->mask + 1, sizeof(*ix->slots));
		for (size_t s = 0; s < n_old; s++)
			if (old[s].element)
				hash_put(ix, old[s]);
		free(old);
	}
	hash_put(ix, (struct index_slot){.element = i + 1, .hash = (uint32_t)hash});
	ix->n++;
}

void index_clear(struct index *ix)
{
	if (ix->slots)
		memset(ix->slots, 0, (ix->mask + 1) * sizeof(*ix->slots));
	ix->n = 0;
}

void index_release(struct index *ix)
{
	free(ix->slots);
	memset(ix, 0, sizeof(*ix));
}
