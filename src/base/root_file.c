/* SPDX-License-Identifier: BSD-2-Clause */
/* See root_file.h; openat2(2), RESOLVE_IN_ROOT.  A plain open("/proc/17/root/x") leaves the
 * process's root at the first absolute link, for the kernel resolves that from our own root. */
#include "base/root_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

int root_file_open(const char *root, const char *path, int flags)
{
	_fd_ int at = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct open_how how = {.flags = (unsigned)flags | O_CLOEXEC,
			       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	long fd;

	if (at < 0)
		return -errno;
	fd = syscall(SYS_openat2, at, path, &how, sizeof(how));
	return fd < 0 ? -errno : (int)fd;
}

int root_file_open_cached(const char *root, const char *path, int flags)
{
	_fd_ int at = root ? open(root, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	struct open_how how = {.flags = (unsigned)flags | O_PATH | O_CLOEXEC,
			       .resolve = RESOLVE_CACHED};
	long fd;

	if (root && at < 0)
		return -errno;
	if (root)
		how.resolve |= RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
	fd = syscall(SYS_openat2, root ? at : AT_FDCWD, path, &how, sizeof(how));
	return fd < 0 ? -errno : (int)fd;
}
