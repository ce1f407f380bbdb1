/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of `dwell top`: the hottest instructions. */
#ifndef VIEW_TOP_H
#define VIEW_TOP_H

#include "query/samples/spot_rows.h"
#include "view/emit.h"

/* Emits the document with the N instructions of IMAGES (NULL: all) that have most samples of the
 * sort event or column.  Returns how many were there to choose from. */
size_t top_emit(struct emit *e, struct query *q, const image_ids *images, size_t n, bool no_header);

#endif
