/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory of one lifetime, freed whole: a loaded profile, a symbol table, one query.
 * A zeroed struct arena is a valid empty one.  Pieces never move. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena_chunk;

struct arena {
	struct arena_chunk *chunk; /* newest first */
	char *next, *end;	   /* free part of the newest chunk */
	size_t n_bytes;		   /* handed out in all */
};

/* Returns N_BYTES of uninitialised memory aligned for any type; lives until arena_release. */
void *arena_alloc(struct arena *a, size_t n_bytes);

/* Returns room for N elements of ELEM_BYTES each, all zero; aborts when their product overflows. */
void *arena_calloc(struct arena *a, size_t n, size_t elem_bytes);

/* Copies N bytes of S and adds a NUL. */
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_strdup(struct arena *a, const char *s);

void arena_release(struct arena *a);

#endif
