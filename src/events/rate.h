/* SPDX-License-Identifier: BSD-2-Clause */
/* How often events are sampled, and which event when none is named. */
#ifndef EVENTS_RATE_H
#define EVENTS_RATE_H

#include "events/spec.h"

/* Samples per second and CPU when nothing is said: a prime, so that it does not march in step with
 * timers at 100, 250 or 1000 Hz, and a quarter of perf's 4000, because a sample interrupt costs up
 * to 16 us in a virtual machine: 1.6 % of a CPU instead of 6.4 %. */
enum { EVENT_DEFAULT_HZ = 997 };

/* What -F and -c say; 0: not given.  At most one of them. */
struct event_rate {
	uint64_t freq_hz;
	uint64_t period;
};

/* Sets sample_period, or freq and sample_freq, in SPEC's attr.  The event's own period or frequency
 * counts first, then RATE, then the default: EVENT_DEFAULT_HZ for clocks and hardware events, 100
 * for page faults, 1 (each of them) for the other software events and tracepoints.  Clocks turn a
 * frequency into a period in nanoseconds, since the kernel does not adjust theirs.  Fails with
 * -EINVAL or -E2BIG, naming the sysctl when the frequency is above the kernel's limit. */
int event_rate_set(const struct event_env *env, struct event_spec *spec,
		   const struct event_rate *rate, struct err *err);

/* Appends to SPECS what is recorded when no event is named: cycles where this machine samples it,
 * else cpu-clock. *RET_WHY is one line to show, static. */
int event_default(const struct event_env *env, struct event_specs *specs, const char **ret_why,
		  struct err *err);

#endif
