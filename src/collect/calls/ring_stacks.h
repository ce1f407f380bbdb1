/* SPDX-License-Identifier: BSD-2-Clause */
/* Call paths of samples that come through perf rings: what the kernel wrote with them becomes the
 * same chains that the BPF program makes. */
#ifndef COLLECT_CALLS_RING_STACKS_H
#define COLLECT_CALLS_RING_STACKS_H

#include "collect/calls/chains.h"
#include "machine/perf_record.h"
#include "collect/calls/unwinds.h"

struct ring_stacks {
	struct chains *chains;
	struct unwinds *unwinds; /* tables to walk copied stacks with; NULL: frame pointers only */
	uint64_t extra;		 /* RECORD_STACK_* */
	uint32_t most_ips;	 /* the kernel writes no more of one stack */
	uint64_t frames[CHAIN_MAX_FRAMES], walked[CHAIN_MAX_FRAMES];
};

/* CHAINS and UNWINDS stay the caller's, until ring_stacks_release. */
void ring_stacks_init(struct ring_stacks *rs, struct chains *chains, struct unwinds *unwinds);
void ring_stacks_release(struct ring_stacks *rs);

/* Learns the callers of SAMPLE, which is of process PROC (PROC_NONE: not known), and returns their
 * hash for log_sample.chain. */
uint64_t ring_stacks_add(struct ring_stacks *rs, const struct perf_record *sample, uint32_t proc);

#endif
