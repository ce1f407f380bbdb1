/* SPDX-License-Identifier: BSD-2-Clause */
/* Two procedures that take turns of some hundred microseconds, so that whatever disturbs one
 * disturbs the other, and an account of the CPU time each took, by the clock of the thread that ran
 * it. Each line printed is "NAME PID NANOSECONDS". */
#ifndef TESTS_INPROC_TURNS_H
#define TESTS_INPROC_TURNS_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double seconds; /* each thread works */
static int n_threads = 1;

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* TURNS_SECTIONS gives each procedure a section, so that the program knows where it ends. */
#ifdef TURNS_SECTIONS
#define IN_SECTION(name) section(name),
#else
#define IN_SECTION(name)
#endif
#define WORK(name, in)                                                                             \
	__attribute__((IN_SECTION(in) noinline, noclone)) void name(unsigned long n)               \
	{                                                                                          \
		for (volatile unsigned long i = 0; i < n; i++)                                     \
			;                                                                          \
	}
void work_a(unsigned long n);
void work_b(unsigned long n);
WORK(work_a, "text_a")
WORK(work_b, "text_b")

/* Between N / 2 and N * 3 / 2: turns of a steady beat could be in step with the ticks. */
static unsigned long about(unsigned long n)
{
	static __thread uint64_t seed = 1;

	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return n / 2 + (seed >> 33) % n;
}

struct spent {
	uint64_t a, b;
};

static void take_turns(struct spent *s)
{
	uint64_t t = cpu_ns(), end = t + (uint64_t)(seconds * 1e9);

	while (t < end) {
		uint64_t middle;

		work_a(about(180000));
		middle = cpu_ns();
		s->a += middle - t;
		work_b(about(60000));
		t = cpu_ns();
		s->b += t - middle;
	}
}

static void *run(void *unused)
{
	struct spent *s = calloc(1, sizeof(*s));

	(void)unused;
	take_turns(s);
	return s;
}

static void say(const char *name, uint64_t ns)
{
	char line[100];
	int n = snprintf(line, sizeof(line), "%s %d %llu\n", name, (int)getpid(),
			 (unsigned long long)ns);

	if (write(1, line, (size_t)n) != n)
		abort();
}

/* All threads' work; says what was spent. */
__attribute__((unused)) static void work(void)
{
	pthread_t t[256];
	struct spent all = {0}, *s;

	if (n_threads == 1)
		take_turns(&all);
	for (int i = 0; n_threads > 1 && i < n_threads; i++)
		if (pthread_create(&t[i], NULL, run, NULL))
			abort();
	for (int i = 0; n_threads > 1 && i < n_threads; i++) {
		pthread_join(t[i], (void **)&s);
		all.a += s->a;
		all.b += s->b;
		free(s);
	}
	say("work_a", all.a);
	say("work_b", all.b);
}

#endif
