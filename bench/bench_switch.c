/* SPDX-License-Identifier: BSD-2-Clause */
/* What a context switch costs: two threads on one CPU that wake each other through pipes.
 *
 *     bench_switch ROUNDS [CPU]
 *
 * Prints the process's CPU time a switch, in ns: there are two switches in a round, and both
 * threads are this process, so whatever runs in a switch or a wake-up is in it. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int to[2], from[2];
static long n_rounds;

static void *echo(void *arg)
{
	char c;

	(void)arg;
	for (long i = 0; i < n_rounds; i++)
		if (read(to[0], &c, 1) != 1 || write(from[1], &c, 1) != 1)
			exit(2);
	return NULL;
}

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	cpu_set_t cpus;
	pthread_t other;
	double before;
	char c = 'x';

	n_rounds = argc > 1 ? atol(argv[1]) : 100000;
	CPU_ZERO(&cpus);
	CPU_SET(argc > 2 ? atoi(argv[2]) : 0, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) < 0 || pipe(to) < 0 || pipe(from) < 0 ||
	    pthread_create(&other, NULL, echo, NULL) != 0) {
		perror("bench_switch");
		return 2;
	}
	before = cpu_ns();
	for (long i = 0; i < n_rounds; i++)
		if (write(to[1], &c, 1) != 1 || read(from[0], &c, 1) != 1)
			return 2;
	printf("%.1f\n", (cpu_ns() - before) / (2 * (double)n_rounds));
	pthread_join(other, NULL);
	return 0;
}
