/* SPDX-License-Identifier: BSD-2-Clause */
/* See plain_file.h. */
#include "base/plain_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/cleanup.h"

#define READ_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

int plain_file_reopen(int at)
{
	char self[40];
	int fd;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", at);
	fd = open(self, READ_FLAGS);
	return fd < 0 ? -errno : fd;
}

int plain_file_open(const char *path, int flags)
{
	_fd_ int at = open(path, O_PATH | O_CLOEXEC | flags);
	struct stat st;
	int fd;

	if (at < 0 || fstat(at, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	fd = plain_file_reopen(at);
	if (fd != -ENOENT)
		return fd;
	/* There is no /proc. */
	fd = open(path, READ_FLAGS | flags);
	return fd < 0 ? -errno : fd;
}
