/* SPDX-License-Identifier: BSD-2-Clause */
/* Sample sets address by address: the table of `dwell cat --pm`. */
#ifndef VIEW_CAT_SETS_H
#define VIEW_CAT_SETS_H

#include "query/samples/spot_rows.h"
#include "view/emit.h"

/* Emits the header and a row for each address of IMAGES (NULL: all) that has something in a column,
 * images by path.  Returns how many. */
size_t cat_sets_emit(struct emit *e, struct query *q, const image_ids *images);

#endif
