/* SPDX-License-Identifier: BSD-2-Clause */
/* Starts two programs in turn under one and the same pid: samepid PID ROUNDS A A_ARG B B_ARG, each
 * run as "PROGRAM -n ARG".  Exit 77: the kernel does not let us choose pids. */
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	pid_t pid;

	if (argc < 7)
		return 2;
	pid = atoi(argv[1]);
	for (long i = 0; i < 2 * atol(argv[2]); i++) {
		char **which = argv + (i % 2 ? 5 : 3);
		struct clone_args a = {
			.exit_signal = SIGCHLD, .set_tid = (uintptr_t)&pid, .set_tid_size = 1};
		long got = syscall(SYS_clone3, &a, sizeof(a));

		if (got == 0) {
			execl(which[0], which[0], "-n", which[1], (char *)NULL);
			_exit(127);
		}
		if (got < 0)
			return errno == ENOSYS || errno == EPERM ? 77 : 1;
		if (waitpid(pid, NULL, 0) != pid)
			return 1;
	}
	return 0;
}
