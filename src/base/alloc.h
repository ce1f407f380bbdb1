/* SPDX-License-Identifier: BSD-2-Clause */
/* Allocation that cannot fail: sizes bounded by the program itself.  When memory runs out the `oom`
 * hook is called, which aborts; a database survives that because its writes are atomic.  Sizes that
 * come out of a file must have been checked against the file's length first (see rd.h). */
#ifndef BASE_ALLOC_H
#define BASE_ALLOC_H

#include <stddef.h>

void *xmalloc(size_t n_bytes);
void *xcalloc(size_t n, size_t elem_bytes); /* aborts when n * elem_bytes overflows */
void *xrealloc(void *p, size_t n, size_t elem_bytes);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Copies N_BYTES at P to the heap. */
void *xmemdup(const void *p, size_t n_bytes);

/* Calls the `oom` hook, as xmalloc does when memory runs out.  For code that allocates
 * otherwise. */
_Noreturn void alloc_fail(void);

/* Sets the function called when memory runs out; it must not return.  NULL restores abort(). */
void alloc_set_oom(void (*hook)(void));

#endif
