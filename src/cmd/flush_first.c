/* SPDX-License-Identifier: BSD-2-Clause */
/* See flush_first.h.  There is no daemon when nobody listens; whether its lock is held is not
 * looked at, for a reader that tries it might keep a daemon from starting. */
#include "cmd/flush_first.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "daemon/ask.h"
#include "port/dcpi_note.h"

#define PATIENCE_S 3

void cmd_flush_first(void *cmd, const char *db)
{
	_mem_ char *fed_by = dcpi_note_read(db);
	const struct control_request r = {.verb = CONTROL_FLUSH, .tree = fed_by != NULL};
	struct cmd *c = cmd;
	struct str answer = {0};
	struct err err = {0};
	int rc;

	if (c->no_flush || (c->flushed && strcmp(c->flushed, db) == 0))
		return;
	free(c->flushed);
	c->flushed = xstrdup(db);
	rc = ask_daemon(fed_by ? fed_by : db, &r, PATIENCE_S, &answer, &err);
	str_release(&answer);
	/* No daemon, or nothing a daemon could record into: whoever reads it will say so. */
	if (rc >= 0 || rc == -ECONNREFUSED || rc == -ENOENT || rc == -ENOTDIR)
		return;
	cmd_notice(c, "%s: its daemon did not store what it sampled last: %s", db, err.msg);
}
