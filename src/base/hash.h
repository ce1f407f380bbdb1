/* SPDX-License-Identifier: BSD-2-Clause */
/* Hashing, and a u32 open-addressing index over elements somebody else keeps in an array.
 *
 * The index maps a key to the element's number (0 .. 2^32-2).  It stores no keys: the caller's
 * `same` says whether element I equals the key, and `hash_of` gives an element's hash when the
 * table grows.  Load stays at or below 3/4.  Elements cannot be removed. */
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

struct index {
	uint32_t *slots; /* element number + 1, 0 = free */
	size_t mask;     /* slots - 1; a power of two */
	size_t n;        /* elements */
};

typedef bool index_same_fn(const void *owner, uint32_t i, const void *key);
typedef uint64_t index_hash_fn(const void *owner, uint32_t i);

/* Returns the number of the element equal to KEY, or INDEX_NONE. */
uint32_t index_find(const struct index *ix, uint64_t hash, index_same_fn *same, const void *owner,
		    const void *key);

/* Adds element I, which must not be there yet, under HASH. */
void index_add(struct index *ix, uint64_t hash, uint32_t i, index_hash_fn *hash_of,
	       const void *owner);

void index_release(struct index *ix);

#endif
