/* SPDX-License-Identifier: BSD-2-Clause */
/* Two sets of samples row by row: how much of each is in an image, a procedure, a line or at an
 * address, and whether the difference is more than chance. */
#ifndef QUERY_DIFF_H
#define QUERY_DIFF_H

#include "query/scopes.h"

struct diff_opts {
	enum scope_kind level; /* SCOPE_IMAGE, SCOPE_PROCEDURE, SCOPE_LINE or SCOPE_ADDRESS */
	bool absolute;	       /* amounts are compared as they are, not shares of all samples */
	double alpha; /* the chance that any row taken for changed did not change: 0 to 1 */
	const opt_list *images; /* names of those whose rows are wanted; NULL or none: all */
};

/* One of the two sets as far as it is compared. */
struct diff_side {
	struct query *q;
	uint64_t n_samples; /* of the event, idle time left out */
	double amount;	    /* what they stand for: counts of the event, nanoseconds */
	double n_effective; /* as many samples of equal weight would tell as much */
};

struct diff_row {
	enum scope_kind kind;
	enum image_kind image_kind;
	const char *image;     /* its path; B's when it has samples there */
	const char *procedure; /* NULL by image */
	const char *file;      /* of a line; NULL not known */
	uint32_t line;	       /* 0 not known */
	uint64_t svma;	       /* of an address */
	uint64_t n[2];	       /* samples as stored; of events that count time, nanoseconds */
	double amount[2];
	double share[2];     /* of all, 0 to 1 */
	double change;	     /* B less A: of shares, or with absolute of amounts over all of A's */
	double p;	     /* Holm's adjusted probability; NaN: there is no test */
	bool is_significant; /* p is less than alpha; without a test: there is a change */
};

struct diff {
	const char *event;
	bool is_time; /* the event counts time: rows cannot be tested */
	struct diff_side sides[2];
	VEC(struct diff_row) rows; /* by falling size of change */
	size_t n_tested;
	unsigned n_rebuilt;  /* images that are of one name but of another build in each set */
	const char *rebuilt; /* one of them */
	struct arena arena;
};

/* Compares A with B, which must outlive D, in the event that A is sorted by.  Rows of the two are
 * the same when what they are called is: images by kind and path (or by the last part of the path
 * where only one of each set has it), procedures by image and name, lines by procedure, file's name
 * and number, addresses by image, its build and address.  -ENOENT when B does not have the event or
 * a set has no samples. */
int diff_init(struct diff *d, struct query *a, struct query *b, const struct diff_opts *o,
	      struct err *err);
void diff_release(struct diff *d);

#endif
