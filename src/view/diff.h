/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of `dwell diff`. */
#ifndef VIEW_DIFF_H
#define VIEW_DIFF_H

#include "query/compare/diff.h"
#include "view/emit.h"

struct diff_view {
	bool all;	/* rows too that may differ by chance, or by less than MIN_PCT */
	double min_pct; /* rows that changed by less, in percent of all, are hidden */
	bool absolute, no_header;
	double alpha;
	const char *names[2]; /* what the user called the sets */
	const char *unit;     /* amounts are shown for one of these; NULL: not */
	double per[2];	      /* how many of them each set did */
	bool is_same;	      /* both are the same samples */
};

/* Whether D's row R is among those shown. */
bool diff_shows(const struct diff_view *v, const struct diff_row *r);

/* Emits the document. */
void diff_emit(struct emit *e, const struct diff *d, const struct diff_view *v);

#endif
