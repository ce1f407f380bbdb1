/* SPDX-License-Identifier: BSD-2-Clause */
/* The table that Go's linker writes for its own tracebacks, `.gopclntab`: functions with their
 * names, how deep the stack is at each instruction, files and lines, and what was inlined where.
 * It stays in stripped programs.
 *
 * Three layouts are read: Go 1.2 to 1.15, 1.16 and 1.17, 1.18 and later.  All offsets come from a
 * file nobody vouches for; what does not fit reads as not there. */
#ifndef UNWIND_GOPCLNTAB_H
#define UNWIND_GOPCLNTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/rd.h"

enum go_layout { GO_1_2, GO_1_16, GO_1_18, GO_1_20 };

/* Borrows the bytes it was opened with. */
struct go_table {
	const uint8_t *bytes;
	size_t n_bytes;
	enum go_layout layout;
	uint32_t quantum; /* bytes that program counters count in */
	uint32_t n_funcs;
	uint64_t text; /* svma that functions count from; 0: they are absolute */
	uint64_t funcs, names, units, files, values; /* where these begin in the bytes */
};

struct go_func {
	uint64_t start, end; /* svma */
	const char *name;    /* N_NAME bytes, not terminated */
	size_t n_name;
	uint32_t depths, files, lines, inlined; /* where their values are; 0: there are none */
	uint32_t unit;				/* its first file, of the table's units */
	uint32_t first_line;			/* 0: not known */
	uint64_t inline_tree;			/* as the file has it; 0: none */
};

/* A stretch of code with one value. */
struct go_value {
	uint64_t start, end; /* svma */
	int32_t value;
};

/* Goes over the values of one kind in a function. */
struct go_values {
	struct rd rd;
	uint64_t at, end;
	uint32_t quantum;
	int32_t value;
	bool is_first;
};

/* Opens the table in BYTES.  TEXT is where the code begins when the table does not say so.
 * -EBADMSG, -ENODATA, -EPROTONOSUPPORT: it is of no layout that is known. */
int go_table_open(struct go_table *t, const uint8_t *bytes, size_t n_bytes, uint64_t text,
		  struct err *err);

/* Reads function I, below n_funcs; false when it is damaged. */
bool go_table_func(const struct go_table *t, uint32_t i, struct go_func *ret);

/* Whether F is called NAME, in whichever calling convention. */
bool go_func_is(const struct go_func *f, const char *name);

/* Finds the function called NAME; false when there is none. */
bool go_table_find_name(const struct go_table *t, const char *name, struct go_func *ret);

/* Finds the function that covers SVMA; false when there is none. */
bool go_table_find(const struct go_table *t, uint64_t svma, struct go_func *ret);

/* Begins with the values of F at AT, one of its members. */
struct go_values go_values_begin(const struct go_table *t, const struct go_func *f, uint32_t at);

/* The next stretch, by ascending address; false behind the last one, and where it is damaged. */
bool go_values_next(struct go_values *v, struct go_value *ret);

/* The value of F at SVMA among those at AT; FALLBACK where there is none. */
int32_t go_table_value(const struct go_table *t, const struct go_func *f, uint32_t at,
		       uint64_t svma, int32_t fallback);

/* The name of file number FILE of F, of *RET_N bytes; NULL: it has none. */
const char *go_table_file(const struct go_table *t, const struct go_func *f, int32_t file,
			  size_t *ret_n);

/* The name at NAME, an offset that the inline tree has; NULL: there is none. */
const char *go_table_name(const struct go_table *t, uint32_t name, size_t *ret_n);

#endif
