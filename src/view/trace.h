/* SPDX-License-Identifier: BSD-2-Clause */
/* `dwell trace`: threads with a bar over time each, and their points. */
#ifndef VIEW_TRACE_H
#define VIEW_TRACE_H

#include "query/rows/thread_lines.h"
#include "view/emit.h"

struct trace_opts {
	bool points;	     /* list the points too */
	unsigned width;	     /* of the bars; 0: none */
	bool width_is_given; /* else bars on a screen are as wide as there is room */
	bool no_header;
};

/* Emits the threads, and with opts->points each point that is wanted. */
void trace_emit(struct emit *e, struct thread_lines *t, const struct trace_opts *opts);

#endif
