/* SPDX-License-Identifier: BSD-2-Clause */
/* See top_stored.h.
 *
 * The daemon is asked to store what it has, as before every reading, which makes a segment with its
 * own start and end.  Then what began after the end that was read last is read, that segment alone.
 * The daemon merges a minute's segments, as it does its own.  What it has merged begins before the
 * end that was read last: most of it was shown, so that it is left out. */
#include "cmd/top_stored.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "daemon/ask.h"
#include "query/samples/query.h"
#include "query/source.h"

#define PATIENCE_S 3
#define OVERLAP_NS 50000000ull /* a clock that was set a little */

struct top_stored {
	struct cmd *cmd;
	uint64_t end_ns; /* since 1970: all before was shown */
	bool any;	 /* end_ns is the end of a segment */
};

/* -ECONNREFUSED: there is no daemon. */
static int ask_flush(const struct cmd *c, struct err *err)
{
	const struct control_request r = {.verb = CONTROL_FLUSH};
	struct str answer = {0};
	int rc = ask_daemon(c->select.db, &r, PATIENCE_S, &answer, err);

	str_release(&answer);
	if (rc == -ETIMEDOUT) /* it is busy: what it stores meanwhile is shown */
		return 0;
	if (rc == -ECONNREFUSED)
		return err_set(err, rc,
			       "%s: no daemon of this host records into it; without --live `dwell "
			       "top` shows what is stored, without --db what this machine does",
			       c->select.db);
	return rc;
}

int top_stored_new(struct cmd *c, struct top_stored **ret, struct err *err)
{
	struct top_stored *t;
	int rc = ask_flush(c, err);

	if (rc < 0)
		return rc;
	t = xcalloc(1, sizeof(*t));
	t->cmd = c;
	t->end_ns = clock_wall_ns();
	c->select.notice = NULL; /* a screen has no place for lines about each second */
	c->select.before_read = NULL;
	*ret = t;
	return 0;
}

void top_stored_wait(void *ctx, int timeout_ms, int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	(void)ctx;
	poll(&p, 1, timeout_ms);
}

/* Notes until when SET is, and tells since when. */
static void note_times(struct top_stored *t, struct tui_set *set)
{
	const struct profile_meta *m = &set->source->query->profile->meta;
	const uint64_t start_ns = m->start_wall_ns > t->end_ns ? m->start_wall_ns : t->end_ns;

	if (m->end_wall_ns > start_ns)
		set->seconds = (double)(m->end_wall_ns - start_ns) / 1e9;
	if (m->end_wall_ns > t->end_ns)
		t->end_ns = m->end_wall_ns;
}

int top_stored_take(void *ctx, struct tui_set *ret, struct err *err)
{
	struct top_stored *t = ctx;
	const struct source_opts o = {.select = &t->cmd->select};
	int rc = ask_flush(t->cmd, err);
	uint64_t was_ns;

	if (rc < 0)
		return rc;
	t->cmd->select.since_wall_ns = t->end_ns;
	rc = source_open(&ret->source, &o, err);
	if (rc == -ENOENT)
		return 1;
	if (rc < 0)
		return rc;
	if (!ret->source->query) {
		source_close(ret->source);
		return err_set(err, -EINVAL, "%s: no database that a daemon records into",
			       t->cmd->select.db);
	}
	was_ns = t->end_ns;
	note_times(t, ret);
	if (t->any && ret->source->query->profile->meta.start_wall_ns + OVERLAP_NS < was_ns) {
		source_close(ret->source);
		*ret = (struct tui_set){0};
		return 1;
	}
	t->any = true;
	return 0;
}

void top_stored_let_go(void *ctx, struct tui_set *set)
{
	(void)ctx;
	source_close(set->source);
}

void top_stored_free(struct top_stored *t)
{
	free(t);
}
