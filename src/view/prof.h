/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of `dwell prof`: by image, procedure, line, owner or thread, and the callers and
 * callees of a procedure. */
#ifndef VIEW_PROF_H
#define VIEW_PROF_H

#include "query/rows/flat.h"
#include "view/emit.h"

struct prof_opts {
	bool show_kind; /* a column with the kind of the image */
	bool no_header;
};

/* Emits the document of F's rows. */
void prof_emit(struct emit *e, struct flat *f, const struct prof_opts *opts);

#endif
