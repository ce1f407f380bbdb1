/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of tables: spots summed by image, by procedure, or one by one. */
#ifndef QUERY_ROWS_H
#define QUERY_ROWS_H

#include "query/query.h"

struct row {
	image_id image;
	uint32_t proc; /* the procedure's index in the image's symtab; PROC_NONE: no symbol */
	uint64_t svma; /* of the procedure's start, or of the spot */
	const char *procedure;	/* see rows_name; NULL before */
	bool nameless;		/* no symbol says so: see rows_name */
	const uint64_t *counts; /* one per column, stored samples; lives as long as the query */
};

struct rows {
	VEC(struct row) rows;
	uint64_t total; /* of the sort column over all rows, those rows_keep dropped included */
};

/* One row per image with samples.  IMAGES limits them; NULL means all. */
void rows_by_image(struct query *q, const image_ids *images, struct rows *ret);

/* One row per procedure with samples, and one per image (proc == PROC_NONE) for addresses no symbol
 * covers.  Two procedures of one name are two rows. */
void rows_by_procedure(struct query *q, const image_ids *images, struct rows *ret);

/* One row per address with samples. */
void rows_by_spot(struct query *q, const image_ids *images, struct rows *ret);

void rows_release(struct rows *r);

/* Sorts by falling count of the query's sort column, then of the others, then image path and
 * address. */
void rows_sort(const struct query *q, struct rows *r);

/* Keeps the fewest of the sorted rows that hold PCT percent (0 to 100) of the total; 100 keeps
 * every row, those too that have samples of other events only. */
void rows_keep(const struct query *q, struct rows *r, double pct);

/* Gives each row the name of its procedure: "[no symbol]" without one, "[unknown]" in no image. */
void rows_name(struct query *q, struct rows *r);

#endif
