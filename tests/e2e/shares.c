/* SPDX-License-Identifier: BSD-2-Clause */
/* Three procedures with known shares of the time: 50, 30 and 20 percent of ROUNDS rounds. */
#include "spin.h"

#define UNIT 20000

static NOINLINE uint64_t spin_half(uint64_t x)
{
	return spin(x, 5 * UNIT);
}

static NOINLINE uint64_t spin_third(uint64_t x)
{
	return spin(x, 3 * UNIT);
}

static NOINLINE uint64_t spin_fifth(uint64_t x)
{
	return spin(x, 2 * UNIT);
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1000;
	uint64_t x = 1;

	while (rounds--)
		x = spin_fifth(spin_third(spin_half(x)));
	return x == 0;
}
