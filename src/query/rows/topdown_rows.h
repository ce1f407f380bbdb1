/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the pipeline's slots went (events/topdown.h), in all and of each procedure, for recordings
 * of the events that tell it. */
#ifndef QUERY_ROWS_TOPDOWN_ROWS_H
#define QUERY_ROWS_TOPDOWN_ROWS_H

#include "events/topdown.h"
#include "query/source.h"

struct topdown_row {
	const char *procedure, *image; /* NULL: of all */
	struct topdown t;
};

struct topdown_rows {
	bool known;
	struct topdown_events events; /* when known */
	struct str why_not;	      /* else */
	VEC(struct topdown_row) rows; /* all, then procedures of the most slots first */
	struct arena arena;
};

/* Fills RET from S: all samples in images called IMAGES (none: all), and the MOST procedures of the
 * most slots.  Release RET in any case. */
int topdown_rows_gather(struct source *s, const opt_list *images, size_t most,
			struct topdown_rows *ret, struct err *err);
void topdown_rows_release(struct topdown_rows *t);

#endif
