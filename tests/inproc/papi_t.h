/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of libdwell-papi share: a program of known ratio, and buffers to see it in. */
#ifndef TESTS_INPROC_PAPI_T_H
#define TESTS_INPROC_PAPI_T_H

#include <dwell.h>
#include <papi.h>
#include <stdlib.h>
#include <time.h>

#include "t.h"

extern char __executable_start, etext;
extern char __start_text_one, __stop_text_one, __start_text_two, __stop_text_two;

#define TEXT	   ((char *)&__executable_start)
#define TEXT_BYTES ((unsigned)(&etext - &__executable_start) + 4096)

static inline double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Spends this thread's CPU time in a place of its own; N rounds. */
__attribute__((noinline, section("text_one"), unused)) static void spin_one(unsigned n)
{
	for (volatile unsigned i = 0; i < n; i++)
		;
}

__attribute__((noinline, section("text_two"), unused)) static void spin_two(unsigned n)
{
	for (volatile unsigned i = 0; i < n; i++)
		;
}

/* SECONDS of CPU time, almost all in spin_one. */
__attribute__((unused)) static void burn(double seconds)
{
	for (double end = cpu_s() + seconds; cpu_s() < end;)
		spin_one(100000);
}

#if defined(__x86_64__)
#define HAVE_ONE_PLACE 1
/* An instruction that jumps to itself N times: all its time is at one address. */
__asm__(".text\n.p2align 4\nloop_at_one_place:\n\tmov %rdi, %rcx\none_place:\n\tloop "
	"one_place\n\tret\n");
extern void loop_at_one_place(uint64_t n);
extern void one_place(void);

/* SECONDS of CPU time, almost all at one_place. */
__attribute__((unused)) static void burn_at_one_place(double seconds)
{
	for (double end = cpu_s() + seconds; cpu_s() < end;)
		loop_at_one_place(50000);
}
#else
#define HAVE_ONE_PLACE	  0
#define one_place	  spin_one
#define burn_at_one_place burn
#endif

/* Its address, of which the compiler shall not think it knows the bounds. */
__attribute__((unused)) static char *the_place(void)
{
	char *p = (char *)one_place;

	__asm__("" : "+r"(p));
	return p;
}

/* Begins, with an event set that has CODE (by NAME); PAPI_NULL: it does not. */
__attribute__((unused)) static int set_with(const char *name, int *ret_code)
{
	int set = PAPI_NULL;

	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT ||
	    PAPI_event_name_to_code(name, ret_code) || PAPI_create_eventset(&set) ||
	    PAPI_add_event(set, *ret_code)) {
		t_fail_("no event set with %s", name);
		return PAPI_NULL;
	}
	return set;
}

__attribute__((unused)) static void drop(int *set)
{
	EXPECT_EQ(PAPI_cleanup_eventset(*set), PAPI_OK);
	EXPECT_EQ(PAPI_destroy_eventset(set), PAPI_OK);
	EXPECT_EQ(*set, PAPI_NULL);
}

/* Gives the ticks of BUF's N_BYTES of 2-byte buckets. */
__attribute__((unused)) static uint64_t ticks(const uint16_t *buf, size_t n_bytes)
{
	uint64_t n = 0;

	for (size_t i = 0; i < n_bytes / 2; i++)
		n += buf[i];
	return n;
}

/* What a profile's status is since the last start. */
__attribute__((unused)) static struct dwell_profil_status status_of(int set, int code)
{
	struct dwell_profil_status status = {.size = sizeof(status)};

	EXPECT_EQ(dwell_papi_profil_status(set, code, &status), 0);
	return status;
}

/* N, the ticks of a profile, and those that have no place: of late interrupts, for instance.  These
 * are not the most. */
__attribute__((unused)) static uint64_t all_ticks(int set, int code, uint64_t n)
{
	const uint64_t late = status_of(set, code).n_unplaced;

	EXPECT(late <= 2 * n + 30);
	return n + late;
}

/* Whether N ticks are COUNT in units of PERIOD, but for one that may be a little early or late. */
#define EXPECT_TICKS(n, count, period)                                                             \
	do {                                                                                       \
		if ((long long)(n) < (count) / (period)-1 ||                                       \
		    (long long)(n) > (count) / (period) + 1)                                       \
			t_fail_("%lld ticks of %lld of %lld", (long long)(n), (long long)(period), \
				(long long)(count));                                               \
	} while (0)

#define CLOCK "perf::TASK-CLOCK"

enum { MS = 1000000 };

#endif
