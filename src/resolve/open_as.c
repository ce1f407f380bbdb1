/* SPDX-License-Identifier: BSD-2-Clause */
/* See open_as.h.  Identities are a thread's in Linux.  The C library changes those of all threads,
 * so the system calls are made directly: other threads go on as they are. */
#include "resolve/open_as.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOBODY 65534 /* include/linux/highuid.h DEFAULT_OVERFLOWUID */

bool open_as_differs(uid_t uid)
{
	return geteuid() == 0 && uid != 0;
}

int open_as(uid_t uid, const char *path, int flags)
{
	const uid_t wanted = uid == UID_ANYBODY ? NOBODY : uid;
	gid_t groups[256];
	int n = getgroups(256, groups), fd = -EPERM;
	uid_t old_uid;
	gid_t old_gid;

	if (n < 0 || syscall(SYS_setgroups, 0, NULL) < 0)
		return -EPERM;
	old_gid = (gid_t)setfsgid(NOBODY);
	old_uid = (uid_t)setfsuid(wanted);
	/* Both tell what was before, also when they fail. */
	if ((uid_t)setfsuid(wanted) == wanted && (gid_t)setfsgid(NOBODY) == NOBODY) {
		fd = open(path, flags);
		fd = fd < 0 ? -errno : fd;
	}
	setfsuid(old_uid);
	setfsgid(old_gid);
	if (syscall(SYS_setgroups, n, groups) < 0)
		abort(); /* cannot be: it could be changed a moment ago */
	return fd;
}
