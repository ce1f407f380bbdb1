/* SPDX-License-Identifier: BSD-2-Clause */
/* Which procedures with samples somebody means by a name. */
#ifndef QUERY_SAMPLES_LISTING_FIND_H
#define QUERY_SAMPLES_LISTING_FIND_H

#include "query/rows/columns.h"
#include "query/samples/query.h"
#include "query/select.h"

struct found_proc {
	image_id image;
	struct procedure p;  /* p.index == PROC_NONE: code no symbol covers, from the address on */
	const char *inlined; /* a function inlined into P; NULL: P itself.  Lives as the resolver */
	double samples;	     /* in the column that rows are hidden by */
};
typedef VEC(struct found_proc) found_list;

/* What is looked for. */
struct listing_name {
	const char *name; /* see proc_name_means; or an address, "0x401010", in the procedure */
	const char *into; /* only what is inlined into procedures of this name; NULL: all */
	const image_ids *images; /* NULL: all with samples */
};

/* Appends to RET what N may mean, the one with the most samples of COLUMNS first.  What has no
 * samples is there only when nothing has any.  -ENOENT: nothing has the name. */
int listing_find(struct query *q, const struct columns *columns, const struct listing_name *n,
		 found_list *ret, struct err *err);

/* Q's spots of IMAGE in [START, END). */
struct spot_range {
	const struct spot *first, *end;
};
struct spot_range listing_spots(const struct query *q, image_id image, uint64_t start,
				uint64_t end);

/* Adds the samples at S to TO, one number for each of Q's columns. */
void listing_add_spot(const struct query *q, double *to, const struct spot *s);

/* Whether the function INLINED has the instruction at SVMA. */
bool listing_has_inlined(struct query *q, image_id image, uint64_t svma, const char *inlined);

#endif
