/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of `dwell prof`: samples by image, by procedure, by whose they are, and the callers
 * and callees of a procedure. */
#ifndef VIEW_PROF_H
#define VIEW_PROF_H

#include "query/samples/neighbours.h"
#include "view/emit.h"

struct prof_opts {
	struct row_by by;
	bool inclusive;	   /* columns of inclusive counts; needs images or procedures in `by` */
	bool by_inclusive; /* rows are sorted by them */
	bool show_kind;	   /* a column with the kind of the image */
	bool no_header;
	double keep_pct;	 /* see rows_keep; 100 keeps all */
	const image_ids *images; /* NULL: all */
	const opt_list *derived; /* more columns, see cols_derive; NULL: none */
};

/* Emits the document; *RET_N is the number of rows it had before rows_keep, idle not counted. Fails
 * as cols_derive does, with nothing emitted. */
int prof_emit(struct emit *e, struct query *q, const struct prof_opts *opts, size_t *ret_n,
	      struct err *err);

/* Emits the callers or callees N that neighbours_find found; of OPTS only show_kind, no_header and
 * keep_pct have a meaning. */
void prof_emit_neighbours(struct emit *e, struct query *q, enum neighbour_kind kind,
			  struct neighbours *n, const struct prof_opts *opts);

/* Whose callers or callees are listed: as text, and as the member "of" of JSON, which is left open
 * for its amounts.  IMAGE: NULL when there is none, or several procedures are called so. */
void prof_name_whose(struct str *out, const char *procedure, const char *image,
		     size_t n_procedures);
void prof_begin_whose(struct json *j, const char *kind, const char *procedure, const char *image);

#endif
