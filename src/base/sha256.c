/* SPDX-License-Identifier: BSD-2-Clause */
/* See sha256.h. */
#include "base/sha256.h"

#include <assert.h>
#include <string.h>

void sha256_begin(struct sha256 *s)
{
	sha256_init(&s->state);
}

void sha256_add(struct sha256 *s, const void *p, size_t n)
{
	sha256_update(&s->state, n, p);
}

void sha256_add_u64(struct sha256 *s, uint64_t x)
{
	uint8_t b[8];

	for (unsigned i = 0; i < 8; i++)
		b[i] = (uint8_t)(x >> 8 * i);
	sha256_add(s, b, sizeof(b));
}

void sha256_add_text(struct sha256 *s, const char *text)
{
	sha256_add(s, text, strlen(text) + 1);
}

void sha256_end(struct sha256 *s, uint8_t *ret, size_t n)
{
	assert(n <= SHA256_BYTES);
	sha256_digest(&s->state, n, ret);
}

uint64_t sha256_end_u64(struct sha256 *s)
{
	uint8_t bytes[8];
	uint64_t x = 0;

	sha256_end(s, bytes, sizeof(bytes));
	for (unsigned i = 0; i < sizeof(bytes); i++)
		x |= (uint64_t)bytes[i] << 8 * i;
	return x;
}
