/* SPDX-License-Identifier: BSD-2-Clause */
/* The library that calls.c calls back from. */
#include "spin.h"

NOINLINE uint64_t burn_for(uint64_t (*burn)(uint64_t, uint64_t), uint64_t x, uint64_t n);
NOINLINE uint64_t burn_for(uint64_t (*burn)(uint64_t, uint64_t), uint64_t x, uint64_t n)
{
	x = burn(x, n);
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}
