/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell trace`: threads with a bar over time each, and their points. */
#ifndef VIEW_TRACE_H
#define VIEW_TRACE_H

#include "query/samples/threads.h"
#include "view/emit.h"

struct trace_opts {
	bool points;	/* list the points too */
	unsigned width; /* of the bars; 0: none */
	unsigned depth; /* frames of a call path; 0: all */
	bool no_header;
};

/* Emits the threads, and with opts->points each point of the query's events; returns how many
 * threads there were. */
size_t trace_emit(struct emit *e, struct query *q, const struct threads *t,
		  const struct trace_opts *opts);

#endif
