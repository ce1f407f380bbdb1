/* SPDX-License-Identifier: BSD-2-Clause */
/* Counting with event sets: start, stop, read. */
#ifndef INPROC_PAPI_COUNT_H
#define INPROC_PAPI_COUNT_H

#include <linux/perf_event.h>
#include <signal.h>

#include "inproc/papi/set.h"

/* What C has counted so far, in perf's unit.  May be called by the signal handler of overflows. */
uint64_t papi_raw_count(const struct papi_set *s, const struct papi_counter *c);

/* RAW as the program sees it, and its threshold N in perf's unit. */
long long papi_shown(const struct papi_counter *c, uint64_t raw);
uint64_t papi_raw_of(const struct papi_counter *c, uint64_t n);

/* What perf_event_open(2) is asked for to count C as S has it; it is switched off. */
struct perf_event_attr papi_attr_of(const struct papi_set *s, const struct papi_counter *c);

/* Opens what counts C for thread TID (or the set's CPU), from 0 on, unless it is open still.
 * PAPI_OK or an error. */
int papi_open_counter(const struct papi_set *s, struct papi_counter *c, pid_t tid);

/* FD, or -1, counts C from now on, until it stops. */
void papi_adopt_counter(struct papi_counter *c, int fd);

/* Whether the descriptor of C was opened for WANTED.  The program may have closed it. */
bool papi_counter_is(const struct papi_counter *c, const struct papi_counted *wanted);

/* Closes what counts C, and its group, unless the program has done so. */
void papi_close_counter(struct papi_counter *c);

/* The signal of overflows is held back from the calling thread in between: its handler may call
 * functions that need the lock of drain.h. */
struct papi_hold {
	sigset_t before;
	bool held;
};
void papi_hold(struct papi_hold *h);
void papi_let_go(const struct papi_hold *h);

#endif
