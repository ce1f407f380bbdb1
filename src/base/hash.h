/* SPDX-License-Identifier: BSD-2-Clause */
/* Hashing, and a u32 open-addressing index over elements somebody else keeps in an array.
 *
 * The index maps a key to the element's number (0 .. 2^31-1).  It stores no keys, only 32 bits of
 * each one's hash: an element is looked at only when those agree, and growing looks at none.  The
 * caller's `same` says whether element I equals the key.  Load stays at or below 3/4.  Elements
 * cannot be removed. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Mixes 64 bits well (the finaliser of MurmurHash3, public domain). */
static inline uint64_t hash_u64(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdULL;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53ULL;
	x ^= x >> 33;
	return x;
}

static inline uint64_t hash_pair(uint64_t a, uint64_t b)
{
	return hash_u64(hash_u64(a) + b);
}

uint64_t hash_bytes(const void *p, size_t n);
uint64_t hash_str(const char *s);

#define INDEX_NONE UINT32_MAX

struct index_slot {
	uint32_t element; /* number + 1, 0 = free */
	uint32_t hash;	  /* its low half */
};

struct index {
	struct index_slot *slots;
	size_t mask; /* slots - 1; a power of two */
	size_t n;    /* elements */
};

static inline size_t index_bytes(const struct index *ix)
{
	return ix->slots ? (ix->mask + 1) * sizeof(*ix->slots) : 0;
}

typedef bool index_same_fn(const void *owner, uint32_t i, const void *key);

/* Returns the number of the element equal to KEY, or INDEX_NONE. */
uint32_t index_find(const struct index *ix, uint64_t hash, index_same_fn *same, const void *owner,
		    const void *key);

/* Begins to load the slot where HASH is looked for first.  Who looks up many keys calls it for some
 * of them before, so that their loads overlap. */
static inline void index_prefetch(const struct index *ix, uint64_t hash)
{
	if (ix->slots)
		__builtin_prefetch(&ix->slots[hash & ix->mask]);
}

/* Returns the first element that may have HASH, or INDEX_NONE, without looking at it. */
static inline uint32_t index_guess(const struct index *ix, uint64_t hash)
{
	const struct index_slot *s = ix->slots ? &ix->slots[hash & ix->mask] : NULL;

	return s && s->element && s->hash == (uint32_t)hash ? s->element - 1 : INDEX_NONE;
}

/* Adds element I, which must not be there yet, under HASH. */
void index_add(struct index *ix, uint64_t hash, uint32_t i);

/* Forgets all elements and keeps the memory. */
void index_clear(struct index *ix);

void index_release(struct index *ix);

#endif
