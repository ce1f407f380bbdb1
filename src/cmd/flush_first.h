/* SPDX-License-Identifier: BSD-2-Clause */
/* Readers see what was sampled up to now: a daemon that records into what is read is asked to store
 * it first. */
#ifndef CMD_FLUSH_FIRST_H
#define CMD_FLUSH_FIRST_H

#include "cmd/cmd.h"

/* Asks the daemon of this host that records into DB, if there is one, to store what it has.  Waits
 * a few seconds at most; after that a notice says so, and reading goes on.  Asks nothing with
 * --no-flush, nor of the same DB twice in a row.  CMD is a struct cmd, as select.h's before_read
 * wants it. */
void cmd_flush_first(void *cmd, const char *db);

/* The option. */
#define CMD_NO_FLUSH(c)                                                                            \
	{                                                                                          \
		"no-flush", OPT_FLAG, &(c)->no_flush, NULL,                                        \
			"read what is there, without asking a live daemon for the rest"            \
	}

#endif
