/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes on their way out: the writing twin of rd.h.  A zeroed struct wr is empty;
 * wr_release frees. */
#ifndef BASE_WR_H
#define BASE_WR_H

#include <stdint.h>
#include <string.h>

#include "base/vec.h"

struct wr {
	uint8_t *v;
	size_t n, cap;
};

static inline void wr_bytes(struct wr *w, const void *p, size_t n)
{
	vec_reserve(w, n);
	if (n)
		memcpy(w->v + w->n, p, n);
	w->n += n;
}

static inline void wr_u8(struct wr *w, uint8_t x)
{
	vec_push(w, x);
}

static inline void wr_le16(struct wr *w, uint16_t x)
{
	wr_u8(w, (uint8_t)x);
	wr_u8(w, (uint8_t)(x >> 8));
}

static inline void wr_le32(struct wr *w, uint32_t x)
{
	wr_le16(w, (uint16_t)x);
	wr_le16(w, (uint16_t)(x >> 16));
}

static inline void wr_le64(struct wr *w, uint64_t x)
{
	wr_le32(w, (uint32_t)x);
	wr_le32(w, (uint32_t)(x >> 32));
}

static inline void wr_uleb(struct wr *w, uint64_t x)
{
	vec_reserve(w, 10); /* the most that 64 bits take */
	while (x >= 0x80) {
		w->v[w->n++] = (uint8_t)(x | 0x80);
		x >>= 7;
	}
	w->v[w->n++] = (uint8_t)x;
}

static inline void wr_sleb(struct wr *w, int64_t x)
{
	wr_uleb(w, (uint64_t)x << 1 ^ (uint64_t)(x >> 63));
}

static inline void wr_release(struct wr *w)
{
	vec_release(w);
}

#endif
