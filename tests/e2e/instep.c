/* SPDX-License-Identifier: BSD-2-Clause */
/* instep SECONDS ROUND_NS: two procedures, each for one half of a round of the clock. */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static volatile unsigned sink;

/* The clock is asked rarely, so that nearly all samples are in the procedure itself. */
__attribute__((noinline)) static void first_half(void)
{
	for (unsigned i = 0; i < 20000; i++)
		sink += i;
}

__attribute__((noinline)) static void second_half(void)
{
	for (unsigned i = 0; i < 20000; i++)
		sink ^= i;
}

int main(int argc, char **argv)
{
	uint64_t end = now_ns() + (argc > 1 ? strtoull(argv[1], NULL, 10) : 1) * 1000000000;
	uint64_t round = argc > 2 ? strtoull(argv[2], NULL, 10) : 10000000, t;

	while ((t = now_ns()) < end) {
		if (t % round < round / 2)
			first_half();
		else
			second_half();
	}
	return 0;
}
