/* SPDX-License-Identifier: BSD-2-Clause */
/* Deep call paths of a known kind: deep KIND N LOOPS
 *   once N     recurse calls itself N times, then bottom
 *   many N     as many different paths as fit in N levels: left or right at each */
#include <string.h>

#include "spin.h"

static volatile uint64_t sink;

NOINLINE void bottom(uint64_t loops)
{
	sink = spin(sink, loops);
}

NOINLINE void recurse(long n, uint64_t loops)
{
	if (n == 0)
		bottom(loops);
	else
		recurse(n - 1, loops);
	sink++;
}

void left(unsigned long way, long n);

NOINLINE void right(unsigned long way, long n)
{
	if (n == 0)
		bottom(5000);
	else if (way & 1)
		left(way >> 1 | way << 63, n - 1);
	else
		right(way >> 1 | way << 63, n - 1);
	sink++;
}

NOINLINE void left(unsigned long way, long n)
{
	if (n == 0)
		bottom(5000);
	else if (way & 1)
		left(way >> 1 | way << 63, n - 1);
	else
		right(way >> 1 | way << 63, n - 1);
	sink += 2;
}

int main(int argc, char **argv)
{
	long n;
	uint64_t loops;

	if (argc < 4)
		return 2;
	n = atol(argv[2]);
	loops = strtoull(argv[3], NULL, 10);
	if (strcmp(argv[1], "once") == 0)
		recurse(n, loops);
	else
		for (uint64_t i = 1; i <= loops; i++)
			left(i * 0x9e3779b97f4a7c15ull, n);
	return 0;
}
