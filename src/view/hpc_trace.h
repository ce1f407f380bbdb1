/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell trace` of HPCToolkit databases: threads with a bar over time each, and their points. */
#ifndef VIEW_HPC_TRACE_H
#define VIEW_HPC_TRACE_H

#include "query/hpc/lines.h"
#include "view/emit.h"

struct hpc_trace_opts {
	bool points;	/* list the points too */
	unsigned width; /* of the bars; 0: none */
	uint32_t depth; /* of the procedures shown; 0: the innermost */
	bool no_header;
};

/* Emits the threads, and with opts->points each point in the range: (time, thread, depth,
 * procedure). */
int hpc_trace_emit(struct emit *e, const struct hpc_query *q, const struct hpc_lines *l,
		   const struct hpc_trace_opts *opts, struct err *err);

#endif
