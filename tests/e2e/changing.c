/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs whose stack looks much like it did a moment ago, and is another: changing CASE
 * CPU_SECONDS [A B] burns time for a few microseconds at a time, below calls that come and go.  A
 * and B are what the case needs: libraries or programs that lie at the same addresses. */
#include <alloca.h>
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "spin.h"

static double end;
static volatile uint64_t sink;
static uint64_t seed = 1;

/* Not the last thing its caller does, so that the caller stays on the stack. */
#define STAYS(call)                                                                                \
	({                                                                                         \
		uint64_t r_ = (call);                                                              \
		__asm__ volatile("" : "+r"(r_));                                                   \
		r_ + 1;                                                                            \
	})

static uint64_t any(uint64_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % n;
}

NOINLINE static uint64_t burn(uint64_t x)
{
	return spin(x, 2000 + (unsigned)any(20000));
}

/* --- Recursion: the same return addresses at other depths, or other ones at the same --- */

NOINLINE static uint64_t sized(uint64_t depth, uint64_t bytes);

NOINLINE static uint64_t one_way(uint64_t depth, uint64_t bytes)
{
	return STAYS(sized(depth, bytes));
}

NOINLINE static uint64_t other_way(uint64_t depth, uint64_t bytes)
{
	return STAYS(sized(depth, bytes));
}

NOINLINE static uint64_t sized(uint64_t depth, uint64_t bytes)
{
	volatile char *a = alloca(bytes);

	a[0] = (char)depth;
	if (depth == 0)
		return STAYS(burn((uint64_t)a[0] + bytes));
	return any(2) ? STAYS(one_way(depth - 1, 16 * (1 + any(6))))
		      : STAYS(other_way(depth - 1, 16 * (1 + any(6))));
}

/* Comes back to some depth and goes down another way from there. */
NOINLINE static uint64_t wander(uint64_t depth)
{
	uint64_t x = depth;

	while (cpu_seconds() < end && any(3)) {
		x += STAYS(burn(x));
		if (depth < 30)
			x += any(2) ? STAYS(wander(depth + 1))
				    : STAYS(sized(any(4), 16 * (1 + any(9))));
	}
	return x;
}

/* Goes down DEPTH calls.  A register or the frame pointer finds the frame, and arguments are passed
 * on in registers. */
NOINLINE static uint64_t kept(uint64_t depth, uint64_t a, uint64_t b, uint64_t c)
{
	if (depth)
		a ^= STAYS(kept(depth - 1, b, c, a)) ^ b;
	return STAYS(burn(a)) ^ a ^ b ^ c;
}

static void recursion(void)
{
	while (cpu_seconds() < end) {
		sink += STAYS(sized(any(40), 16));
		sink += STAYS(wander(0));
		sink += STAYS(kept(any(20), 1, 2, 3));
	}
}

/* --- Jumps out of calls --- */

static jmp_buf out[8];

NOINLINE static uint64_t jump_down(uint64_t depth, uint64_t bytes)
{
	volatile char *a = alloca(bytes);
	volatile uint64_t d = depth;

	a[0] = 1;
	if (d < 8 && setjmp(out[d]) == 0)
		sink += STAYS(jump_down(d + 1, 16 * (1 + any(8))));
	sink += STAYS(burn(sink));
	if (d && any(3))
		longjmp(out[any(d)], 1);
	return d;
}

static void jumps(void)
{
	while (cpu_seconds() < end)
		sink += STAYS(jump_down(0, 16));
}

/* --- Coroutines --- */

#define N_TURNS 4
static ucontext_t turns[N_TURNS], home;
static char stacks[N_TURNS][65536];

NOINLINE static uint64_t yielding(uint64_t me, uint64_t depth)
{
	if (depth)
		return STAYS(yielding(me, depth - 1));
	sink += STAYS(burn(me));
	swapcontext(&turns[me], &home);
	return STAYS(burn(me));
}

static void turn(int me)
{
	for (;;)
		sink += STAYS(yielding((uint64_t)me, any(12)));
}

static void coroutines(void)
{
	for (int i = 0; i < N_TURNS; i++) {
		getcontext(&turns[i]);
		turns[i].uc_stack = (stack_t){.ss_sp = stacks[i], .ss_size = sizeof(stacks[i])};
		makecontext(&turns[i], (void (*)(void))turn, 1, i);
	}
	while (cpu_seconds() < end) {
		sink += STAYS(sized(any(3), 16));
		swapcontext(&home, &turns[any(N_TURNS)]);
	}
}

/* --- Threads that get the stack of one that is gone --- */

static void *short_lived(void *arg)
{
	for (int i = 0; i < 20; i++)
		sink += STAYS(sized(any(6), 16 * (1 + (uint64_t)arg)));
	return NULL;
}

static void threads(void)
{
	pthread_t t[3];

	while (cpu_seconds() < end) {
		for (uint64_t i = 0; i < 3; i++)
			pthread_create(&t[i], NULL, short_lived, (void *)any(5));
		for (int i = 0; i < 3; i++)
			pthread_join(t[i], NULL);
	}
}

/* --- Signals --- */

static void on_signal(int sig)
{
	sink += STAYS(sized(any(5), 16));
}

static void signals(void)
{
	timer_t timer;
	const struct timespec often = {0, 300000};

	signal(SIGALRM, on_signal);
	timer_create(CLOCK_MONOTONIC, NULL, &timer);
	timer_settime(timer, 0, &(struct itimerspec){often, often}, NULL);
	recursion();
}

/* --- Another library where one was --- */

static uint64_t called_back(uint64_t x)
{
	return STAYS(sized(any(4), 16)) + x;
}

static void libraries(char **names)
{
	for (int i = 0; cpu_seconds() < end; i ^= 1) {
		void *lib = dlopen(names[i], RTLD_NOW);
		uint64_t (*through)(uint64_t(*)(uint64_t), uint64_t);

		if (!lib) {
			fprintf(stderr, "%s\n", dlerror());
			exit(1);
		}
		*(void **)&through = dlsym(lib, "through");
		for (int n = 0; n < 200; n++)
			sink += STAYS(through(called_back, sink));
		dlclose(lib);
	}
}

/* --- Another program where one was --- */

/* Goes on as PROGRAMS[1], whose next one this is. */
static void programs(char **argv, double seconds)
{
	char left[32], *next[] = {argv[4], argv[1], left, argv[4], argv[3], NULL};
	const double until = cpu_seconds() + 0.02;

	while (cpu_seconds() < until)
		sink += STAYS(sized(any(6), 16));
	snprintf(left, sizeof(left), "%f", seconds - 0.02);
	if (seconds > 0) {
		personality(ADDR_NO_RANDOMIZE);
		execv(next[0], next);
		perror(next[0]);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	const char *what = argv[1];
	const double seconds = strtod(argv[2], NULL);

	end = cpu_seconds() + seconds;
	if (strcmp(what, "recursion") == 0)
		recursion();
	else if (strcmp(what, "jumps") == 0)
		jumps();
	else if (strcmp(what, "coroutines") == 0)
		coroutines();
	else if (strcmp(what, "threads") == 0)
		threads();
	else if (strcmp(what, "signals") == 0)
		signals();
	else if (strcmp(what, "libraries") == 0)
		libraries(argv + 3);
	else if (strcmp(what, "programs") == 0)
		programs(argv, seconds);
	return 0;
}
