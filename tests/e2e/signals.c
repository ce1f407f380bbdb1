/* SPDX-License-Identifier: BSD-2-Clause */
/* Signals that come in everywhere: signals WHERE SECONDS.  A timer interrupts procedures that are
 * little but prologue, epilogue and PLT stubs; the handler burns time, on the stack that WHERE
 * names: same, alternate, thread (an alternate stack above the thread's own), nested. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "spin.h"

#define STACK_BYTES 262144

static double end;
static sigset_t alarm_set;
static volatile uint64_t sink;
static char low_stack[STACK_BYTES] __attribute__((aligned(64)));
static int is_nested;

NOINLINE void in_handler(void)
{
	sink = spin(sink, 10000);
}

NOINLINE void inner_handler(int sig)
{
	(void)sig;
	in_handler();
	sink++;
}

NOINLINE void handler(int sig, siginfo_t *info, void *context)
{
	(void)info;
	(void)context;
	if (is_nested)
		raise(SIGUSR1);
	else
		in_handler();
	sink += (uint64_t)sig;
}

/* Leaves without a frame, with one, with pushes only. */
NOINLINE uint64_t leaf(uint64_t x)
{
	return x * 3 + 1;
}

NOINLINE uint64_t pushes(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	__asm__ volatile("" : : : "rbx", "rbp", "r12", "r13", "r14", "r15");
	return a ^ b ^ c ^ d;
}

__attribute__((optimize("no-omit-frame-pointer"))) NOINLINE uint64_t with_pointer(uint64_t x)
{
	volatile uint64_t local[4] = {x, x, x, x};

	return local[x & 3] + leaf(x);
}

NOINLINE uint64_t realigns(uint64_t x)
{
	volatile uint64_t local[8] __attribute__((aligned(64))) = {x};

	return local[x & 7] + leaf(x);
}

NOINLINE uint64_t stubs(uint64_t x)
{
	return x + (uint64_t)abs((int)x) + (uint64_t)ffsl((long)x);
}

/* Lets the signal in while it works only: none comes in its callers. */
NOINLINE void victims(void)
{
	uint64_t x = sink;

	pthread_sigmask(SIG_UNBLOCK, &alarm_set, NULL);
	do {
		for (int i = 0; i < 1000; i++) {
			x += pushes(x, 1, 2, 3);
			x += with_pointer(x);
			x += realigns(x);
			x += stubs(x);
		}
		sink = x;
	} while (cpu_seconds() < end);
	pthread_sigmask(SIG_BLOCK, &alarm_set, NULL);
	asm volatile(""); /* no tail call, so that what comes in there has this frame */
}

static void set_stack(void *at)
{
	stack_t stack = {.ss_sp = at, .ss_size = STACK_BYTES};

	sigaltstack(&stack, NULL);
}

static void *on_thread(void *above)
{
	set_stack(above);
	victims();
	return NULL;
}

static void in_thread(void)
{
	char *both = mmap(NULL, 2 * STACK_BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, both, STACK_BYTES);
	pthread_create(&thread, &attr, on_thread, both + STACK_BYTES);
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	struct sigaction act = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};
	struct sigaction inner = {.sa_handler = inner_handler, .sa_flags = SA_RESTART};
	struct itimerspec every = {{0, 50000}, {0, 50000}}; /* no period is a multiple of it */
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
	timer_t timer;

	if (argc < 3)
		return 2;
	end = cpu_seconds() + atof(argv[2]);
	if (strcmp(argv[1], "same") != 0)
		act.sa_flags |= SA_ONSTACK;
	if (strcmp(argv[1], "alternate") == 0)
		set_stack(low_stack);
	is_nested = strcmp(argv[1], "nested") == 0;
	if (is_nested) { /* the outer on the usual stack, the inner on another one */
		act.sa_flags &= ~SA_ONSTACK;
		inner.sa_flags |= SA_ONSTACK;
		set_stack(low_stack);
	}
	sigaction(SIGALRM, &act, NULL);
	sigaction(SIGUSR1, &inner, NULL);
	sigemptyset(&alarm_set);
	sigaddset(&alarm_set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm_set, NULL);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &every, NULL);
	if (strcmp(argv[1], "thread") == 0)
		in_thread();
	else
		victims();
	timer_delete(timer);
	return 0;
}
