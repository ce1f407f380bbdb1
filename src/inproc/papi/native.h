/* SPDX-License-Identifier: BSD-2-Clause */
/* Native events: names to codes, and what perf counts for them. */
#ifndef INPROC_PAPI_NATIVE_H
#define INPROC_PAPI_NATIVE_H

#include <stdbool.h>

#include "inproc/source.h"

/* Native event number N (of which code PAPI_NATIVE_MASK | N is); its texts stay. */
struct papi_native {
	const char *name;
	const char *description;
	struct tick_spec spec;
};

/* The number of NAME, which becomes one if perf or libpfm4 knows it; or -1. */
int papi_native_named(const char *name);

/* Event number N; false: there is none. */
bool papi_native_get(int n, struct papi_native *ret);

/* Whether this machine counts it. */
bool papi_native_works(int n);

/* After fork(2): the lock is nobody's. */
void papi_natives_after_fork(void);

#endif
