/* SPDX-License-Identifier: BSD-2-Clause */
/* A cursor over bytes from outside.  Reading past the end yields 0 and sets `bad`, which stays set:
 * read a whole record, then check once.  Nothing is ever read outside [p, end). */
#ifndef BASE_RD_H
#define BASE_RD_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct rd {
	const uint8_t *start; /* where the cursor began, for rd_off */
	const uint8_t *p, *end;
	bool bad;
};

static inline struct rd rd_init(const void *bytes, size_t n_bytes)
{
	const uint8_t *p = n_bytes ? bytes : (const uint8_t *)""; /* NULL + 0 is undefined */

	return (struct rd){.start = p, .p = p, .end = p + n_bytes};
}

static inline size_t rd_left(const struct rd *r)
{
	return (size_t)(r->end - r->p);
}

/* Bytes consumed so far: the place to name in an error. */
static inline size_t rd_off(const struct rd *r)
{
	return (size_t)(r->p - r->start);
}

/* Returns the next N bytes and steps over them, or NULL. */
static inline const uint8_t *rd_bytes(struct rd *r, size_t n)
{
	const uint8_t *p = r->p;

	if (n > rd_left(r)) {
		r->bad = true;
		r->p = r->end;
		return NULL;
	}
	if (n) /* P may be NULL when N is 0 */
		r->p += n;
	return p;
}

static inline uint8_t rd_u8(struct rd *r)
{
	const uint8_t *p = rd_bytes(r, 1);

	return p ? *p : 0;
}

static inline uint16_t rd_le16(struct rd *r)
{
	const uint8_t *p = rd_bytes(r, 2);

	return p ? (uint16_t)(p[0] | p[1] << 8) : 0;
}

static inline uint32_t rd_le32(struct rd *r)
{
	const uint8_t *p = rd_bytes(r, 4);
	uint32_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

static inline uint64_t rd_le64(struct rd *r)
{
	const uint8_t *p = rd_bytes(r, 8);
	uint64_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

/* LEB128, at most ten bytes; an eleventh, or bits above 64, is bad. */
static inline uint64_t rd_uleb(struct rd *r)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 70; shift += 7) {
		uint8_t b = rd_u8(r);

		if (shift == 63 && b > 1)
			break;
		v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			return r->bad ? 0 : v;
	}
	r->bad = true;
	return 0;
}

/* Zigzag LEB128: 0, -1, 1, -2, ... as 0, 1, 2, 3, ... */
static inline int64_t rd_sleb(struct rd *r)
{
	uint64_t z = rd_uleb(r);

	return (int64_t)(z >> 1) ^ -(int64_t)(z & 1);
}

/* Reads a count of elements that need at least ELEM_BYTES (1 or more) each.  The count is bad
 * unless so many fit in what is left, so that no hostile size reaches an allocator. */
static inline size_t rd_count(struct rd *r, size_t elem_bytes)
{
	uint64_t n = rd_uleb(r);

	if (n > rd_left(r) / elem_bytes) {
		r->bad = true;
		return 0;
	}
	return (size_t)n;
}

#endif
