/* SPDX-License-Identifier: BSD-2-Clause */
/* Sample sets address by address: the table of `dwell cat --pm`. */
#ifndef VIEW_CAT_SETS_H
#define VIEW_CAT_SETS_H

#include "query/rows/flat.h"
#include "view/emit.h"

/* Emits the document of F's rows, which are of addresses in order of places. */
void cat_sets_emit(struct emit *e, struct flat *f);

#endif
