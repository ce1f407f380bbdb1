/* SPDX-License-Identifier: BSD-2-Clause */
/* What setpriv --reuid --regid does: capabilities of one thread are kept by a system call that the
 * C library knows nothing of.  glibc aborts the program in setresgid(3) when another thread has
 * lost them. */
#ifndef TESTS_INPROC_IDENTITY_T_H
#define TESTS_INPROC_IDENTITY_T_H

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Becomes user and group 65534; 0, or the number of the call that failed. */
__attribute__((unused)) static int change_identity(void)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct caps[2];

	if (prctl(PR_SET_KEEPCAPS, 1) < 0)
		return 1;
	if (setresuid(65534, 65534, 65534) < 0)
		return 2;
	if (syscall(SYS_capget, &head, caps) < 0)
		return 3;
	caps[0].effective = caps[0].permitted;
	caps[1].effective = caps[1].permitted;
	if (syscall(SYS_capset, &head, caps) < 0)
		return 4;
	return setresgid(65534, 65534, 65534) < 0 ? 5 : 0;
}

#endif
