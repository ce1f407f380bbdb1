/* SPDX-License-Identifier: BSD-2-Clause */
/* Overflows told to a handler of the program's: PAPI_overflow().
 *
 * An event's own descriptor signals its thread each time it has grown by the threshold, and is off
 * until the handler has returned; or, by software, a timer of the thread's looks at the counts. */
#ifndef INPROC_PAPI_OVERFLOW_H
#define INPROC_PAPI_OVERFLOW_H

#include "inproc/papi/set.h"

/* The signal all this comes by; 0 before any was needed. */
int papi_overflow_signal(void);

/* C's overflows are no longer told; S is stopped. */
void papi_overflow_end(struct papi_set *s, struct papi_counter *c);

/* Opens what tells C's overflows while S runs; lets it begin; closes it.  What C counts has been
 * opened and is closed by the caller. */
int papi_overflow_start(struct papi_set *s, struct papi_counter *c);
void papi_overflow_enable(struct papi_counter *c);
void papi_overflow_stop(struct papi_counter *c);

/* Start and stop the overflows of S that are told by software. */
int papi_overflow_start_timer(struct papi_set *s);
void papi_overflow_stop_timer(struct papi_set *s);

#endif
