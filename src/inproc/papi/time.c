/* SPDX-License-Identifier: BSD-2-Clause */
/* PAPI's timers: real time is CLOCK_MONOTONIC, virtual time the thread's CPU time. */
#include <time.h>

#include "inproc/export.h"
#include "inproc/papi/event.h"

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

EXPORT long long PAPI_get_real_nsec(void)
{
	return (long long)now_ns(CLOCK_MONOTONIC);
}

EXPORT long long PAPI_get_real_usec(void)
{
	return (long long)(now_ns(CLOCK_MONOTONIC) / 1000);
}

EXPORT long long PAPI_get_real_cyc(void)
{
	return (long long)papi_cycles_of_ns(now_ns(CLOCK_MONOTONIC), papi_clock_hz());
}

EXPORT long long PAPI_get_virt_nsec(void)
{
	return (long long)now_ns(CLOCK_THREAD_CPUTIME_ID);
}

EXPORT long long PAPI_get_virt_usec(void)
{
	return (long long)(now_ns(CLOCK_THREAD_CPUTIME_ID) / 1000);
}

EXPORT long long PAPI_get_virt_cyc(void)
{
	return (long long)papi_cycles_of_ns(now_ns(CLOCK_THREAD_CPUTIME_ID), papi_clock_hz());
}
