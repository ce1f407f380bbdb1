/* SPDX-License-Identifier: BSD-2-Clause */
/* Eight SHA-256s side by side, held against one of them worked out step by step. */
#include "base/sha256_lanes.h"

#include <string.h>

#include "t.h"

static uint32_t rotate(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

/* Square and cube roots of primes: FIPS 180-4, 4.2.2 and 5.3.3. */
static uint32_t root_part(unsigned prime, unsigned power)
{
	unsigned __int128 low = 0, high = (unsigned __int128)32 << 32;

	while (high - low > 1) { /* of 2^32 times the root */
		const unsigned __int128 mid = (low + high) / 2;
		const bool above = power == 2 ? mid * mid >= (unsigned __int128)prime << 64
					      : mid * mid * mid >= (unsigned __int128)prime << 96;

		*(above ? &high : &low) = mid;
	}
	return (uint32_t)low;
}

static unsigned next_prime(unsigned p)
{
	for (p++;; p++) {
		unsigned d = 2;

		while (d * d <= p && p % d)
			d++;
		if (d * d > p)
			return p;
	}
}

/* FIPS 180-4, 6.2.2, with 32-bit words as they are. */
static void compress_one(uint32_t state[8], const uint32_t block[16])
{
	uint32_t w[64], s[8];
	unsigned prime = 1;

	memcpy(s, state, sizeof(s));
	for (unsigned t = 0; t < 64; t++) {
		uint32_t one, two;

		prime = next_prime(prime);
		w[t] = t < 16 ? block[t]
			      : (rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ w[t - 2] >> 10) +
					w[t - 7] +
					(rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^
					 w[t - 15] >> 3) +
					w[t - 16];
		one = s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) +
		      ((s[4] & s[5]) ^ (~s[4] & s[6])) + root_part(prime, 3) + w[t];
		two = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) +
		      ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
		memmove(s + 1, s, 7 * sizeof(*s));
		s[4] += one;
		s[0] = one + two;
	}
	for (unsigned i = 0; i < 8; i++)
		state[i] += s[i];
}

static void expect_lanes(const uint8_t *bytes, size_t n, size_t piece)
{
	uint8_t padded[2048] = {0}, is[SHA256_BYTES], should[SHA256_BYTES];
	uint32_t state[8][SHA256_N_LANES];
	struct sha256_lanes lanes;
	struct sha256 all;

	memcpy(padded, bytes, n);
	for (unsigned lane = 0; lane < SHA256_N_LANES; lane++) {
		uint32_t own[8], block[16];
		unsigned prime = 1;

		for (unsigned i = 0; i < 8; i++) {
			prime = next_prime(prime);
			own[i] = root_part(prime, 2);
		}
		for (size_t at = 0; at < n; at += SHA256_LANES_BLOCK) {
			for (unsigned i = 0; i < 16; i++)
				memcpy(&block[i], padded + at + 4 * (i * SHA256_N_LANES + lane), 4);
			compress_one(own, block);
		}
		for (unsigned i = 0; i < 8; i++)
			state[i][lane] = own[i];
	}
	sha256_begin(&all);
	sha256_add_u64(&all, n);
	sha256_add(&all, state, sizeof(state));
	sha256_end(&all, should, sizeof(should));
	sha256_lanes_begin(&lanes);
	for (size_t at = 0; at < n; at += piece)
		sha256_lanes_add(&lanes, bytes + at, n - at < piece ? n - at : piece);
	sha256_lanes_end(&lanes, is, sizeof(is));
	EXPECT(memcmp(is, should, sizeof(is)) == 0);
}

TEST(each_lane_is_sha256s_compression)
{
	static const size_t sizes[] = {0, 1, 4, 511, 512, 513, 1024, 1500};
	uint8_t bytes[1500];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7 + i / 256);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		expect_lanes(bytes, sizes[i], 1500);
		expect_lanes(bytes, sizes[i], 100);
	}
}
