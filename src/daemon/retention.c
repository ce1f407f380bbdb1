/* SPDX-License-Identifier: BSD-2-Clause */
/* See retention.h.
 *
 * Removing thousands of recordings takes a slow disk its time, in which the log must be drained and
 * clients be answered: so it is done by a thread, which shares nothing with the rest but a flag to
 * stop, and one to say it is done.  The recording being written needs no care: its lock is held, as
 * is a lock of each that somebody reads (gc.c). */
#include "daemon/retention.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define SECOND	  1000000000ull
#define REMOVE_NS (24 * 3600 * SECOND)
#define LOOK_NS	  (3600 * SECOND)
#define PAUSE_NS  (60 * SECOND)

static void note_item(void *ctx, const struct gc_item *i)
{
	struct retention *r = ctx;

	if (i->why == GC_FAILED && !*r->first_failure.msg)
		err_set(&r->first_failure, -EIO, "epoch %s/%s: %s", i->epoch, i->host, i->error);
}

static void *retention_run(void *ctx)
{
	struct retention *r = ctx;

	r->rc = store_gc(r->db, &r->opts, note_item, r, &r->totals, &r->err);
	atomic_store(&r->done, true);
	return NULL;
}

/* Signals are for the thread that waits for them. */
static int start_thread(struct retention *r)
{
	sigset_t all, was;
	int e;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	e = pthread_create(&r->thread, NULL, retention_run, r);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	return -e;
}

static void retention_begin(struct retention *r, const char *db, const struct gc_opts *o,
			    uint64_t now_ns)
{
	r->removes = now_ns >= r->remove_due_ns && (o->max_age_ns || o->max_bytes);
	r->opts = *o;
	/* Nothing is too old or too much: it looks, merges what is older than an hour ago, and
	 * takes no lock of the database. */
	if (!r->removes)
		r->opts = (struct gc_opts){
			.keep = 1,
			.age_only = true,
			.host = o->host,
			.prune = o->prune,
			.now_wall_ns = o->now_wall_ns,
		};
	r->opts.stop = &r->stop;
	r->err.msg[0] = r->first_failure.msg[0] = '\0';
	atomic_store(&r->done, false);
	atomic_store(&r->stop, false);
	r->look_due_ns = now_ns + LOOK_NS;
	if (now_ns >= r->remove_due_ns)
		r->remove_due_ns = now_ns + REMOVE_NS;
	free(r->db);
	r->db = xstrdup(db);
	r->runs = start_thread(r) == 0; /* else in an hour */
}

static bool retention_say(const struct retention *r, char *text, size_t n)
{
	const struct gc_totals *t = &r->totals;

	if (!r->removes)
		return false;
	if (r->rc < 0 || *r->first_failure.msg)
		snprintf(text, n, "cannot remove old recordings: %s",
			 r->rc < 0 ? r->err.msg : r->first_failure.msg);
	else if (t->n_removed)
		snprintf(text, n,
			 "removed %" PRIu64 " old recording%s of %.1f MB; %" PRIu64
			 " of %.1f MB are left",
			 t->n_removed, t->n_removed == 1 ? "" : "s",
			 (double)t->n_bytes_removed / 1e6, t->n_left,
			 (double)t->n_bytes_left / 1e6);
	else
		return false;
	return true;
}

/* Takes what the thread has done, which has ended or is about to. */
static void retention_join(struct retention *r)
{
	pthread_join(r->thread, NULL);
	r->runs = false;
	if (r->removes) {
		r->n_removed += r->totals.n_removed;
		r->n_bytes_removed += r->totals.n_bytes_removed;
	}
	/* One that was stopped may not have found all. */
	if (r->rc >= 0 && !atomic_load(&r->stop))
		r->n_bytes = r->totals.n_bytes_left;
}

bool retention_step(struct retention *r, const char *db, const struct gc_opts *o, uint64_t now_ns,
		    char *text, size_t n)
{
	bool says = false;

	if (r->runs && atomic_load(&r->done)) {
		retention_join(r);
		says = retention_say(r, text, n);
	}
	if (!r->runs && (now_ns >= r->remove_due_ns || now_ns >= r->look_due_ns))
		retention_begin(r, db, o, now_ns);
	return says;
}

void retention_hurry(struct retention *r)
{
	r->remove_due_ns = 0;
}

void retention_pause(struct retention *r, uint64_t now_ns)
{
	if (!r->runs || !r->removes)
		return;
	atomic_store(&r->stop, true);
	r->remove_due_ns = now_ns + PAUSE_NS;
}

void retention_release(struct retention *r)
{
	if (r->runs) {
		atomic_store(&r->stop, true);
		retention_join(r);
	}
	free(r->db);
	*r = (struct retention){.db = NULL};
}
