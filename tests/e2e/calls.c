/* SPDX-License-Identifier: BSD-2-Clause */
/* A tree of calls with known shares of the time, in parts of 20 of ROUNDS rounds, an even number:
 *
 *     main > outer > inner > burn                        6
 *     main > to_library > burn_for (libcalls) > burn     4
 *     main > recurse, five times > burn                  3
 *     main > signals > ... > handler > burn              2
 *     thread entry > in_thread > inner > burn            5
 *
 * They take turns every millisecond or so, so that whatever else the machine does hits all of them
 * alike; but the thread may have a slower CPU: at the end each of the two says what it used, as
 * "main NS" and "thread NS".
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

#define UNIT	 200000
#define AFTER(x) __asm__ volatile("" : "+r"(x))

uint64_t burn_for(uint64_t (*burn)(uint64_t, uint64_t), uint64_t x, uint64_t n);

static volatile uint64_t signalled;
static uint64_t burns_last; /* of recurse */

static NOINLINE uint64_t nothing(uint64_t x)
{
	AFTER(x);
	return x;
}

/* No leaf: leaves have no frame. */
static NOINLINE uint64_t burn(uint64_t x, uint64_t n)
{
	x = nothing(spin(x, n));
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
	static struct uneven n = {6};

	x = inner(x, uneven(&n, 6 * UNIT));
	AFTER(x);
	return x + 1;
}

static NOINLINE uint64_t to_library(uint64_t x)
{
	static struct uneven n = {4};

	x = burn_for(burn, x, uneven(&n, 4 * UNIT));
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
	static struct uneven n = {2};

	signalled = burn(signalled, uneven(&n, 2 * UNIT)) + 1;
}

static NOINLINE uint64_t signals(uint64_t x)
{
	pthread_kill(pthread_self(), SIGUSR1);
	AFTER(x);
	return x + signalled;
}

static void say(const char *who)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	printf("%s %lld\n", who, (long long)t.tv_sec * 1000000000 + t.tv_nsec);
}

static NOINLINE void *in_thread(void *rounds)
{
	static struct uneven n = {5};
	uint64_t x = 1;

	for (uintptr_t i = (uintptr_t)rounds; i; i--) {
		x = inner(x, uneven(&n, 5 * UNIT));
		AFTER(x);
	}
	say("thread");
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
	long rounds = argc > 1 ? atol(argv[1]) : 100;
	int zero = open("/dev/zero", O_RDONLY);
	uint64_t x = 1;
	pthread_t thread;
	void *ret;

	while (argc > 1 && strcmp(argv[1], "system") == 0)
		x += reads(zero);
	if (argc > 1 && strcmp(argv[1], "deep") == 0) {
		burns_last = 400000000;
		return recurse(1, 10000) == 0;
	}
	signal(SIGUSR1, handler);
	pthread_create(&thread, NULL, in_thread, (void *)(uintptr_t)rounds);
	while (rounds--) {
		static struct uneven n = {3};

		burns_last = uneven(&n, 3 * UNIT);
		x = recurse(to_library(outer(x)), 4);
		x = signals(x);
	}
	say("main");
	pthread_join(thread, &ret);
	return x == (uint64_t)(uintptr_t)ret;
}
