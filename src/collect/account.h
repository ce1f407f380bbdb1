/* SPDX-License-Identifier: BSD-2-Clause */
/* The account of each event: what its counters and the log say, beside what became of the samples.
 * It can be settled at any time; the profile is told what came since the last time. */
#ifndef COLLECT_ACCOUNT_H
#define COLLECT_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

struct collector;

/* The sums of one event since sampling began. */
struct account {
	uint64_t reached;     /* samples that reached our program and are settled */
	uint64_t dropped;     /* of them: found log and spill table full */
	uint64_t ring_lost;   /* of them: found the perf ring full */
	uint64_t unaccounted; /* of them: in no value and no other loss; 0, or a bug */
	uint64_t total;	      /* the event's own count, idle time left out for clocks */
	uint64_t enabled_ns, running_ns;
};

/* Sampling begins. */
void account_begin(struct collector *c);

/* What was settled is stored: whoever takes the log over counts from then on. */
void account_store(struct collector *c);

/* Sampling has ended: idle time counts no more. */
void account_end_idle(struct collector *c);

/* Adds to the profile's events and losses what came since the last time.  FINAL: sampling has ended
 * and everything is folded, so that what reached the program must be in a value or a loss; before
 * that, samples not folded yet are no part of it. */
void account_settle(struct collector *c, bool final);

#endif
