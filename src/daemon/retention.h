/* SPDX-License-Identifier: BSD-2-Clause */
/* Removes what is too old or too much from a database, once a day.  Once an hour it looks how much
 * there is and merges segments as they age (store/edges.h).  Both run beside whatever else the
 * process does. */
#ifndef DAEMON_RETENTION_H
#define DAEMON_RETENTION_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "store/gc.h"

/* One database's.  Begins zeroed: then a run is due at once. */
struct retention {
	pthread_t thread;
	bool runs;    /* there is a thread; what follows up to `done` is its own */
	bool removes; /* it removes; else it only looks */
	char *db;
	struct gc_opts opts;
	struct gc_totals totals;
	struct err err, first_failure; /* "" for none */
	int rc;
	atomic_bool done, stop;
	uint64_t remove_due_ns, look_due_ns; /* by the monotonic clock */
	/* What is known: all recordings' bytes at the last look, and what was removed so far. */
	uint64_t n_bytes, n_removed, n_bytes_removed;
};

/* Begins what is due at NOW_NS on DB by O (whose `stop` is not looked at), in a thread of its own,
 * and never waits for it.  Takes what a thread has done meanwhile: when recordings were removed, or
 * could not be, returns true and says so in TEXT of N bytes. */
bool retention_step(struct retention *r, const char *db, const struct gc_opts *o, uint64_t now_ns,
		    char *text, size_t n);

/* Makes a run due at once, for instance after a change of what is kept. */
void retention_hurry(struct retention *r);

/* Stops the running pass after its current recording; it resumes a minute later.  Call it when
 * somebody needs the database lock now. */
void retention_pause(struct retention *r, uint64_t now_ns);

/* Ends what runs, after the recording it is at. */
void retention_release(struct retention *r);

#endif
