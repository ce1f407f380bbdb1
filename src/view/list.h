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

struct list_opts {
	enum list_mode mode; /* not LIST_BEST */
	bool no_header;	     /* the table alone */
	bool hot;	     /* only what is hot and what leads there */
};

/* Emits the document of L, which is S's.  Returns the number of the line of E's text, from 1, at
 * which the hot part begins; 0: there is none. */
size_t list_emit(struct emit *e, struct source *s, const struct listing *l,
		 const struct list_opts *o);

/* Emits what the name of L's procedure may mean, and the procedure; with NO_HEADER in JSON
 * alone. */
void list_emit_procedure(struct emit *e, const struct columns *columns, const struct listing *l,
			 bool no_header);

#endif
