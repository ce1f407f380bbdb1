/* SPDX-License-Identifier: BSD-2-Clause */
/* How often code ran, as a tool that sees all of it counted: each instruction, by callgrind's files
 * with addresses (valgrind --tool=callgrind --dump-instr=yes), or each source line, by gcov's (gcov
 * --json-format, packed or not). */
#ifndef PORT_EXACT_COUNTS_H
#define PORT_EXACT_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "formats/gcov.h"

struct exact_count {
	const char *image; /* its path; lives as long as the counts */
	uint64_t svma, n;
};

struct exact_counts {
	VEC(struct exact_count) v; /* by image, then svma, each once */
	struct arena arena;
	bool of_lines;	   /* V is empty, LINES counts */
	struct gcov lines; /* by file, then line */
};

/* Reads the N BYTES of a file of callgrind or gcov.  -EBADMSG: damaged; -EINVAL: it is none, or has
 * no addresses, or does not count instructions.  C is empty after an error. */
int exact_counts_init(struct exact_counts *c, const uint8_t *bytes, size_t n, struct err *err);
void exact_counts_release(struct exact_counts *c);

/* The counts of instructions of the image at PATH, or where none is there, of the one with its last
 * name. */
struct exact_range {
	const struct exact_count *first, *end;
};
struct exact_range exact_counts_of(const struct exact_counts *c, const char *path);

/* The lines LINE of FILE, or where there is no such file, of one with its last name: one for each
 * function that has it. */
struct line_range {
	const struct gcov_line *first, *end;
};
struct line_range exact_counts_of_line(const struct exact_counts *c, const char *file,
				       uint32_t line);

#endif
