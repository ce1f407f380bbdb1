/* SPDX-License-Identifier: BSD-2-Clause */
/* -p and -G of commands that sample. */
#ifndef CMD_RECORD_TARGET_H
#define CMD_RECORD_TARGET_H

#include "base/opts.h"
#include "machine/target.h"

/* Adds the process ids in LISTS, "12,13", to T.  -EINVAL for what is none. */
int record_parse_pids(const opt_list *lists, struct target *t, struct err *err);

/* Opens the directory of cgroup NAME: a path, or a path below a cgroup mount.  Returns a descriptor,
 * or -ENOENT. */
int record_open_cgroup(const char *name, struct err *err);

#endif
