/* SPDX-License-Identifier: BSD-2-Clause */
/* What perf's own records tell of threads' states, for users who may load no BPF program.
 *
 * The kernel writes a record when a thread leaves its CPU, and one when it comes to one again.  The
 * first says whether the thread would have gone on: it is runnable then, else blocked.  When a
 * blocked thread was woken no record says, so that its wait for a CPU counts as blocked.  Where the
 * kernel also takes a sample as a thread leaves, the block has the path of that sample.
 *
 * As in bpf/switch.h each nanosecond of a thread is in exactly one sum or block, from when it is
 * watched until it ends; records that are missing cost the time between their neighbours, which is
 * counted as an interval lost. */
#ifndef COLLECT_OFFCPU_RING_SWITCHES_H
#define COLLECT_OFFCPU_RING_SWITCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/bpf/switch.h"
#include "machine/perf_record.h"

struct ring_switches;

/* Who is told: of blocks with a path (leaf 0, chain as the sample's), and of sums. */
struct ring_switches_to {
	void (*block)(void *ctx, const struct switch_slot *s);
	void (*sums)(void *ctx, const struct switch_told *t);
	void *ctx;
};

struct ring_switches *ring_switches_new(uint64_t min_block_ns, const struct ring_switches_to *to);
void ring_switches_free(struct ring_switches *rs);

/* Thread TID, of TASK as in log_slot.task, is watched from TIME_NS on; RUNS: it has or wants a CPU
 * then, as far as is known. */
void ring_switches_begin(struct ring_switches *rs, uint64_t task, uint64_t time_ns, bool runs);

/* The thread ended at TIME_NS, or executes another program: tells what it did. */
void ring_switches_end(struct ring_switches *rs, uint32_t tid, uint64_t time_ns);

/* A record of kind RECORD_SWITCH, in order of time. */
void ring_switches_apply(struct ring_switches *rs, const struct perf_record *r);

/* The sample that TID had as it left its CPU, at TIME_NS: CHAIN is its whole path. */
void ring_switches_sample(struct ring_switches *rs, uint32_t tid, uint64_t time_ns, uint64_t chain);

/* Tells the sums of all threads up to their last changes of state. */
void ring_switches_tell(struct ring_switches *rs);

/* Ends watching at TIME_NS: later records change nothing.  ring_switches_settle then tells what the
 * threads did that there still are. */
void ring_switches_stop(struct ring_switches *rs, uint64_t time_ns);
void ring_switches_settle(struct ring_switches *rs);

/* Intervals of which a record is missing. */
uint64_t ring_switches_lost(const struct ring_switches *rs);

#endif
