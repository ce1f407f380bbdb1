/* SPDX-License-Identifier: BSD-2-Clause */
/* A stack in pieces, compiled with -fsplit-stack: split SECONDS */
#include <string.h>

#include "spin.h"

static volatile uint64_t sink;

NOINLINE void work(void)
{
	sink = spin(sink, 20000);
}

/* Frames large enough that every few calls the stack goes on somewhere else. */
NOINLINE void in_pieces(int n)
{
	char local[20000];

	memset(local, n, sizeof(local));
	__asm__ volatile("" : : "r"(local) : "memory");
	work();
	if (n > 0)
		in_pieces(n - 1);
	__asm__ volatile("" : : "r"(local) : "memory");
}

int main(int argc, char **argv)
{
	double end = cpu_seconds() + (argc > 1 ? atof(argv[1]) : 1);

	while (cpu_seconds() < end)
		in_pieces(10);
	return 0;
}
