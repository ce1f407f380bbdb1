/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of `dwell stats`. */
#ifndef VIEW_SPREAD_H
#define VIEW_SPREAD_H

#include "query/compare/spread.h"
#include "view/emit.h"

struct spread_view {
	double keep_pct;  /* only the rows of most samples that hold so much of the sum */
	double range_pct; /* only rows whose range is at least this */
	bool no_header;
	const char *const *names; /* of the sets */
};

/* Emits the document; *RET_N is how many rows were shown. */
void spread_emit(struct emit *e, const struct spread *s, const struct spread_view *v,
		 size_t *ret_n);

#endif
