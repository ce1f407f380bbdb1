/* SPDX-License-Identifier: BSD-2-Clause */
/* See shed.h.  The packaged unit allows no more capabilities than these in the first place; here
 * they are let go of also where somebody starts dwelld by hand. */
#include "daemon/shed.h"

#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "confine/filter.h"
#include "confine/rights.h"

/* Programs and events; other users' processes and files; kernel addresses. */
#define SAMPLING                                                                                   \
	(RIGHT(CAP_BPF) | RIGHT(CAP_PERFMON) | RIGHT(CAP_SYS_PTRACE) |                             \
	 RIGHT(CAP_CHECKPOINT_RESTORE) | RIGHT(CAP_DAC_READ_SEARCH) | RIGHT(CAP_SYSLOG))

/* Kernels before 5.9 know some of these only as CAP_SYS_ADMIN. */
static bool knows_all(void)
{
	_file_ FILE *f = fopen("/proc/sys/kernel/cap_last_cap", "re");
	int last = 0;

	return f && fscanf(f, "%d", &last) == 1 && last >= CAP_CHECKPOINT_RESTORE;
}

/* Somebody else's directory is written to by a right of its own. */
static bool is_others(const char *dir)
{
	struct stat st;

	return dir && stat(dir, &st) >= 0 && st.st_uid != geteuid();
}

/* New files in DIR are given to its group, which takes a right to all files, or being a member. */
static void join_group_of(const char *dir)
{
	gid_t groups[NGROUPS_MAX + 1];
	struct stat st;
	int n = getgroups(NGROUPS_MAX, groups);

	if (!dir || n < 0 || stat(dir, &st) < 0 || st.st_gid == getegid())
		return;
	for (int i = 0; i < n; i++)
		if (groups[i] == st.st_gid)
			return;
	groups[n] = st.st_gid;
	setgroups((size_t)n + 1, groups); /* else the group's members get nothing */
}

int shed_rights(const char *db, const char *dcpi, struct err *err)
{
	uint64_t keep = SAMPLING;
	struct rlimit lock;
	int rc;

	if (!knows_all())
		keep |= RIGHT(CAP_SYS_ADMIN);
	/* Buffers of events are locked memory.  Users other than root have little of it. */
	if (getrlimit(RLIMIT_MEMLOCK, &lock) < 0 || lock.rlim_cur != RLIM_INFINITY)
		keep |= RIGHT(CAP_IPC_LOCK);
	if (is_others(db) || is_others(dcpi))
		keep |= RIGHT(CAP_DAC_OVERRIDE);
	join_group_of(db);
	join_group_of(dcpi);
	rc = rights_keep(keep, err);
	return rc < 0 ? rc : filter_daemon(err);
}
