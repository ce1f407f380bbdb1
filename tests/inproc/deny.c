/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs a program where perf_event_open(2) fails, as in containers:  deny ERRNO
 * PROGRAM ARGUMENTS...; or kills who waits awake, by sched_yield(2):  deny yield PROGRAM... */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const bool yield = argc > 1 && strcmp(argv[1], "yield") == 0;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, yield ? SYS_sched_yield : SYS_perf_event_open,
			 0, 1),
		BPF_STMT(BPF_RET | BPF_K,
			 yield ? SECCOMP_RET_KILL_PROCESS
			       : SECCOMP_RET_ERRNO | (unsigned)(argc > 1 ? atoi(argv[1]) : 1)),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {sizeof(code) / sizeof(code[0]), code};

	if (argc < 3 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		return 2;
	execv(argv[2], argv + 2);
	return 2;
}
