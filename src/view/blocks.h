/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of `dwell list --blocks`. */
#ifndef VIEW_BLOCKS_H
#define VIEW_BLOCKS_H

#include "query/source.h"
#include "view/emit.h"

/* Emits the document of B, the blocks of L, which is S's. */
void blocks_emit(struct emit *e, struct source *s, const struct listing *l, const struct blocks *b,
		 bool no_header);

/* Says what the counts of B are made of, and what is not known of them. */
void blocks_emit_basis(struct emit *e, const struct blocks *b);

#endif
