/* SPDX-License-Identifier: BSD-2-Clause */
/* A loop of known cost, alike in every procedure that holds it: one long chain of dependent
 * multiplications, whose speed does not depend on where it lies, as long as it lies in one line of
 * the cache (meson.build aligns loops). */
#ifndef TESTS_SPIN_H
#define TESTS_SPIN_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone, used))

static inline __attribute__((always_inline)) uint64_t spin(uint64_t x, uint64_t n)
{
	while (n--) {
		x = x * 0x2545f4914f6cdd1dull + 1;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

/* The length of a part of the work that comes round and round: N loops on average, exactly so after
 * every second time when N is even, but of no beat.  Parts that always take as long as it is to the
 * next sample would have all samples, or none. */
struct uneven {
	uint64_t seed, more; /* MORE: what the first of two had beyond N / 2 */
	int is_second;
};

static inline uint64_t uneven(struct uneven *u, uint64_t n)
{
	u->is_second = !u->is_second;
	if (!u->is_second)
		return n / 2 + (n - u->more);
	u->seed = u->seed * 6364136223846793005u + 1442695040888963407u;
	u->more = (u->seed >> 33) % (n + 1);
	return n / 2 + u->more;
}

static inline double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* How long the process ran: as many samples, however busy the machine is. */
static inline double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Pauses so long that what ran since BEGIN, of cpu_seconds(), is PART of the time. */
static inline void rest_of(double begin, double part)
{
	double pause = part > 0 && part < 1 ? (cpu_seconds() - begin) * (1 / part - 1) : 0;
	struct timespec t = {(time_t)pause, (long)((pause - (double)(time_t)pause) * 1e9)};

	if (pause > 0)
		nanosleep(&t, NULL);
}

#endif
