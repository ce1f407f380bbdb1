/* SPDX-License-Identifier: BSD-2-Clause */
/* How rarely to sample so as to cost no more than a share of the CPUs: quickly more rarely, slowly
 * and step by step as often as asked for again. */
#ifndef DAEMON_GOVERNOR_H
#define DAEMON_GOVERNOR_H

#include <stdint.h>

/* Begins zeroed: as often as asked for. */
struct governor {
	double slower;	      /* periods are so many times what was asked for; 0 is 1 */
	uint64_t calm_ns;     /* since when it would cost little enough at the next
			   * step, 0: it does not */
	uint64_t faster_ns;   /* when it last went up; 0: never */
	uint64_t patience_ns; /* how long it must be calm; 0: GOVERNOR_PATIENCE_NS */
};

/* It has to be calm for so long before a step up; after each step that proved too much twice as
 * long as before, at most GOVERNOR_MOST_PATIENCE_NS. */
#define GOVERNOR_PATIENCE_NS	  (60ull * 1000000000)
#define GOVERNOR_MOST_PATIENCE_NS (3600ull * 1000000000)

/* Periods are never more than so many times what was asked for. */
#define GOVERNOR_SLOWEST 1000.0

/* What to make of COST over the last while, a share of all CPUs' time like MOST (0: any), at
 * NOW_NS: returns how many times as long as asked for periods are to be.  When that is not what it
 * was, G takes it that they will. */
double governor_step(struct governor *g, double cost, double most, uint64_t now_ns);

#endif
