/* SPDX-License-Identifier: BSD-2-Clause */
/* The programs that watch the scheduler, as user space sees them: loaded, started, drained through
 * shared memory, stopped.  bpf/switch.h says what they tell, and why the times add up. */
#ifndef COLLECT_OFFCPU_SWITCHES_H
#define COLLECT_OFFCPU_SWITCHES_H

#include <stdint.h>

#include "base/err.h"
#include "collect/bpf/switch.h"
#include "collect/log.h"

struct switches;

/* When the stack of a thread that blocks is walked (bpf/switch.bpf.c). */
enum switch_walk {
	WALK_AUTO,	/* at its exit, where the kernel has that, else at the switch */
	WALK_AT_EXIT,	/* when the thread is back */
	WALK_AT_SWITCH, /* when it leaves, within a bound; else only the kernel's frames are told */
};

struct switches_opts {
	uint32_t n_cpus;       /* possible CPUs */
	uint32_t n_slots;      /* of a CPU's log, a power of two */
	struct log *log;       /* with call paths: whose tables the walk uses; outlives this */
	uint64_t min_block_ns; /* shorter blocks are only summed up */
	bool wakers;	       /* log who ends each block */
	enum switch_walk walk;
	const uint32_t *pids; /* watch these processes and what they start; none: everything */
	uint32_t n_pids;      /* at most SWITCH_MAX_TARGETS */
};

/* Loads the programs.  Errors: what the kernel objected to; -EOPNOTSUPP for WALK_AT_EXIT when it
 * does not tell when a thread is back from a switch (sched_exit_tp). */
int switches_open(const struct switches_opts *opts, struct switches **ret, struct err *err);
void switches_close(struct switches *s);

/* Watches the threads there are, from now on (*RET_NS, CLOCK_MONOTONIC), and those to come. */
int switches_start(struct switches *s, uint64_t *ret_ns, struct err *err);

/* Calls FN with what was not told yet of the sums of each thread: up to its last
 * change of state. */
int switches_tell(struct switches *s, void (*fn)(void *ctx, const struct switch_told *told),
		  void *ctx, struct err *err);

/* Ends watching, at *RET_NS, and calls FN for each thread there still is; sums and blocks of
 * threads that ended are in the log. */
int switches_stop(struct switches *s, uint64_t *ret_ns,
		  void (*fn)(void *ctx, const struct switch_end *e), void *ctx, struct err *err);

/* switches_head: number of slots of CPU written since the start.  switches_drain: gives each slot
 * before HEAD to FN, and their room back. */
uint64_t switches_head(const struct switches *s, uint32_t cpu);
void switches_drain(struct switches *s, uint32_t cpu, uint64_t head,
		    void (*fn)(void *ctx, const struct switch_slot *slot), void *ctx);

/* Sums over CPUs. */
struct switches_lost {
	uint64_t n_intervals; /* in slots that found the log full: of threads that ended */
	uint64_t n_wakers;    /* whose stack or slot was not to be had */
	uint64_t n_threads;   /* that could not be watched */
};
struct switches_lost switches_lost(const struct switches *s);

#endif
