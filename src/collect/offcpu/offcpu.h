/* SPDX-License-Identifier: BSD-2-Clause */
/* What threads did besides running: the time they waited for a CPU and the time they were blocked,
 * as values of the profile.
 *
 * With wakers a fourth, "woken", has the paths that ended blocks, and the time they had taken.
 *
 * Three events, whose values' sums are nanoseconds: "running" and "runnable" have one context each,
 * a mark; "blocked" has the call paths that blocked, and marks for what is known of the rest.  For
 * each owner the three add up to the time its threads were there: what is blocked for less than the
 * minimum, or has lost its stack, is under a mark and not lost.
 *
 * Where no BPF program can be loaded, the times come from perf's records of own threads
 * (ring_switches.h): the collector hands them on, and what it learns of threads besides. */
#ifndef COLLECT_OFFCPU_OFFCPU_H
#define COLLECT_OFFCPU_OFFCPU_H

#include "collect/calls/chains.h"
#include "collect/offcpu/switches.h"
#include "collect/tracer.h"
#include "machine/perf_record.h"

struct offcpu_opts {
	struct switches_opts switches; /* n_cpus, log and pids; the rest is filled in */
	uint64_t min_block_ns;	       /* 0: OFFCPU_MIN_BLOCK_NS */
	bool wakers;		       /* event "woken": who ended blocks, and how long ones */
	enum switch_walk walk;
	bool rings; /* times come from records; no wakers then, and switches has nothing */
	bool paths; /* with rings: samples tell where threads block */
	struct tracer *tracer; /* where blocks become points; NULL: nowhere */
};

#define OFFCPU_MIN_BLOCK_NS 100000
#define OFFCPU_CYCLE_MS	    200 /* how long at most between two cycles */

struct offcpu;

/* Loads the programs and adds the events to CHAINS's profile; CHAINS, which learns the log's
 * chains, stays the caller's. */
int offcpu_open(const struct offcpu_opts *opts, struct chains *chains, struct offcpu **ret,
		struct err *err);
void offcpu_close(struct offcpu *o);

/* The event "blocked". */
event_id offcpu_blocked(const struct offcpu *o);

int offcpu_start(struct offcpu *o, struct err *err);

/* With rings, and nothing without: process TGID's threads are watched from the start on. */
void offcpu_watch(struct offcpu *o, uint32_t tgid);

/* Apply a record of the sideband, in order of time: the first before procs_apply, whose process is
 * the old one, the second after it. */
void offcpu_before(struct offcpu *o, const struct perf_record *r);
void offcpu_after(struct offcpu *o, const struct perf_record *r);

/* A sample of a thread that leaves its CPU, with its path (call_paths_of_record). */
void offcpu_sample(struct offcpu *o, const struct perf_record *sample, uint64_t chain);

/* The two halves of a cycle: before the sideband is drained, and after it was applied. */
void offcpu_note_heads(struct offcpu *o);
void offcpu_drain(struct offcpu *o);

/* Takes the sums of the threads that live, up to their last changes of state: the next cycle adds
 * them. */
void offcpu_take_sums(struct offcpu *o);

/* Ends watching; the sums of the threads that live then are added by offcpu_settle, after a last
 * cycle. */
void offcpu_stop(struct offcpu *o);
void offcpu_settle(struct offcpu *o);

#endif
