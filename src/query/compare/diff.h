/* SPDX-License-Identifier: BSD-2-Clause */
/* Two sets of samples row by row: how much of each is in an image, a procedure, a line or at an
 * address, and whether the difference is more than chance. */
#ifndef QUERY_COMPARE_DIFF_H
#define QUERY_COMPARE_DIFF_H

#include "query/compare/hosts.h"
#include "query/compare/set_rows.h"

struct diff_opts {
	enum scope_kind level; /* as of set_rows_init */
	bool absolute;	       /* amounts are compared as they are, not shares of all samples */
	double per[2];	       /* with ABSOLUTE: the work that each set did; 0: as if the same */
	double alpha; /* the chance that any row taken for changed did not change: 0 to 1 */
	const opt_list *images; /* names of those whose rows are wanted; NULL or none: all */
};

struct diff_row {
	const struct set_row *row;
	double share[2]; /* of all, 0 to 1 */
	double change; /* B less A: of shares, or with absolute of amounts over all of A's (each for
			  the same work) */
	double least_growth;	 /* the change should all that may be in A count,
			      * and nothing more in B */
	double p;		 /* Holm's adjusted probability; NaN: there is no test */
	bool is_significant;	 /* p is less than alpha; without a test: there is a change */
	bool may_be_significant; /* p is not, but would be if some of the samples of which it is
				    unknown whether they are in the sample set were */
};

struct diff {
	struct set_rows set;	   /* the two */
	VEC(struct diff_row) rows; /* by falling size of change */
	size_t n_tested;
	struct set_hosts hosts; /* of fleets */
};

/* Compares A with B, which must outlive D; see set_rows_init.  Rows of metrics and of events that
 * count time cannot be tested: whatever changed counts as significant.  Of a sample set shares are
 * of the samples known to be in it, and a row's p holds however many of those of the row that may
 * be in it are.  -EINVAL for counters and ratios, which have no test, -ENOENT when no sample of A
 * or of B is known to be in the set. */
int diff_init(struct diff *d, struct source *a, struct source *b, const struct diff_opts *o,
	      struct err *err);
void diff_release(struct diff *d);

#endif
