/* SPDX-License-Identifier: BSD-2-Clause */
/* Three procedures with known shares of the time: 50, 30 and 20 percent of ROUNDS rounds, an even
 * number.  They take turns every millisecond or so, so that whatever else the machine does hits all
 * of them alike. */
#include "spin.h"

#define UNIT 200000

static NOINLINE uint64_t spin_half(uint64_t x)
{
	static struct uneven n = {5};

	return spin(x, uneven(&n, 5 * UNIT));
}

static NOINLINE uint64_t spin_third(uint64_t x)
{
	static struct uneven n = {3};

	return spin(x, uneven(&n, 3 * UNIT));
}

static NOINLINE uint64_t spin_fifth(uint64_t x)
{
	static struct uneven n = {2};

	return spin(x, uneven(&n, 2 * UNIT));
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 100;
	uint64_t x = 1;

	while (rounds--)
		x = spin_fifth(spin_third(spin_half(x)));
	return x == 0;
}
