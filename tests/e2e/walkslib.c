/* SPDX-License-Identifier: BSD-2-Clause */
/* The library in the middle of the call paths of walks.c. */
#include "spin.h"

uint64_t library_calls(uint64_t (*back)(uint64_t), uint64_t x);
NOINLINE uint64_t library_calls(uint64_t (*back)(uint64_t), uint64_t x)
{
	uint64_t big[300] = {x}; /* a frame that no window of the stack holds */

	big[x % 300] = back(x);
	__asm__ volatile("" : : "r"(big) : "memory");
	return big[x % 299] + 1;
}
