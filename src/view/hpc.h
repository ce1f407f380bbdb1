/* SPDX-License-Identifier: BSD-2-Clause */
/* What stands around the tables of HPCToolkit databases. */
#ifndef VIEW_HPC_H
#define VIEW_HPC_H

#include "query/hpc/query.h"
#include "query/hpc/tree.h"
#include "view/emit.h"
#include "view/tree.h"

/* Emits what the database is and how many threads are chosen. */
void hpc_recording_emit(struct emit *e, const struct hpc_query *q, bool quiet);

/* Emits what the database is, the metrics shown with their totals and the threads chosen.  QUIET
 * leaves out what is for people. */
void hpc_header_emit(struct emit *e, const struct hpc_query *q, bool quiet);

/* Emits the document of ROWS, which are T's. */
void hpc_tree_emit(struct emit *e, struct hpc_tree *t, const struct tree_rows *rows,
		   const struct tree_emit_opts *o);

#endif
