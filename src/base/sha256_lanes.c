/* SPDX-License-Identifier: BSD-2-Clause */
/* See sha256_lanes.h.  FIPS 180-4, 4.1.2, 4.2.2 and 6.2.2 have the functions, constants and
 * steps. */
#include "base/sha256_lanes.h"

#include <endian.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "words are taken as they lie in memory"
#endif

typedef uint32_t lanes_word __attribute__((vector_size(4 * SHA256_N_LANES)));

static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
				    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

static const uint32_t constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2};

#define ROTATE(x, n) ((x) >> (n) | (x) << (32 - (n)))

/* One block of each lane.  Inlined into a function for each kind of processor. */
static inline __attribute__((always_inline)) void lanes_compress(uint32_t state[8][SHA256_N_LANES],
								 const uint8_t *block)
{
	lanes_word s[8], w[16], old[8];

	memcpy(s, state, sizeof(s));
	memcpy(old, s, sizeof(old));
	memcpy(w, block, sizeof(w));
	for (unsigned t = 0; t < 64; t += 16) {
#pragma GCC unroll 16
		for (unsigned i = 0; i < 16; i++) {
			const lanes_word a = s[-i & 7], b = s[(1 - i) & 7], c = s[(2 - i) & 7];
			const lanes_word e = s[(4 - i) & 7], f = s[(5 - i) & 7];
			const lanes_word g = s[(6 - i) & 7], h = s[(7 - i) & 7];
			const lanes_word x = h + (ROTATE(e, 6) ^ ROTATE(e, 11) ^ ROTATE(e, 25)) +
					     (g ^ (e & (f ^ g))) + constants[t + i] + w[i];

			s[(3 - i) & 7] += x;
			s[(7 - i) & 7] = x + (ROTATE(a, 2) ^ ROTATE(a, 13) ^ ROTATE(a, 22)) +
					 ((a & b) | (c & (a | b)));
		}
#pragma GCC unroll 16
		for (unsigned i = 0; i < 16 && t < 48; i++) {
			const lanes_word x = w[(i + 1) & 15], y = w[(i + 14) & 15];

			w[i] += (ROTATE(x, 7) ^ ROTATE(x, 18) ^ x >> 3) + w[(i + 9) & 15] +
				(ROTATE(y, 17) ^ ROTATE(y, 19) ^ y >> 10);
		}
	}
	for (unsigned i = 0; i < 8; i++)
		s[i] += old[i];
	memcpy(state, s, sizeof(s));
}

static void compress_plain(struct sha256_lanes *s, const uint8_t *p, size_t n_blocks)
{
	for (size_t i = 0; i < n_blocks; i++)
		lanes_compress(s->state, p + i * SHA256_LANES_BLOCK);
}

#ifdef __x86_64__
__attribute__((target("avx2"))) static void compress_avx2(struct sha256_lanes *s, const uint8_t *p,
							  size_t n_blocks)
{
	for (size_t i = 0; i < n_blocks; i++)
		lanes_compress(s->state, p + i * SHA256_LANES_BLOCK);
}

/* One instruction turns words, one takes any function of three. */
__attribute__((target("avx512vl"))) static void compress_avx512(struct sha256_lanes *s,
								const uint8_t *p, size_t n_blocks)
{
	for (size_t i = 0; i < n_blocks; i++)
		lanes_compress(s->state, p + i * SHA256_LANES_BLOCK);
}
#endif

static void compress(struct sha256_lanes *s, const uint8_t *p, size_t n_blocks)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx512vl")) {
		compress_avx512(s, p, n_blocks);
		return;
	}
	if (__builtin_cpu_supports("avx2")) {
		compress_avx2(s, p, n_blocks);
		return;
	}
#endif
	compress_plain(s, p, n_blocks);
}

void sha256_lanes_begin(struct sha256_lanes *s)
{
	for (unsigned i = 0; i < 8; i++)
		for (unsigned lane = 0; lane < SHA256_N_LANES; lane++)
			s->state[i][lane] = initial[i];
	s->n_bytes = 0;
}

void sha256_lanes_add(struct sha256_lanes *s, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;
	const size_t have = s->n_bytes % SHA256_LANES_BLOCK;
	size_t part = have ? SHA256_LANES_BLOCK - have : 0;

	s->n_bytes += n;
	if (part > n)
		part = n;
	if (part) {
		memcpy(s->rest + have, p, part);
		if (have + part < SHA256_LANES_BLOCK)
			return;
		compress(s, s->rest, 1);
	}
	p += part;
	n -= part;
	compress(s, p, n / SHA256_LANES_BLOCK);
	if (n % SHA256_LANES_BLOCK)
		memcpy(s->rest, p + n - n % SHA256_LANES_BLOCK, n % SHA256_LANES_BLOCK);
}

void sha256_lanes_add_u64(struct sha256_lanes *s, uint64_t x)
{
	sha256_lanes_add(s, &(uint64_t){htole64(x)}, sizeof(x));
}

void sha256_lanes_end(struct sha256_lanes *s, uint8_t *ret, size_t n)
{
	const size_t have = s->n_bytes % SHA256_LANES_BLOCK;
	struct sha256 all;

	if (have) {
		memset(s->rest + have, 0, SHA256_LANES_BLOCK - have);
		compress(s, s->rest, 1);
	}
	sha256_begin(&all);
	sha256_add_u64(&all, s->n_bytes);
	sha256_add(&all, s->state, sizeof(s->state));
	sha256_end(&all, ret, n);
}
