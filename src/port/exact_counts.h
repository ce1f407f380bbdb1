/* SPDX-License-Identifier: BSD-2-Clause */
/* How often each instruction ran, as a tool that sees all of them counted: callgrind's files with
 * addresses (valgrind --tool=callgrind --dump-instr=yes). */
#ifndef PORT_EXACT_COUNTS_H
#define PORT_EXACT_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"

struct exact_count {
	const char *image; /* its path; lives as long as the counts */
	uint64_t svma, n;
};

struct exact_counts {
	VEC(struct exact_count) v; /* by image, then svma, each once */
	struct arena arena;
};

/* Reads the N BYTES of a file of callgrind.  -EBADMSG: damaged; -EINVAL: it is none, or has no
 * addresses, or does not count instructions.  C is empty after an error. */
int exact_counts_init(struct exact_counts *c, const uint8_t *bytes, size_t n, struct err *err);
void exact_counts_release(struct exact_counts *c);

/* The counts of instructions of the image at PATH, or where none is there, of the one with its last
 * name. */
struct exact_range {
	const struct exact_count *first, *end;
};
struct exact_range exact_counts_of(const struct exact_counts *c, const char *path);

#endif
