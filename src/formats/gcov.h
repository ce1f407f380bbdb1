/* SPDX-License-Identifier: BSD-2-Clause */
/* What gcov writes with --json-format: how often each source line ran (gcov(1), "JSON"; GCC 9 and
 * later). */
#ifndef FORMATS_GCOV_H
#define FORMATS_GCOV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"

struct gcov_line {
	const char *file;     /* absolute where gcov says where it ran */
	const char *function; /* with its arguments; "" when it is not told */
	uint32_t line;	      /* 0: FUNCTION itself, N is how often it was called */
	uint64_t n;
};

struct gcov {
	VEC(struct gcov_line) v; /* as they come */
	struct arena arena;	 /* of the texts */
};

/* Whether the N bytes, unpacked, may be such a file. */
bool gcov_probe(const uint8_t *bytes, size_t n);

/* Appends the lines of the N bytes to G: one document, or one a line, as `gcov --stdout` writes
 * several.  -EBADMSG: damaged, or other JSON. */
int gcov_read(const uint8_t *bytes, size_t n, struct gcov *g, struct err *err);
void gcov_release(struct gcov *g);

#endif
