/* SPDX-License-Identifier: BSD-2-Clause */
/* Known call paths through optimised procedures without frame pointers: walks WHAT SECONDS. */
#include <pthread.h>
#include <signal.h>
#include <stdalign.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "spin.h"

uint64_t library_calls(uint64_t (*back)(uint64_t), uint64_t x);

static double end;
static volatile uint64_t sink;
static ucontext_t context, back_to;

/* Not the last thing its caller does, so that the caller stays on the stack. */
#define STAYS(call)                                                                                \
	({                                                                                         \
		uint64_t r_ = (call);                                                              \
		__asm__ volatile("" : "+r"(r_));                                                   \
		r_ + 1;                                                                            \
	})

NOINLINE static uint64_t leaf(uint64_t x)
{
	while (cpu_seconds() < end)
		x = spin(x, 100000);
	return x;
}

NOINLINE static uint64_t called_back(uint64_t x)
{
	return STAYS(leaf(x));
}

NOINLINE static uint64_t through_library(uint64_t x)
{
	return STAYS(library_calls(called_back, x));
}

/* gcc realigns the stack for this, and saves registers relative to the frame pointer. */
NOINLINE static uint64_t realigned(uint64_t x)
{
	alignas(64) volatile uint64_t a[8] = {x};

	return STAYS(through_library(a[x & 7]));
}

NOINLINE static uint64_t of_any_size(uint64_t x)
{
	volatile char *a = __builtin_alloca(x % 64 + 16); /* found by rbp, whatever the options */

	a[0] = (char)x;
	return STAYS(realigned(x + (uint64_t)a[0]));
}

NOINLINE static uint64_t down(uint64_t depth, uint64_t x)
{
	return depth ? STAYS(down(depth - 1, x)) : STAYS(leaf(x));
}

static void on_signal(int sig)
{
	sink += leaf(1);
}

/* The address that traps is in the signal's frame. */
NOINLINE static uint64_t interrupted(uint64_t x)
{
	sink += spin(x, 1000);
	__builtin_trap();
}

static void after_ud2(int sig, siginfo_t *info, void *uc)
{
	on_signal(sig);
	_exit(0);
}

static void *thread(void *arg)
{
	sink += STAYS(realigned(2));
	return NULL;
}

static void in_context(void)
{
	sink += STAYS(called_back(3));
	swapcontext(&context, &back_to);
}

static void at_once(void)
{
}

/* Calls F on a stack of its own. */
static void enter(void (*f)(void), void *stack, size_t n_bytes)
{
	getcontext(&context);
	context.uc_stack.ss_sp = stack;
	context.uc_stack.ss_size = n_bytes;
	context.uc_link = &back_to;
	makecontext(&context, f, 0);
	swapcontext(&back_to, &context);
}

NOINLINE static uint64_t in_kernel(uint64_t x)
{
	static char buf[1 << 20];
	FILE *f = fopen("/dev/zero", "r");

	while (cpu_seconds() < end)
		for (int i = 0; i < 100; i++)
			x += (uint64_t)read(fileno(f), buf, sizeof(buf));
	fclose(f);
	return x;
}

int main(int argc, char **argv)
{
	static char stack[1 << 18];
	const char *what = argv[1];
	pthread_t t;

	end = cpu_seconds() + strtod(argv[2], NULL);
	if (strcmp(what, "path") == 0) {
		sink += STAYS(of_any_size(1));
	} else if (strcmp(what, "deep") == 0) {
		sink += STAYS(down(100, 1));
	} else if (strcmp(what, "too_deep") == 0) {
		sink += STAYS(down(10000, 1));
	} else if (strcmp(what, "signal") == 0) {
		sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof(stack)}, NULL);
		sigaction(SIGILL,
			  &(struct sigaction){.sa_sigaction = after_ud2,
					      .sa_flags = SA_SIGINFO | SA_ONSTACK},
			  NULL);
		sink += STAYS(interrupted(1));
	} else if (strcmp(what, "thread") == 0) {
		pthread_create(&t, NULL, thread, NULL);
		pthread_join(t, NULL);
	} else if (strcmp(what, "context") == 0) {
		/* The walk knows the code a context begins in by reading it, and may do so only
		 * where the page is there: it is when a context has returned. */
		enter(at_once, stack, sizeof(stack));
		enter(in_context, stack, sizeof(stack));
	} else if (strcmp(what, "kernel") == 0) {
		sink += STAYS(in_kernel(1));
	}
	return 0;
}
