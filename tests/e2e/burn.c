/* SPDX-License-Identifier: BSD-2-Clause */
/* Burns time in one procedure, HOT (a macro of the build); IDLE_FIRST says whether a procedure that
 * never runs lies before or behind it, so that two programs have different code at one address.
 *   burn CPU_SECONDS [PART] | burn -n LOOPS
 * PART is how much of the time it runs; it pauses for the rest of it. */
#include <string.h>

#include "spin.h"

#ifndef HOT
#define HOT burn_here
#endif
#ifndef COLD
#define COLD never_called
#endif

#ifdef IDLE_FIRST
NOINLINE uint64_t COLD(uint64_t x, uint64_t n);
NOINLINE uint64_t COLD(uint64_t x, uint64_t n)
{
	return spin(x, n);
}
#endif

NOINLINE uint64_t HOT(uint64_t x, uint64_t n);
NOINLINE uint64_t HOT(uint64_t x, uint64_t n)
{
	return spin(x, n);
}

#ifndef IDLE_FIRST
NOINLINE uint64_t COLD(uint64_t x, uint64_t n);
NOINLINE uint64_t COLD(uint64_t x, uint64_t n)
{
	return spin(x, n);
}
#endif

int main(int argc, char **argv)
{
	double end, part;
	uint64_t x = 1;

	if (argc > 2 && strcmp(argv[1], "-n") == 0)
		return HOT(x, strtoull(argv[2], NULL, 10)) == 0;
	if (argc > 9)
		COLD(1, 1);
	end = cpu_seconds() + (argc > 1 ? atof(argv[1]) : 1);
	part = argc > 2 ? atof(argv[2]) : 1;
	for (double begin; (begin = cpu_seconds()) < end; rest_of(begin, part))
		x = HOT(x, 1000000);
	return x == 0;
}
