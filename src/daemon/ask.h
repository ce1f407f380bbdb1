/* SPDX-License-Identifier: BSD-2-Clause */
/* Asking a daemon. */
#ifndef DAEMON_ASK_H
#define DAEMON_ASK_H

#include "base/str.h"
#include "daemon/control.h"

/* Puts R to the daemon of this host that records into DB and appends the text of its answer to
 * ANSWER.  Waits for it, at most TIMEOUT_S between two signs of life: a part of the answer,
 * or, five times at most, that it used CPU time.  -ENOENT no database,
 * -ECONNREFUSED no daemon, -EREMOTEIO the daemon's own words. */
int ask_daemon(const char *db, const struct control_request *r, int timeout_s, struct str *answer,
	       struct err *err);

#endif
