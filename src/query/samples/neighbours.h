/* SPDX-License-Identifier: BSD-2-Clause */
/* Who called a procedure, and what it called, with how many of its samples. */
#ifndef QUERY_SAMPLES_NEIGHBOURS_H
#define QUERY_SAMPLES_NEIGHBOURS_H

#include "query/rows/flat.h"

struct neighbours {
	/* The procedures that call it, or that it calls, with the samples it has from them; they
	 * add up to `inclusive`.  Named.  Beside procedures there are rows of no image: "[root]",
	 * nobody called it; "[self]", it was there itself.  A path that is cut off above it has
	 * the mark's row, "[truncated: CAUSE]". */
	struct spot_rows rows;
	const char *procedure; /* its name */
	image_id image;	       /* ROW_NO_IMAGE: several procedures are called so */
	size_t n_procedures;   /* with samples in or below them */
	uint64_t *inclusive,
		*exclusive; /* its samples, one per column; live as long as the query */
};

/* Looks for the procedures called NAME, as a row is named or without arguments, or by the linked
 * name, or 0xADDRESS in one, in IMAGES (NULL: all); several are taken as one.  Recursion is folded:
 * its callers are those of the outermost, its callees those of the innermost of its calls on a
 * path, and it is never among them.  -ENOENT when no sample is in or below such a procedure, or no
 * sample has a caller. */
int neighbours_find(struct query *q, enum neighbour_kind kind, const char *name,
		    const image_ids *images, struct neighbours *ret, struct err *err);
void neighbours_release(struct neighbours *n);

#endif
