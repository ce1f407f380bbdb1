/* SPDX-License-Identifier: BSD-2-Clause */
/* Touches each page of what it has once, and prints how many pages that are. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PAGE 4096

char table[256 * PAGE] __attribute__((aligned(PAGE)));
static char bitmap[64 * PAGE] __attribute__((aligned(PAGE)));
int primes[96 * PAGE / sizeof(int)] __attribute__((aligned(PAGE))) = {2, 3, 5, 7};

__attribute__((noinline)) static void touch(volatile char *p, size_t n)
{
	for (size_t i = 0; i < n; i += PAGE)
		p[i] = 1;
}

int main(void)
{
	volatile char frame[128 * PAGE];
	char *heap;

	touch(table, sizeof(table));
	touch(bitmap, sizeof(bitmap));
	touch((volatile char *)primes, sizeof(primes));
	touch(frame, sizeof(frame));
	heap = sbrk(48 * PAGE);
	touch(heap, 48 * PAGE);
	printf("table 256 bitmap 64 primes 96 [stack] 128 [heap] 48\n");
	return 0;
}
