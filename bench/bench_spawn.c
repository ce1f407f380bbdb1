/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs a command and says what it took.
 *
 *     bench_spawn FD COMMAND ARG...
 *
 * Writes the process's id to FD at once, and at its end its CPU time in microseconds, the most
 * memory it held in KiB, and its exit status.  A small program of its own: a child's peak counts
 * what its parent held when it was forked, so a script's children would all seem as large as the
 * script. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int fd = argc > 2 ? atoi(argv[1]) : -1, status = 0;
	struct rusage u = {0};
	pid_t pid;

	if (fd < 0) {
		fprintf(stderr, "usage: bench_spawn FD COMMAND ARG...\n");
		return 2;
	}
	pid = fork();
	if (pid == 0) {
		close(fd);
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	signal(SIGINT, SIG_IGN);
	dprintf(fd, "%d\n", (int)pid);
	if (pid < 0 || wait4(pid, &status, 0, &u) < 0)
		return 2;
	dprintf(fd, "%lld %ld %d\n",
		(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000LL + u.ru_utime.tv_usec +
			u.ru_stime.tv_usec,
		u.ru_maxrss, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return 0;
}
