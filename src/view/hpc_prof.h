/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of `dwell prof` for HPCToolkit databases. */
#ifndef VIEW_HPC_PROF_H
#define VIEW_HPC_PROF_H

#include "query/hpc/neighbours.h"
#include "query/hpc/threads.h"
#include "query/hpc/tree.h"
#include "view/emit.h"

struct hpc_prof_opts {
	bool no_header, no_inclusive, by_inclusive;
	double keep_pct;	/* rows that hold so much of the whole; 100 keeps all */
	const opt_list *images; /* names; none: all */
	const char *contexts;	/* whose threads; NULL: of all there is */
	const struct hpc_neighbours
		*whose; /* whose rows they are, of which 100 % is then; NULL: all */
};

/* Emits ROWS, which are T's, each procedure (image, file, line) once; *RET_N is how many there were
 * before keeping.  -ENOENT when an image is not there. */
int hpc_prof_emit(struct emit *e, struct hpc_tree *t, const struct tree_rows *rows,
		  const struct hpc_prof_opts *o, size_t *ret_n, struct err *err);

/* Emits what contexts are in each thread (sorts T), and statistics over the threads. */
int hpc_threads_emit(struct emit *e, struct hpc_query *q, struct hpc_threads *t,
		     const struct hpc_prof_opts *o, struct err *err);

#endif
