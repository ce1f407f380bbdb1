/* SPDX-License-Identifier: BSD-2-Clause */
/* Source lines of addresses, from DWARF 2 to 5.
 *
 * Opening reads nothing but headers.  The first question finds out which compilation unit covers
 * which addresses; a unit's line table is decoded once, when one of its addresses is first asked
 * for, into a sorted array that is searched from then on.  Memory is bounded by the units touched.
 * Everything here is for one thread. */
#ifndef RESOLVE_LINES_H
#define RESOLVE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct line {
	const char *file; /* full path (compilation directory joined); lives as long as the lines */
	uint32_t line;	  /* from 1; 0: code without a line (made by the compiler) */
	uint32_t discriminator; /* tells apart blocks of one line; 0: none */
	uint16_t column;	/* from 1; 0: none */
};

struct line_row {
	uint64_t svma, end; /* [svma, end) */
	struct line at;
};

/* The lines a procedure was written in, as far as can be told. */
struct lines_extent {
	const char *file;
	uint32_t first, last; /* first <= last; both hold */
};

struct lines;

/* Opens the DWARF of the ELF file at FD, which may be closed afterwards; PATH is its name, for
 * messages and to find the file that dwz moved common parts to (.gnu_debugaltlink; fine when it is
 * absent).  A separate debug file gives the svmas of the code it belongs to.  Returns NULL when
 * there is nothing to read: -ENOENT no DWARF, -ENOTSUP a relocatable object (its addresses are not
 * final), -EBADMSG or -E2BIG for a damaged or hostile file, as *RET_CODE (not NULL) and ERR say. */
struct lines *lines_open(int fd, const char *path, int *ret_code, struct err *err);
void lines_close(struct lines *l);

/* Opens the lines of a file for inlines_names only: lines_find finds nothing, and less is read.
 * Errors as lines_open. */
struct lines *lines_open_scopes(int fd, const char *path, int *ret_code, struct err *err);

/* A larger file has no lines in lines_open_alone. */
#define LINES_MOST_MAPPED ((size_t)1 << 30)

/* Reads the lines of the file at FD without opening any other file.  ALT_FD is the one that dwz may
 * have moved parts of its DWARF to; -1: it is not there.  Both are borrowed.  A large file is
 * mapped: who cuts it meanwhile ends this process.  NULL: it has none, needs another file for them,
 * or is too large. */
struct lines *lines_open_alone(int fd, int alt_fd);

/* Finds the line of the instruction at SVMA: 0, or -ENOENT. */
int lines_find(struct lines *l, uint64_t svma, struct line *ret);

/* Finds all rows of [START, END), ascending and disjoint, the first and last cut to the range; puts
 * them into *RET (free it) and returns how many there are.  Addresses without lines have no row. */
size_t lines_range(struct lines *l, uint64_t start, uint64_t end, struct line_row **ret);

/* Tells where the procedure [START, END) stands in its file: from its declaration, when DWARF has
 * one, to the last of its lines before the next procedure of the file; else from the lowest to the
 * highest line it has in the file it begins in.  0, or -ENOENT. */
int lines_procedure(struct lines *l, uint64_t start, uint64_t end, struct lines_extent *ret);

/* Where the procedure whose code begins at START is defined, as DWARF has it: *RET_FILE (which
 * lives as long as L) and *RET_LINE.  False when it does not say. */
bool lines_declaration(struct lines *l, uint64_t start, const char **ret_file, uint32_t *ret_line);

/* Finds the last procedure that the unit of the code at SVMA defines in FILE at or above LINE: its
 * line, or 0. */
uint32_t lines_declared_above(struct lines *l, uint64_t svma, const char *file, uint32_t line);

/* How much was decoded so far: compilation units and rows kept. */
void lines_stats(const struct lines *l, size_t *ret_n_units, size_t *ret_n_rows);

#endif
