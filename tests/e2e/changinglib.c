/* SPDX-License-Identifier: BSD-2-Clause */
/* A library whose calls look the same as another's of the same size (-DBYTES): the same addresses,
 * other frames. */
#include <stdint.h>

#include "spin.h"

#ifndef BYTES
#define BYTES 24
#endif

uint64_t through(uint64_t (*back)(uint64_t), uint64_t x);

uint64_t through(uint64_t (*back)(uint64_t), uint64_t x)
{
	volatile char own[BYTES];

	own[0] = (char)x;
	x = back(x + (uint64_t)own[0]);
	__asm__ volatile("" : "+r"(x));
	return x + (uint64_t)own[0];
}
