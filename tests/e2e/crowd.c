/* SPDX-License-Identifier: BSD-2-Clause */
/* Many processes with many mappings: crowd PROCESSES MAPPINGS BURNING.  Each maps the first page of
 * this program's own file MAPPINGS times, executable; no two neighbours can be merged.  The
 * first BURNING run a fifth of the time, the others wait.  Prints a line when all are there: how
 * many processes and mappings these are. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "spin.h"

static volatile unsigned long sink;

static void be_one(long n_mappings, int burns, int ready)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	long n = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (n < n_mappings &&
	       mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) != MAP_FAILED)
		n++;
	if (write(ready, &n, sizeof(n)) != sizeof(n))
		_exit(1);
	close(ready);
	while (!burns)
		pause();
	for (double begin;; rest_of(begin, 0.2)) {
		begin = cpu_seconds();
		for (int i = 0; i < 1000000; i++)
			sink++;
	}
}

int main(int argc, char **argv)
{
	long n, n_processes, n_mappings, n_burning, there = 0, mapped = 0;
	int ready[2];

	if (argc != 4 || pipe(ready) < 0)
		return 2;
	n_processes = atol(argv[1]);
	n_mappings = atol(argv[2]);
	n_burning = atol(argv[3]);
	for (long i = 0; i < n_processes; i++) {
		pid_t pid = fork();

		if (pid == 0)
			be_one(n_mappings, i < n_burning, ready[1]);
		if (pid < 0)
			break;
	}
	close(ready[1]);
	while (read(ready[0], &n, sizeof(n)) == sizeof(n)) {
		there++;
		mapped += n;
	}
	printf("%ld %ld\n", there, mapped);
	fflush(stdout);
	pause();
	return 0;
}
