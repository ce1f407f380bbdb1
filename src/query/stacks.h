/* SPDX-License-Identifier: BSD-2-Clause */
/* Any source as call paths for exporters (port/stacks.h). */
#ifndef QUERY_STACKS_H
#define QUERY_STACKS_H

#include "port/stacks.h"
#include "query/source.h"

struct stacks_opts {
	const opt_list *images; /* only samples taken in these; none: all */
	bool lines;		/* source lines, and where functions are defined */
	bool no_inline;		/* inlined calls belong to the procedure they are in */
	bool sites;		/* linked names, first lines and discriminators, also of inlined
				    calls: what compilers ask for */
	bool locals;		/* numbers of local symbols of one name */
	bool runs;		/* how often the code of the program ran */
	bool threads, branches; /* time lines; branch stacks: the source was opened for them */
};

/* Fills RET with what S has of O.  Release RET in any case.  -ENOENT: no image is called so. */
int source_stacks(struct source *s, const struct stacks_opts *o, struct stacks *ret,
		  struct err *err);

#endif
