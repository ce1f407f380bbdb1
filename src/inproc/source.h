/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the ticks of one thread come from: an event of its own with a ring that the kernel writes
 * to, or, where perf_event_open(2) is forbidden, a timer on its CPU clock.  No signal is used with
 * a ring; ticks wait in it, also when the thread has ended, until source_drain. */
#ifndef INPROC_SOURCE_H
#define INPROC_SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* What is counted, and how often the program counter is looked at. */
struct tick_spec {
	uint32_t type; /* perf_event.h: struct perf_event_attr */
	uint64_t config, config1, config2;
	uint64_t period;  /* counts a tick stands for: ns of clocks; 1 or more */
	bool is_clock;	  /* a clock of the thread's CPU time: a timer can stand in */
	bool user_only;	  /* time in the kernel is left out; else it is that of the system call */
	uint64_t rate_hz; /* of ticks to expect, for the ring's size */
	uint64_t look_ns; /* 0: a tick each PERIOD counts; else the count is looked at each LOOK_NS
			     of CPU time, and a tick given when it has grown by PERIOD or more */
	bool weighted;	  /* a record is 1 to 255 ticks, by how far the count is beyond PERIOD */
	bool whole_only;  /* less than PERIOD at the end is no tick, however near */
};

typedef void tick_fn(void *ctx, uint64_t pc, uint64_t n_ticks);

struct tick_source {
	struct tick_source *next; /* for the owner */
	pid_t tid;
	int fd;		/* the event; -1: a timer */
	int counter_fd; /* with look_ns: the event, of which FD is when it is looked at; or -1 */
	uint64_t id, counter_id; /* the events': these may have become other files */
	uint64_t period;	 /* as in the spec */
	bool looks, weighted, whole_only, user_only;
	uint64_t n_counts; /* of the event that ticks were given for */
	uint64_t last_pc;
	struct tick_ring *ring; /* the kernel's or the timer's */
	size_t ring_bytes;
	timer_t timer;
	uint64_t start_ns;   /* of the thread's clock, for a timer */
	uint64_t n_ticks;    /* that have a pc */
	uint64_t n_moved;    /* timers: of n_ticks, those beyond the first of a signal */
	uint64_t n_unplaced; /* rings: ticks that have none */
};

/* Begins ticks of thread TID of this process.  0, or -errno of perf_event_open(2), mmap(2) (-EPERM:
 * what perf_event_mlock_kb allows is used up) or timer_create(2). */
int source_open(struct tick_source *s, pid_t tid, const struct tick_spec *spec);

/* Hands all ticks so far to TICK.  A record of the ring is one tick.  When the count has grown by
 * more, nobody knows where the rest was: in the kernel, if it is not visible, or at the pc of a
 * record that was lost.  The rest is only counted, in n_unplaced.  A timer is late by the kernel's
 * own tick: a signal is as many ticks as its share of the CPU time between the last signals. */
void source_drain(struct tick_source *s, tick_fn *tick, void *ctx);

/* Hands the last ticks of S to TICK.  Less than one period is left after them: when it is half a
 * period or more it is one more tick, at the last pc.  More than a period without a record has no
 * place. */
void source_drain_last(struct tick_source *s, tick_fn *tick, void *ctx);

/* What the event has counted so far; -errno, also for a timer's thread that has ended. */
int source_read(const struct tick_source *s, uint64_t *ret_count);

/* Takes a look at PC: the event has counted COUNT, and N_MOST ticks at the most belong to PC. */
void source_give(struct tick_source *s, uint64_t count, uint64_t pc, uint64_t n_most, tick_fn *tick,
		 void *ctx);

/* Stops ticks of S, which can go on where it stopped; source_go_on is false when the program has
 * closed the event.  Only a source with a ring and without look_ns can be stopped. */
bool source_can_pause(const struct tick_source *s);
void source_pause(const struct tick_source *s);
bool source_go_on(const struct tick_source *s);

/* Whether the thread has ended. */
bool source_has_ended(const struct tick_source *s);

/* Ends ticks; those not drained are lost. */
void source_close(struct tick_source *s);

/* In a new process after fork(2): lets go of what is the parent's. */
void source_forget(struct tick_source *s);

#endif
