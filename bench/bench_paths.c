/* SPDX-License-Identifier: BSD-2-Clause */
/* Works for SECONDS below PATHS different call paths:
 *
 *     bench_paths SECONDS PATHS
 *
 * A path is a number.  Its bits choose among 256 functions at each of 12 to 31 levels: the first
 * ten levels look at a few of them, so that paths are one tree.  25,000 paths are 300,000
 * contexts. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define WORK 4000 /* additions at the end of a path: some microseconds */

typedef void step(uint32_t path, unsigned level, unsigned deepest);

static step *const steps[256];
static volatile uint32_t sink;

static uint32_t mix(uint32_t x)
{
	x ^= x >> 16;
	x *= 0x7feb352d;
	x ^= x >> 15;
	x *= 0x846ca68b;
	return x ^ x >> 16;
}

static inline __attribute__((always_inline)) void go_on(uint32_t path, unsigned level,
							unsigned deepest)
{
	const uint32_t prefix = path >> (level < 10 ? 20 - 2 * level : 0);

	if (level == deepest) {
		for (unsigned i = 0; i < WORK; i++)
			sink += i * path;
		return;
	}
	steps[mix(prefix * 64 + level) & 255](path, level + 1, deepest);
	sink++; /* no call is its function's last act */
}

#define ONE(n)                                                                                     \
	static __attribute__((noinline)) void at_##n(uint32_t path, unsigned level,                \
						     unsigned deepest)                             \
	{                                                                                          \
		go_on(path, level, deepest);                                                       \
		sink += 0x##n;                                                                     \
	}
#define ALL16(what, n)                                                                             \
	what(n##0) what(n##1) what(n##2) what(n##3) what(n##4) what(n##5) what(n##6) what(n##7)    \
		what(n##8) what(n##9) what(n##a) what(n##b) what(n##c) what(n##d) what(n##e)       \
			what(n##f)
#define ALL(what)                                                                                  \
	ALL16(what, 0)                                                                             \
	ALL16(what, 1)                                                                             \
	ALL16(what, 2)                                                                             \
	ALL16(what, 3)                                                                             \
	ALL16(what, 4)                                                                             \
	ALL16(what, 5)                                                                             \
	ALL16(what, 6)                                                                             \
	ALL16(what, 7)                                                                             \
	ALL16(what, 8)                                                                             \
	ALL16(what, 9)                                                                             \
	ALL16(what, a)                                                                             \
	ALL16(what, b)                                                                             \
	ALL16(what, c)                                                                             \
	ALL16(what, d)                                                                             \
	ALL16(what, e)                                                                             \
	ALL16(what, f)

ALL(ONE)
#define ENTRY(n) at_##n,
static step *const steps[256] = {ALL(ENTRY)};

int main(int argc, char **argv)
{
	const double seconds = argc > 2 ? atof(argv[1]) : 0;
	const unsigned n_paths = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
	uint64_t rng = 88172645463325252;

	if (!n_paths) {
		fprintf(stderr, "usage: bench_paths SECONDS PATHS\n");
		return 2;
	}
	while (clock() < seconds * CLOCKS_PER_SEC) {
		uint32_t path;

		rng ^= rng << 13;
		rng ^= rng >> 7;
		rng ^= rng << 17;
		path = (uint32_t)((rng >> 20) % n_paths);
		go_on(path, 0, 12 + mix(path) % 20);
	}
	return 0;
}
