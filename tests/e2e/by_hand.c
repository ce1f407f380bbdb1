/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls code that has no frame information (bare.s): by_hand NAME LOOPS */
#include <string.h>

#include "spin.h"

uint64_t by_hand(uint64_t n);
uint64_t no_pointer(uint64_t n);
uint64_t readable(uint64_t n);

static volatile uint64_t sink;

NOINLINE void calls_by_hand(uint64_t n)
{
	sink = by_hand(n);
	sink++;
}

NOINLINE void calls_no_pointer(uint64_t n)
{
	sink = no_pointer(n);
	sink++;
}

NOINLINE void calls_readable(uint64_t n)
{
	sink = readable(n);
	sink++;
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;

	if (argc > 1 && strcmp(argv[1], "by_hand") == 0)
		calls_by_hand(n);
	else if (argc > 1 && strcmp(argv[1], "readable") == 0)
		calls_readable(n);
	else
		calls_no_pointer(n);
	return 0;
}
