/* SPDX-License-Identifier: BSD-2-Clause */
/* The library that late.c opens in the middle. */
#include "spin.h"

NOINLINE uint64_t burn_in_library(uint64_t x);
NOINLINE uint64_t burn_in_library(uint64_t x)
{
	return spin(x, 1000000);
}
