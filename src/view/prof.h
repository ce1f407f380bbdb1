/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of `dwell prof`: samples by image or by procedure. */
#ifndef VIEW_PROF_H
#define VIEW_PROF_H

#include "query/rows.h"
#include "view/emit.h"

struct prof_opts {
	bool by_procedure;
	bool show_kind; /* a column with the kind of the image */
	bool no_header;
	double keep_pct;	 /* see rows_keep; 100 keeps all */
	const image_ids *images; /* NULL: all */
};

/* Emits the document and returns the number of rows it had before rows_keep, idle not counted. */
size_t prof_emit(struct emit *e, struct query *q, const struct prof_opts *opts);

#endif
