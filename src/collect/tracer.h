/* SPDX-License-Identifier: BSD-2-Clause */
/* Time lines while they are recorded: which line of the profile (model/trace.h) a thread's points
 * go to.
 *
 * The sideband says when threads begin and end; it is applied before the samples of its time are
 * folded, so the life before a thread number's present one is remembered for them.  A thread that
 * never has a point has no line. */
#ifndef COLLECT_TRACER_H
#define COLLECT_TRACER_H

#include "base/hash.h"
#include "base/vec.h"
#include "model/trace.h"

struct tracer_life {
	uint64_t start_ns; /* 0: before the recording */
	uint64_t end_ns;   /* 0: lives */
	uint64_t last_ns;  /* latest of its points */
	owner_id owner;	   /* of `line` */
	trace_id line;
	bool has_line;
};

struct tracer_thread {
	uint32_t tid;
	struct tracer_life now, before;
};

struct tracer {
	struct profile *profile; /* NULL: nothing is traced */
	int64_t clock_offset_ns; /* from CLOCK_MONOTONIC, of all times here, to those of traces */
	VEC(struct tracer_thread) threads;
	struct index thread_ix; /* by tid */
};

/* Traces into P, whose lines may occupy MAX_BYTES. */
void tracer_init(struct tracer *t, struct profile *p, size_t max_bytes, int64_t clock_offset_ns);
void tracer_release(struct tracer *t);

/* Thread TID began, or ended, at TIME_NS.  The kernel says the end while the thread still runs, and
 * samples may follow: so a line ends no earlier than its last point. */
void tracer_begin(struct tracer *t, uint32_t tid, uint64_t time_ns);
void tracer_end(struct tracer *t, uint32_t tid, uint64_t time_ns);

/* At TIME_NS thread TID of process PID, whose samples are OWNER's, was at CTX. */
void tracer_add(struct tracer *t, uint32_t pid, uint32_t tid, owner_id owner, uint64_t time_ns,
		ctx_id ctx, event_id event);

#endif
