/* SPDX-License-Identifier: BSD-2-Clause */
/* See alloc.h. */
#include "base/alloc.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void (*oom_hook)(void);

void alloc_set_oom(void (*hook)(void))
{
	oom_hook = hook;
}

void alloc_fail(void)
{
	if (oom_hook)
		oom_hook();
	abort();
}

static void *checked(void *p)
{
	if (!p)
		alloc_fail();
	return p;
}

void *xmalloc(size_t n_bytes)
{
	return checked(malloc(n_bytes ? n_bytes : 1));
}

void *xcalloc(size_t n, size_t elem_bytes)
{
	return checked(calloc(n ? n : 1, elem_bytes ? elem_bytes : 1));
}

void *xrealloc(void *p, size_t n, size_t elem_bytes)
{
	size_t n_bytes;

	if (__builtin_mul_overflow(n, elem_bytes, &n_bytes))
		return checked(NULL);
	return checked(realloc(p, n_bytes ? n_bytes : 1));
}

char *xstrdup(const char *s)
{
	return checked(strdup(s));
}

char *xstrndup(const char *s, size_t n)
{
	return checked(strndup(s, n));
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	return checked(n < 0 ? NULL : s);
}

void *xmemdup(const void *p, size_t n_bytes)
{
	void *q = xmalloc(n_bytes);

	if (n_bytes)
		memcpy(q, p, n_bytes);
	return q;
}
