/* SPDX-License-Identifier: BSD-2-Clause */
/* The basic blocks of one procedure: how often each ran, how sure that is, and the samples in
 * it. */
#ifndef QUERY_ROWS_BLOCKS_H
#define QUERY_ROWS_BLOCKS_H

#include "port/exact_counts.h"
#include "query/rows/listing.h"
#include "resolve/block_counts.h"

/* What counts of blocks are made of. */
enum blocks_basis {
	BLOCKS_OF_BRANCHES, /* jumps of branch stacks: counts are of the runs between */
	BLOCKS_OF_RETIRED,  /* samples of retired instructions: counts are executions */
	BLOCKS_EXACT,	    /* another tool's counts of instructions */
	BLOCKS_OF_LINES,    /* another tool's counts of source lines */
};

struct block_row {
	uint64_t start, end; /* svma */
	uint32_t n_insns;
	uint32_t n_loops; /* around it */
	struct block_count count;
	const double *samples; /* as counts of struct listing */
};

struct blocks {
	VEC(struct block_row) v; /* ascending */
	enum blocks_basis basis;
	const char *basis_text; /* for people: "branch stacks" */
	uint64_t n_basis; /* jumps in or to the procedure, samples, instructions or lines counted */
	uint32_t n_unknown_jumps; /* that lead nobody knows where */
	uint32_t n_unknown;	  /* blocks without a count */
	struct arena arena;
};

/* Fills RET with the blocks of L's procedure, and of its cold parts.  EXACT (NULL: none) says how
 * often instructions or lines ran; otherwise branch stacks do, otherwise samples of retired
 * instructions.  -ENODATA: nothing says it; -ENOTSUP: there is no code, or it cannot be followed.
 * RET is empty after an error; blocks_release it in any case. */
int blocks_gather(const struct listing *l, const struct columns *columns,
		  const struct exact_counts *exact, struct blocks *ret, struct err *err);
void blocks_release(struct blocks *b);

#endif
