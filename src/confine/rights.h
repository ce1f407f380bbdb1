/* SPDX-License-Identifier: BSD-2-Clause */
/* Rights a process gives up, capabilities(7). */
#ifndef CONFINE_RIGHTS_H
#define CONFINE_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

#define RIGHT(cap) (UINT64_C(1) << (cap)) /* CAP_*, linux/capability.h */

/* Capabilities in effect in this process. */
uint64_t rights_effective(void);

/* From now on this process has those of KEEP at most, and no program it runs gets others.  Sets
 * no_new_privs. */
int rights_keep(uint64_t keep, struct err *err);

/* Makes this process user UID and group GID alone, without any capability.  Where the user
 * namespace has no such user it stays what it is, without capabilities. */
int rights_give_up(uid_t uid, gid_t gid, struct err *err);

/* The user that reads files for us: `dwell-reader` of /etc/passwd where there is one, else number
 * 65519, the last that systemd gives to services for as long as they run (DynamicUser=), so that it
 * is nobody's who has files.  Never `nobody`, which all share who have no user of their own. */
void rights_reader(uid_t *ret_uid, gid_t *ret_gid);

#endif
