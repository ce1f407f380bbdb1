/* SPDX-License-Identifier: BSD-2-Clause */
/* What a cgroup's path says: which unit of systemd, which container.  src/web/ui/app_parts.mjs says
 * the same of it.
 *
 *     path of the cgroup                                        unit; container
 *     /system.slice/nginx.service/worker                        nginx.service
 *     /user.slice/user-1000.slice/session-3.scope               session-3.scope
 *     /kubepods.slice/kubepods-pod7d1f.slice/cri-containerd-0123456789abcdef....scope
 *                                                               container
 *                                                               cri-containerd-0123456789ab */
#ifndef MODEL_CGROUP_PARTS_H
#define MODEL_CGROUP_PARTS_H

#include "base/str.h"

/* Appends the innermost service, scope, socket, mount or swap of PATH; where there is none, the
 * innermost slice (systemd.unit(5)); nothing where there is neither. */
void cgroup_add_unit(struct str *s, const char *path);

/* Appends the innermost part of PATH that is named as engines name containers: an id, behind the
 * engine's name or below it.  Of an id the first twelve digits, as engines show it.  Nothing: there
 * is none. */
void cgroup_add_container(struct str *s, const char *path);

/* The id that engines gave the innermost container of PATH: RET_N hex digits, which are in PATH.
 * NULL: there is none, it is known by a name only, or PATH is of the process that watches one
 * (conmon). */
const char *cgroup_container_id(const char *path, size_t *ret_n);

#endif
