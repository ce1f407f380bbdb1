/* SPDX-License-Identifier: BSD-2-Clause */
/* How often each block of a procedure ran, from what is known of some of its code, and how sure
 * that is. */
#ifndef RESOLVE_BLOCK_COUNTS_H
#define RESOLVE_BLOCK_COUNTS_H

#include "base/err.h"
#include "resolve/flow.h"

enum count_confidence {
	COUNT_UNKNOWN,
	COUNT_LOW,
	COUNT_MEDIUM, /* within 5 %: so are 99 of 100 */
	COUNT_HIGH,   /* within 2.5 % */
	COUNT_EXACT,
};

struct block_count {
	double n; /* 0 when it is not known */
	enum count_confidence confidence;
};

/* Where jumps go to (n > 0), or the first byte behind the start of a jump (n < 0). */
struct run_end {
	uint64_t svma;
	int64_t n;
	uint64_t n_again; /* for each of N, others of its stack (struct branch); 0: not told */
};
typedef VEC(struct run_end) run_ends;

/* Fills COUNTS, one for each block of F, from the N jumps ENDS of N_STACKS sampled branch stacks
 * (0: nobody knows how many), in any order; sorts ENDS.  None is COUNT_UNKNOWN or COUNT_EXACT then.
 * Time: O((blocks + N) log N). */
void block_counts_of_branches(const struct flow *f, struct run_end *ends, size_t n,
			      uint64_t n_stacks, struct block_count *counts);

/* How sure a count N is whose standard deviation is DEVIATION: COUNT_LOW to COUNT_HIGH. */
enum count_confidence count_confidence_of(double n, double deviation);

/* Control that comes to block B of F goes on along B's edges. */
bool block_goes_on(const struct flow *f, uint32_t b);

/* Returns "exact", "high", ... */
const char *count_confidence_name(enum count_confidence c);

/* The opposite, for --conf: low, medium, high or exact; -EINVAL otherwise. */
int count_confidence_parse(const char *name, enum count_confidence *ret, struct err *err);

#endif
