/* SPDX-License-Identifier: BSD-2-Clause */
/* Turns samples of perf.data that tell the address of their data into accesses of the model. */
#ifndef PORT_PERF_ACCESS_H
#define PORT_PERF_ACCESS_H

#include "model/fact.h"
#include "port/perf_world.h"

struct perf_access {
	const struct sample_facts *facts; /* settled; NULL: nothing is told */
	uint32_t pid, tid;
	uint32_t proc;	     /* number in the world's procs */
	uint64_t addr, phys; /* of the data; phys 0: not told */
	uint32_t cpu_node;   /* + 1; 0: not told */
};

/* Most files have no more accesses. */
#define PERF_MOST_LOOSE ((size_t)2 << 20)

/* Fills A from K and adds it to W's profile; some wait until perf_accesses_flush.  The first
 * W->most_loose are appended as they come, for readers that add them up anyway.  Those behind them
 * are joined where they are equal, so that memory is bounded.  The caller sets A's owner, event,
 * place and source.  Call it when W is as it was at the time of the sample. */
void perf_access_add(struct perf_world *w, struct access *a, const struct perf_access *k);

/* Adds the accesses that wait.  Call it after the last. */
void perf_accesses_flush(struct perf_world *w);

#endif
