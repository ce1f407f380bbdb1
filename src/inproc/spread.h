/* SPDX-License-Identifier: BSD-2-Clause */
/* How much CPU time each signal of a thread's timer stands for.
 *
 * The kernel's tick sends the signals, so some slices of CPU time pass without one.  A signal says
 * how much time passed since the last.  Most of that time was not spent at the signal's place, and
 * the two can be connected: where threads share a CPU and are switched at certain places (a system
 * call that reads the CPU clock is one), slices begin at these places.  Example: four threads on
 * two CPUs spend 50, 33 and 17 % in three procedures.  When each signal's place gets all the time
 * since the last signal, 61, 26 and 12 % are counted.
 *
 * So the time goes to a pool, and each signal's place gets one sixteenth of the pool.  (Of the
 * first signals the N-th takes 1/N.)  The places get 50, 33 and 17 %, the sum stays exact, and at
 * most the time of about sixteen signals waits.  spread_end() gives that to the last sixteen
 * places. */
#ifndef INPROC_SPREAD_H
#define INPROC_SPREAD_H

#include <stdbool.h>
#include <stdint.h>

enum { SPREAD_SIGNALS = 16 };

struct time_spread {
	uint64_t given_ns; /* time that has a place */
	uint64_t held_ns;  /* time that waits */
	uint64_t n_signals;
	uint64_t n_left;		   /* after spread_end: places that still get a part */
	uint64_t last_pcs[SPREAD_SIGNALS]; /* signal I is at I % SPREAD_SIGNALS */
};

/* Adds a signal at PC, NS of CPU time after the last.  GIVEN_NS grows by PC's part. */
void spread_add(struct time_spread *s, uint64_t pc, uint64_t ns);

/* Says how long the thread ran in all.  Call spread_next() until it is false. */
void spread_end(struct time_spread *s, uint64_t all_ns);

/* Lets GIVEN_NS grow by the part of *RET_PC in what was held. */
bool spread_next(struct time_spread *s, uint64_t *ret_pc);

#endif
