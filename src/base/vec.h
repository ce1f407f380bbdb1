/* SPDX-License-Identifier: BSD-2-Clause */
/* A growing array of any type.
 *
 *     struct { ... } or any type T:   VEC(struct row) rows = {0};
 *     vec_push(&rows, (struct row){...});          rows.v[i], rows.n
 *     struct row *r = vec_add(&rows);              a new zeroed element
 *     vec_release(&rows);
 *
 * Growing moves the elements: pointers into .v live until the next push.  What is pushed is read
 * after the move, so it must not be read through such a pointer. */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define VEC(type)                                                                                  \
	struct {                                                                                   \
		type *v;                                                                           \
		size_t n, cap;                                                                     \
	}

/* Makes room for at least MORE further elements. */
#define vec_reserve(vec, more)                                                                     \
	do {                                                                                       \
		if ((vec)->n + (more) > (vec)->cap) {                                              \
			(vec)->cap = (vec)->cap * 2 > (vec)->n + (more) ? (vec)->cap * 2           \
									: (vec)->n + (more) + 4;   \
			(vec)->v = xrealloc((vec)->v, (vec)->cap, sizeof(*(vec)->v));              \
		}                                                                                  \
	} while (0)

#define vec_push(vec, ...)                                                                         \
	do {                                                                                       \
		vec_reserve(vec, 1);                                                               \
		(vec)->v[(vec)->n++] = (__VA_ARGS__);                                              \
	} while (0)

#define vec_add(vec)                                                                               \
	({                                                                                         \
		vec_reserve(vec, 1);                                                               \
		memset(&(vec)->v[(vec)->n], 0, sizeof(*(vec)->v));                                 \
		&(vec)->v[(vec)->n++];                                                             \
	})

/* Element I.  What is missing up to I is added, zeroed. */
#define vec_at(vec, i)                                                                             \
	({                                                                                         \
		size_t at_ = (i);                                                                  \
		if (at_ >= (vec)->n) {                                                             \
			vec_reserve(vec, at_ + 1 - (vec)->n);                                      \
			memset(&(vec)->v[(vec)->n], 0, (at_ + 1 - (vec)->n) * sizeof(*(vec)->v));  \
			(vec)->n = at_ + 1;                                                        \
		}                                                                                  \
		&(vec)->v[at_];                                                                    \
	})

#define vec_release(vec)                                                                           \
	do {                                                                                       \
		free((vec)->v);                                                                    \
		(vec)->v = NULL;                                                                   \
		(vec)->n = (vec)->cap = 0;                                                         \
	} while (0)

/* The memory of the array. */
#define vec_bytes(vec) ((vec)->cap * sizeof(*(vec)->v))

/* The array, which is left empty: its elements are the caller's now. */
#define vec_take(vec)                                                                              \
	({                                                                                         \
		__typeof__(*(vec)) taken_ = *(vec);                                                \
		(vec)->v = NULL;                                                                   \
		(vec)->n = (vec)->cap = 0;                                                         \
		taken_;                                                                            \
	})

/* An array that is released at the end of its scope: `_vec_ VEC(struct row) rows = {0};`.  It has
 * .v first, whatever its type. */
static inline void vec_cleanup_(void *vec)
{
	free(*(void **)vec);
}
#define _vec_ __attribute__((cleanup(vec_cleanup_)))

#define vec_sort(vec, cmp)                                                                         \
	do {                                                                                       \
		if ((vec)->n > 1)                                                                  \
			qsort((vec)->v, (vec)->n, sizeof(*(vec)->v), cmp);                         \
	} while (0)

/* P is NULL when there never was an element, and NULL + 0 is undefined. */
#define vec_each(p, vec)                                                                           \
	for (__typeof__(*(vec)->v) *p = (vec)->v; p && p < (vec)->v + (vec)->n; p++)

#define n_elems(array) (sizeof(array) / sizeof((array)[0]))

#endif
