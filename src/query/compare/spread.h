/* SPDX-License-Identifier: BSD-2-Clause */
/* Many sets of samples row by row: how much they have in all, and how far they are apart. */
#ifndef QUERY_COMPARE_SPREAD_H
#define QUERY_COMPARE_SPREAD_H

#include "query/compare/set_rows.h"

struct spread_row {
	const struct set_row *row;
	unsigned n;	    /* sets that have samples there; the others count with 0 */
	unsigned n_unknown; /* sets of which it is unknown what they have, or of ratios have none;
			       they do not count */
	bool is_least;	    /* some set may have more than is known */
	double sum, mean, deviation, least, most; /* of amounts, over all sets */
	double range; /* how far apart: (most - least) / sum, as dcpistats has it */
};

struct spread {
	struct set_rows set;
	double sum;		     /* of all amounts */
	VEC(struct spread_row) rows; /* by falling range */
};

/* Compares N SETS, which must outlive S; see set_rows_init.  With SHARES amounts are scaled, so
 * that all sets have as much as they have on average.  The deviation is that of a sample, over n
 * - 1.  -EINVAL for shares of ratios. */
int spread_init(struct spread *s, struct source *const *sets, unsigned n, enum scope_kind level,
		const opt_list *images, bool shares, struct err *err);
void spread_release(struct spread *s);

/* The sum that a row must have to be among those that make KEEP_PCT of all; 0: all rows are kept,
 * infinite: none. */
double spread_least_sum(const struct spread *s, double keep_pct);

#endif
