/* SPDX-License-Identifier: BSD-2-Clause */
/* Starts COUNT processes one after another in each of JOBS processes: forkstorm COUNT JOBS
 * PROGRAM... */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int storm(long count, char **argv)
{
	while (count--) {
		pid_t pid = fork();

		if (pid == 0) {
			execv(argv[0], argv);
			_exit(127);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	int bad = 0, status;

	if (argc < 4)
		return 2;
	for (long jobs = atol(argv[2]); jobs > 0; jobs--)
		if (fork() == 0)
			_exit(storm(atol(argv[1]), argv + 3));
	while (wait(&status) > 0)
		bad |= status;
	return bad != 0;
}
