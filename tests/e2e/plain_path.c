/* SPDX-License-Identifier: BSD-2-Clause */
/* One known call path: main, outer, middle, inner, and in it all the time.
 * plain_path LOOPS */
#include "spin.h"

static volatile uint64_t sink;

NOINLINE uint64_t inner(uint64_t n)
{
	sink = spin(sink, n);
	return sink;
}

NOINLINE uint64_t middle(uint64_t n)
{
	uint64_t x = inner(n);

	return x + inner(n) + sink;
}

NOINLINE uint64_t outer(uint64_t n)
{
	uint64_t x = middle(n);

	return x ^ middle(n + x % 2);
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;

	return outer(n / 4) + sink == 1;
}
