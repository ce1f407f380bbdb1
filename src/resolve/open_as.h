/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that root opens on somebody else's word: only what that user could open.
 *
 * A binary of user U names its source files, and root lists it.  The name may be /etc/shadow.  So
 * the file is opened with U's rights: open_as lends them to this thread for the open(2), and the
 * kernel checks every directory of the path. */
#ifndef RESOLVE_OPEN_AS_H
#define RESOLVE_OPEN_AS_H

#include <stdbool.h>
#include <sys/types.h>

/* Nobody knows who; such a one has the rights that everybody has. */
#define UID_ANYBODY ((uid_t)-1)

/* Whether this process could open what UID cannot: it is root, and UID is not. */
bool open_as_differs(uid_t uid);

/* open(2) of PATH with FLAGS and the rights of UID: as itself, without any group, because what
 * groups it is in is not known here.  -EPERM: this process may not change its identity. */
int open_as(uid_t uid, const char *path, int flags);

#endif
