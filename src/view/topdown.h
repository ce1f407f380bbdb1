/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a pipeline's slots went, as why and stat print it. */
#ifndef VIEW_TOPDOWN_H
#define VIEW_TOPDOWN_H

#include "query/rows/topdown_rows.h"
#include "view/emit.h"

/* Emits T: a table "topdown" of all samples and of procedures, or the line that says why there is
 * none. */
void topdown_emit(struct emit *e, const struct topdown_rows *t);

/* Emits the shares R that events T tell: one line of text, or an object "topdown" of percents. */
void topdown_emit_line(struct emit *e, const struct topdown_events *t, const struct topdown *r);

#endif
