/* SPDX-License-Identifier: BSD-2-Clause */
/* A tree of calls with known shares of the time, in parts of 20 of ROUNDS rounds:
 *
 *     main > outer > inner > burn                        6
 *     main > to_library > burn_for (libcalls) > burn     4
 *     main > recurse, five times > burn                  3
 *     main > signals > ... > handler > burn              2
 *     thread entry > in_thread > inner > burn            5
 *
 * No call is the last thing its caller does, so that none becomes a jump.  With `system` instead of
 * ROUNDS it reads zeros for ever: main > reads > the kernel; with `deep` it burns below 10,000
 * calls of recurse. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "spin.h"

#define UNIT	 20000
#define AFTER(x) __asm__ volatile("" : "+r"(x))

uint64_t burn_for(uint64_t (*burn)(uint64_t, uint64_t), uint64_t x, uint64_t n);

static volatile uint64_t signalled;
static uint64_t burns_last = 3; /* of recurse */

static NOINLINE uint64_t nothing(uint64_t x)
{
	AFTER(x);
	return x;
}

/* No leaf: leaves have no frame. */
static NOINLINE uint64_t burn(uint64_t x, uint64_t n)
{
	x = nothing(spin(x, n * UNIT));
	AFTER(x);
	return x + 1;
}

static NOINLINE uint64_t inner(uint64_t x, uint64_t n)
{
	x = burn(x, n);
	AFTER(x);
	return x + 1;
}

static NOINLINE uint64_t outer(uint64_t x)
{
	x = inner(x, 6);
	AFTER(x);
	return x + 1;
}

static NOINLINE uint64_t to_library(uint64_t x)
{
	x = burn_for(burn, x, 4);
	AFTER(x);
	return x + 1;
}

static NOINLINE uint64_t recurse(uint64_t x, int depth)
{
	x = depth ? recurse(x, depth - 1) : burn(x, burns_last);
	AFTER(x);
	return x + 1;
}

static NOINLINE void handler(int sig)
{
	signalled = burn(signalled, 2) + 1;
}

static NOINLINE uint64_t signals(uint64_t x)
{
	pthread_kill(pthread_self(), SIGUSR1);
	AFTER(x);
	return x + signalled;
}

static NOINLINE void *in_thread(void *rounds)
{
	uint64_t x = 1;

	for (uintptr_t i = (uintptr_t)rounds; i; i--) {
		x = inner(x, 5);
		AFTER(x);
	}
	return (void *)(uintptr_t)x;
}

static NOINLINE uint64_t reads(int fd)
{
	static char buf[1 << 20];
	uint64_t n = 0;

	for (int i = 0; i < 100; i++)
		n += (uint64_t)read(fd, buf, sizeof(buf));
	return n;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1000;
	int zero = open("/dev/zero", O_RDONLY);
	uint64_t x = 1;
	pthread_t thread;
	void *ret;

	while (argc > 1 && strcmp(argv[1], "system") == 0)
		x += reads(zero);
	if (argc > 1 && strcmp(argv[1], "deep") == 0) {
		burns_last = 20000;
		return recurse(1, 10000) == 0;
	}
	signal(SIGUSR1, handler);
	pthread_create(&thread, NULL, in_thread, (void *)(uintptr_t)rounds);
	while (rounds--) {
		x = recurse(to_library(outer(x)), 4);
		x = signals(x);
	}
	pthread_join(thread, &ret);
	return x == (uint64_t)(uintptr_t)ret;
}
