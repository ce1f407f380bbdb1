/* SPDX-License-Identifier: BSD-2-Clause */
/* See arena.h.  Chunks double from 4 KiB to 1 MiB; a larger piece gets a chunk of its own. */
#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

struct arena_chunk {
	struct arena_chunk *older;
	size_t n_bytes;
	max_align_t data[];
};

static void add_chunk(struct arena *a, size_t at_least)
{
	size_t n = a->chunk ? a->chunk->n_bytes * 2 : 4096;
	struct arena_chunk *c;

	if (n > 1 << 20)
		n = 1 << 20;
	if (n < at_least)
		n = at_least;
	c = xmalloc(sizeof(*c) + n);
	c->older = a->chunk;
	c->n_bytes = n;
	a->chunk = c;
	a->next = (char *)c->data;
	a->end = a->next + n;
}

static void *arena_take(struct arena *a, size_t n_bytes, size_t align)
{
	uintptr_t p = ((uintptr_t)a->next + align - 1) & ~(uintptr_t)(align - 1);

	if (!a->next || p + n_bytes > (uintptr_t)a->end) {
		add_chunk(a, n_bytes + align);
		p = ((uintptr_t)a->next + align - 1) & ~(uintptr_t)(align - 1);
	}
	a->next = (char *)p + n_bytes;
	a->n_bytes += n_bytes;
	return (void *)p;
}

void *arena_alloc(struct arena *a, size_t n_bytes)
{
	return arena_take(a, n_bytes, _Alignof(max_align_t));
}

void *arena_calloc(struct arena *a, size_t n, size_t elem_bytes)
{
	size_t n_bytes;

	if (__builtin_mul_overflow(n, elem_bytes, &n_bytes))
		alloc_fail();
	return memset(arena_alloc(a, n_bytes), 0, n_bytes);
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	char *p = arena_take(a, n + 1, 1);

	memcpy(p, s, n);
	p[n] = '\0';
	return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

void arena_release(struct arena *a)
{
	struct arena_chunk *c = a->chunk, *older;

	for (; c; c = older) {
		older = c->older;
		free(c);
	}
	memset(a, 0, sizeof(*a));
}
