/* SPDX-License-Identifier: BSD-2-Clause */
/* Eight SHA-256s side by side, for what an adversary must not be able to make alike and of which
 * there is much: on a processor without instructions for SHA-256 it takes a fifth of its time.
 *
 * Bytes are dealt in words of four: word I goes to lane I mod 8.  Each lane is SHA-256's
 * compression of its words, read little-endian, from SHA-256's initial state, the last 512 bytes
 * filled up with zeros and without SHA-256's own padding.  The result is the SHA-256 of the number
 * of bytes (eight bytes, the lowest first) and the lanes' states: word 0 of each lane, then word
 * 1, and so on, each the lowest byte first.  Two inputs of one result have one length, so they
 * would make one lane's chain of compressions alike. */
#ifndef BASE_SHA256_LANES_H
#define BASE_SHA256_LANES_H

#include "base/sha256.h"

#define SHA256_N_LANES	   8
#define SHA256_LANES_BLOCK (SHA256_N_LANES * 64)

struct sha256_lanes {
	uint32_t state[8][SHA256_N_LANES];
	uint8_t rest[SHA256_LANES_BLOCK]; /* what does not fill a block yet */
	uint64_t n_bytes;
};

void sha256_lanes_begin(struct sha256_lanes *s);
void sha256_lanes_add(struct sha256_lanes *s, const void *p, size_t n);
void sha256_lanes_add_u64(struct sha256_lanes *s, uint64_t x);

/* Writes the first N bytes of the hash, at most SHA256_BYTES.  S is used up. */
void sha256_lanes_end(struct sha256_lanes *s, uint8_t *ret, size_t n);

#endif
