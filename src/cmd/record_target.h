/* SPDX-License-Identifier: BSD-2-Clause */
/* What a command samples or counts: -a, -p, -G or a command to run. */
#ifndef CMD_RECORD_TARGET_H
#define CMD_RECORD_TARGET_H

#include "base/opts.h"
#include "cmd/record_child.h"
#include "machine/target.h"

/* As given on a command line. */
struct record_words {
	bool all;
	opt_list pids;
	const char *cgroup; /* NULL: none */
	opt_list command;   /* and its arguments; empty: none */
};

/* Fills T from W; a command is forked into CH, to wait.  WHAT, "record", is for messages.  The
 * caller releases T with record_target_release, and ends CH. */
int record_choose_target(const struct record_words *w, const char *what, struct target *t,
			 struct record_child *ch, struct err *err);
void record_target_release(struct target *t);

/* With -p: whether every process has gone that was asked for. */
bool record_all_gone(const struct target *t);

/* Adds the process ids in LISTS, "12,13", to T.  -EINVAL for what is none. */
int record_parse_pids(const opt_list *lists, struct target *t, struct err *err);

/* Opens the directory of cgroup NAME: a path, or a path below a cgroup mount.  Returns a
 * descriptor, or -ENOENT. */
int record_open_cgroup(const char *name, struct err *err);

#endif
