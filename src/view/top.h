/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of `dwell top`: the hottest instructions. */
#ifndef VIEW_TOP_H
#define VIEW_TOP_H

#include "query/rows/flat.h"
#include "view/emit.h"

/* Emits the document of F's rows, which are of addresses. */
void top_emit(struct emit *e, struct flat *f, bool no_header);

#endif
