/* SPDX-License-Identifier: BSD-2-Clause */
/* SHA-256, for what an adversary must not be able to make alike: the identity of images, and the
 * names that derived data is kept under.  base/hash.h is faster, and for everything else. */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <nettle/sha2.h>
#include <stddef.h>
#include <stdint.h>

#define SHA256_BYTES 32

struct sha256 {
	struct sha256_ctx state;
};

void sha256_begin(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *p, size_t n);

/* Adds X as eight bytes, the lowest first. */
void sha256_add_u64(struct sha256 *s, uint64_t x);

/* Adds TEXT and the zero behind it. */
void sha256_add_text(struct sha256 *s, const char *text);

/* Writes the first N bytes of the hash, at most SHA256_BYTES.  S is used up. */
void sha256_end(struct sha256 *s, uint8_t *ret, size_t n);

/* The first eight bytes as a number, the lowest first.  S is used up. */
uint64_t sha256_end_u64(struct sha256 *s);

#endif
