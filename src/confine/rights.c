/* SPDX-License-Identifier: BSD-2-Clause */
/* See rights.h.  capset(2) is called directly: libcap would be one more library. */
#include "confine/rights.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

#define READER	   "dwell-reader"
#define READER_UID 65519

struct sets {
	struct __user_cap_header_struct header;
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
};

static int get_sets(struct sets *s)
{
	*s = (struct sets){.header = {.version = _LINUX_CAPABILITY_VERSION_3}};
	return syscall(SYS_capget, &s->header, s->data) < 0 ? -errno : 0;
}

uint64_t rights_effective(void)
{
	struct sets s;

	if (get_sets(&s) < 0)
		return 0;
	return s.data[0].effective | (uint64_t)s.data[1].effective << 32;
}

/* The bounding set can only be made smaller with CAP_SETPCAP; without it no_new_privs does. */
static void bound(uint64_t keep)
{
	for (int cap = 0; cap < 64; cap++)
		if (!(keep & RIGHT(cap)) && prctl(PR_CAPBSET_READ, cap) == 1)
			prctl(PR_CAPBSET_DROP, cap);
}

int rights_keep(uint64_t keep, struct err *err)
{
	struct sets s;
	int rc = get_sets(&s);

	if (rc < 0)
		return err_errno(err, rc, "capabilities");
	bound(keep);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	for (int i = 0; i < 2; i++) {
		s.data[i].permitted &= (uint32_t)(keep >> 32 * i);
		s.data[i].effective = s.data[i].permitted;
		s.data[i].inheritable = 0;
	}
	if (syscall(SYS_capset, &s.header, s.data) < 0)
		return err_errno(err, -errno, "capabilities");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_errno(err, -errno, "no_new_privs");
	return 0;
}

int rights_give_up(uid_t uid, gid_t gid, struct err *err)
{
	bool other = true;

	if (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 ||
	    setresuid(uid, uid, uid) < 0) {
		if (errno != EINVAL)
			return err_errno(err, -errno, "user %u", (unsigned)uid);
		other = false;
	}
	if (other && (getuid() != uid || geteuid() != uid || getgid() != gid))
		return err_set(err, -EPERM, "user %u: not reached", (unsigned)uid);
	return rights_keep(0, err);
}

void rights_reader(uid_t *ret_uid, gid_t *ret_gid)
{
	_file_ FILE *f = fopen("/etc/passwd", "re");
	unsigned uid, gid;
	char line[512];

	*ret_uid = *ret_gid = READER_UID;
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, READER ":%*[^:]:%u:%u:", &uid, &gid) == 2 && uid && gid) {
			*ret_uid = uid;
			*ret_gid = gid;
			return;
		}
}
