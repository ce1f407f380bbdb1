/* SPDX-License-Identifier: BSD-2-Clause */
/* The calling contexts that a query's samples have, and sums over them: inclusive counts. */
#ifndef QUERY_SAMPLES_PATHS_H
#define QUERY_SAMPLES_PATHS_H

#include "query/samples/spot_rows.h"

/* Whether some sample of Q has a caller. */
bool query_has_paths(const struct query *q);

struct paths {
	struct query *q;
	bool *used;	    /* by context: samples in or below it; the root is not */
	struct spot *spots; /* places of used contexts, each once, by image, then address */
	size_t n_spots;
};

void paths_init(struct paths *p, struct query *q);
void paths_release(struct paths *p);

/* Rows by BY (of owners, images, procedures) of the samples whose place is in IMAGES (NULL: all).
 * With INCLUSIVE, which needs images or procedures among the keys, rows have inclusive counts too:
 * the samples of all contexts whose path goes through the row's code, each once even where the path
 * comes back to it; so there are rows that have no samples of their own. */
void paths_rows(struct query *q, const struct row_by *by, bool inclusive, const image_ids *images,
		struct spot_rows *ret);

#endif
