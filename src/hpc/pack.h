/* SPDX-License-Identifier: BSD-2-Clause */
/* What processes of one build tell each other, as bytes.  All run the same program on machines of
 * one kind, so these are the bytes of memory. */
#ifndef HPC_PACK_H
#define HPC_PACK_H

#include <stdint.h>

#include "base/vec.h"

struct pack {
	VEC(char) bytes;
};

static inline void pack_bytes(struct pack *p, const void *bytes, size_t n)
{
	vec_reserve(&p->bytes, n + 1);
	if (n)
		memcpy(p->bytes.v + p->bytes.n, bytes, n);
	p->bytes.n += n;
}

static inline void pack_number(struct pack *p, uint64_t n)
{
	pack_bytes(p, &n, sizeof(n));
}

static inline void pack_text(struct pack *p, const char *text)
{
	pack_bytes(p, text, strlen(text) + 1);
}

/* The N elements of SIZE bytes at V, behind their number. */
static inline void pack_array(struct pack *p, const void *v, size_t n, size_t size)
{
	pack_number(p, n);
	pack_bytes(p, v, n * size);
}

struct unpack {
	const char *at;
};

static inline void unpack_bytes(struct unpack *u, void *ret, size_t n)
{
	if (n)
		memcpy(ret, u->at, n);
	u->at += n;
}

static inline uint64_t unpack_number(struct unpack *u)
{
	uint64_t n;

	unpack_bytes(u, &n, sizeof(n));
	return n;
}

/* Lives as long as the bytes. */
static inline const char *unpack_text(struct unpack *u)
{
	const char *text = u->at;

	u->at += strlen(text) + 1;
	return text;
}

/* An array in fresh memory. */
static inline void *unpack_array(struct unpack *u, size_t *ret_n, size_t size)
{
	size_t n = unpack_number(u);
	void *v = xcalloc(n + 1, size);

	unpack_bytes(u, v, n * size);
	*ret_n = n;
	return v;
}

#endif
