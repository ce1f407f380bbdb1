/* SPDX-License-Identifier: BSD-2-Clause */
/* See own_fd.h. */
#include "inproc/own_fd.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* select(2) knows numbers below 1024 only, and nobody selects ours. */
enum { HIGHEST = 1 << 16 };

int own_fd_move_up(int fd)
{
	struct rlimit most;
	int moved = -1;

	if (getrlimit(RLIMIT_NOFILE, &most) >= 0) {
		unsigned long half = most.rlim_cur / 2;

		moved = fcntl(fd, F_DUPFD_CLOEXEC, (int)(half < HIGHEST ? half : HIGHEST));
	}
	if (moved < 0)
		return fd;
	close(fd);
	return moved;
}

bool own_fd_is(int fd, const char *kind)
{
	char link[64], is[64], wanted[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/thread-self/fd/%d", fd);
	snprintf(wanted, sizeof(wanted), "anon_inode:%s", kind);
	n = readlink(link, is, sizeof(is) - 1);
	if (n < 0)
		return false;
	is[n] = 0;
	return strcmp(is, wanted) == 0;
}
