/* SPDX-License-Identifier: BSD-2-Clause */
/* Spends a while at one depth of calls.
 *
 *     bench_depth FRAMES SECONDS       up to 500 frames
 *
 * The calls go through 64 procedures on as many pages, none with a frame pointer, so that a walk
 * needs other parts of the table for each frame, and the work reads memory all over, so that a walk
 * does not find everything in the nearest cache. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define N_WORDS (1u << 20)

static uint32_t words[N_WORDS];
static double end_s;
volatile uint32_t sink;

typedef uint32_t step(unsigned left, uint32_t x);
static step *const steps[64];

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static __attribute__((noinline)) uint32_t work(uint32_t x)
{
	do {
		for (unsigned i = 0; i < 200000; i++)
			x = words[x % N_WORDS] + x * 1664525u + 1013904223u;
	} while (now_s() < end_s);
	return x;
}

/* SIZE bytes of the frame are its own, a different number for each. */
#define STEP(n)                                                                                    \
	static __attribute__((noinline, aligned(4096)))                                            \
	uint32_t step_##n(unsigned left, uint32_t x)                                               \
	{                                                                                          \
		volatile uint32_t own[n % 9 * 4 + 1];                                              \
                                                                                                   \
		own[0] = x + n;                                                                    \
		x = left ? steps[left % 64](left - 1, own[0]) : work(own[0]);                      \
		return x ^ own[0];                                                                 \
	}
#define STEPS(a)                                                                                   \
	STEP(a##0) STEP(a##1) STEP(a##2) STEP(a##3) STEP(a##4) STEP(a##5) STEP(a##6) STEP(a##7)
#define NAMES(a)                                                                                   \
	step_##a##0, step_##a##1, step_##a##2, step_##a##3, step_##a##4, step_##a##5, step_##a##6, \
		step_##a##7

/* Octal: 00 to 077. */
STEPS(00)
STEPS(01)
STEPS(02)
STEPS(03)
STEPS(04)
STEPS(05)
STEPS(06)
STEPS(07)

static step *const steps[64] = {NAMES(00), NAMES(01), NAMES(02), NAMES(03),
				NAMES(04), NAMES(05), NAMES(06), NAMES(07)};

int main(int argc, char **argv)
{
	long frames = argc == 3 ? strtol(argv[1], NULL, 10) : 0;

	if (frames < 1 || frames > 500) {
		fprintf(stderr, "usage: bench_depth FRAMES SECONDS\n");
		return 2;
	}
	for (unsigned i = 0; i < N_WORDS; i++)
		words[i] = i * 2654435761u;
	end_s = now_s() + strtod(argv[2], NULL);
	sink = steps[0]((unsigned)frames - 1, 1);
	return 0;
}
