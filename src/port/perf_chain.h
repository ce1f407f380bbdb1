/* SPDX-License-Identifier: BSD-2-Clause */
/* Callers of perf's samples, as contexts: from frame pointers (the kernel's list), from a stack of
 * calls that the hardware kept (LBR), or from registers and a copy of the stack, walked with the
 * images' own frame information. */
#ifndef PORT_PERF_CHAIN_H
#define PORT_PERF_CHAIN_H

#include "collect/calls/unwinds.h"
#include "port/perf_world.h"
#include "unwind/chain.h"

/* A machine whose stacks cannot be walked. */
#define PERF_CHAIN_OTHER UINT16_MAX

struct perf_chains {
	struct perf_world *world;
	uint16_t machine; /* EM_* of the file's; 0: it does not say */
	unwind_load_fn *load;
	struct unwinds *unwinds; /* NULL until a stack is to be walked */
	void *memory;		 /* what unwinds has its tables in */
	size_t n_memory;
	uint32_t clock;
	VEC(uint32_t) number_of; /* by code: its image's number + 1; 0: not asked yet */
	struct {
		uint64_t hash;
		ctx_id ctx;
	} * known; /* chains that were seen, open addressing */
	size_t n_slots, n_known;
	VEC(place_id) frames; /* of the chain at hand, the innermost first */
	uint64_t walked[CHAIN_MAX_FRAMES];
	ctx_id marks[CHAIN_N_CAUSES];
	uint64_t by_cause[CHAIN_N_CAUSES]; /* samples */
};

/* LOAD builds tables of images. */
void perf_chains_init(struct perf_chains *c, struct perf_world *w, unwind_load_fn *load);
void perf_chains_release(struct perf_chains *c);

/* The context of the callers of sample R, of process number PROC; 0 when it tells none. */
ctx_id perf_chains_add(struct perf_chains *c, const struct perfdata_record *r, uint32_t proc);

#endif
