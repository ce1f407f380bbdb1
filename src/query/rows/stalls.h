/* SPDX-License-Identifier: BSD-2-Clause */
/* Stalled instructions of several procedures, and the procedures that suffer from one cause. */
#ifndef QUERY_ROWS_STALLS_H
#define QUERY_ROWS_STALLS_H

#include "query/rows/calc.h"

struct stall_row {
	double cycles;	   /* stalled */
	double executions; /* of the instruction */
	enum count_confidence confidence;
	uint32_t causes, measured; /* as in struct calc_insn */
	uint64_t svma;
	const char *procedure, *image, *file; /* FILE NULL: not known */
	uint32_t line;
};

/* The cycles of one procedure. */
struct stall_proc {
	const char *procedure, *image;
	struct calc_tally tally;
};

struct stalls {
	VEC(struct stall_row) rows;
	VEC(struct stall_proc) procs;
	struct calc_tally tally; /* of all procedures */
	const char *unit;	 /* of cycles; NULL: nothing was added */
	struct arena arena;
};

/* Adds what C, of listing L, has; texts are copied. */
void stalls_add(struct stalls *s, const struct listing *l, const struct calc *c);

/* Keeps the N rows of the most stalled cycles, in falling order, of stalls of at least LENGTH
 * cycles an execution. */
void stalls_keep(struct stalls *s, size_t n, double length);

/* Sorts procedures by falling high cycles of KIND, a row of calc_kinds.h, and drops those that have
 * none. */
void stalls_keep_kind(struct stalls *s, unsigned kind);
void stalls_release(struct stalls *s);

#endif
