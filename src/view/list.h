/* SPDX-License-Identifier: BSD-2-Clause */
/* The annotated listing of `dwell list`. */
#ifndef VIEW_LIST_H
#define VIEW_LIST_H

#include "query/source.h"
#include "view/emit.h"

enum list_mode {
	LIST_BEST, /* source lines when there are some, else instructions */
	LIST_SOURCE,
	LIST_ASM,
	LIST_BOTH, /* source lines, each with its instructions beneath */
};

/* The mode that can be shown of L when MODE is wanted.  RET_NOTICE says why it is another one, or
 * is "". */
enum list_mode list_mode_for(const struct listing *l, enum list_mode mode, struct err *ret_notice);

/* Emits the document of L, which is S's.  MODE is not LIST_BEST. */
void list_emit(struct emit *e, struct source *s, const struct listing *l, enum list_mode mode,
	       bool no_header);

#endif
