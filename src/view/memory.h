/* SPDX-License-Identifier: BSD-2-Clause */
/* What memory was accessed, as tables. */
#ifndef VIEW_MEMORY_H
#define VIEW_MEMORY_H

#include "query/samples/memory.h"
#include "query/source.h"
#include "view/emit.h"

/* Emits what stands above the tables: what OF is, and how many samples tell the address of their
 * data (M's sums). */
void memory_emit_head(struct emit *e, struct source *of, const struct memory *m, bool no_header);

/* Emits M, which was gathered by BY, as the table KEY.  For lines a second table, "uses", tells who
 * used them. */
void memory_emit(struct emit *e, const char *key, enum memory_by by, const struct memory *m);

#endif
