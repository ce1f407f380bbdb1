/* SPDX-License-Identifier: BSD-2-Clause */
/* A process that grows: two threads burn from the start; when a line comes on stdin, a third thread
 * and a child process burn too.  family SECONDS */
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spin.h"

static double end;

static NOINLINE uint64_t burn_first(uint64_t x)
{
	return spin(x, 1000000);
}

static NOINLINE uint64_t burn_late_thread(uint64_t x)
{
	return spin(x, 1000000);
}

static NOINLINE uint64_t burn_child(uint64_t x)
{
	return spin(x, 1000000);
}

static void *first(void *arg)
{
	uint64_t x = 1;

	while (seconds() < end)
		x = burn_first(x);
	return x ? arg : NULL;
}

static void *late(void *arg)
{
	uint64_t x = 1;

	while (seconds() < end)
		x = burn_late_thread(x);
	return x ? arg : NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[3];
	uint64_t x = 1;
	pid_t pid;

	end = seconds() + (argc > 1 ? atof(argv[1]) : 1);
	pthread_create(&t[0], NULL, first, NULL);
	pthread_create(&t[1], NULL, first, NULL);
	if (getchar() == EOF)
		return 1;
	pthread_create(&t[2], NULL, late, NULL);
	pid = fork();
	if (pid == 0) {
		while (seconds() < end)
			x = burn_child(x);
		_exit(x == 0);
	}
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return waitpid(pid, NULL, 0) != pid;
}
