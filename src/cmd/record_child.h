/* SPDX-License-Identifier: BSD-2-Clause */
/* The command that `dwell record` runs.  It is forked before sampling starts, so that it can be
 * watched from its first instruction, and executed once sampling runs. */
#ifndef CMD_RECORD_CHILD_H
#define CMD_RECORD_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/opts.h"

struct record_child {
	pid_t pid;   /* 0: none */
	int go_fd;   /* a byte lets the command start, closing it calls it off */
	int fail_fd; /* the errno of an exec that failed comes out here */
	bool ended;
	bool failed_exec; /* record_child_start failed because COMMAND cannot be executed */
	int wait_status;  /* of wait(2), once it has ended */
};

/* Forks a process that waits to execute ARGV. */
int record_child_prepare(struct record_child *ch, const opt_list *argv, struct err *err);

/* Lets the command run.  Fails with execvp's errno when it cannot be executed. */
int record_child_start(struct record_child *ch, const char *name, struct err *err);

/* Tells whether the command has ended; false when there is none. */
bool record_child_ended(struct record_child *ch);

/* Calls off a command that was not started; waits for one that runs.  Returns its exit status, or
 * 128 + N when signal N ended it; 0 when there is none. */
int record_child_finish(struct record_child *ch);

#endif
