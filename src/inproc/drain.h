/* SPDX-License-Identifier: BSD-2-Clause */
/* Brings ticks from the sources of all threads to those who want them: one helper thread waits for
 * rings that fill and looks at all of them ten times a second.
 *
 * All of it, sinks and their sources included, is under one lock.  The lock is held only for a
 * short while and never while the program's own code runs. */
#ifndef INPROC_DRAIN_H
#define INPROC_DRAIN_H

#include "inproc/source.h"

/* Somebody who wants ticks.  Zeroed but for the functions, the spec and all_threads; belongs to the
 * caller and stays until drain_remove. */
struct sink {
	struct sink *next;
	struct tick_source *sources;
	struct tick_spec spec;
	bool all_threads; /* of this process, those begun later too; else those opened by hand */
	tick_fn *tick;	  /* ctx is the sink */
	/* All ticks of one of its sources have come, which is closed now; may be NULL. */
	void (*ended)(struct sink *s, const struct tick_source *source);
	void (*after)(struct sink *s);	 /* some ticks have come; may be NULL */
	void (*reborn)(struct sink *s);	 /* in a new process after fork(2), without sources; when
					   NULL the sink is removed there */
	void (*leaving)(struct sink *s); /* the process is about to change its identity; may be
					    NULL */
	uint64_t n_ticks, n_moved, n_unplaced; /* of sources that are closed */
	unsigned n_missed;		       /* threads that could not be added */
	int error;			       /* why the last of these could not; 0: none */
	bool done;			       /* wants no more ticks: its sources are closed */
};

void drain_lock(void);
void drain_unlock(void);

/* Takes the lock unless it is held for a second: also from a signal handler, which may have
 * interrupted who holds it. */
bool drain_lock_soon(void);

/* Begins with S; of all threads there are, if it wants them.  0, or -errno when not one thread
 * could be added, or the helper thread not be started; then S is not in use. */
int drain_add(struct sink *s);

/* Adds thread TID to S.  0 or -errno. */
int drain_add_thread(struct sink *s, pid_t tid);

/* Hands all ticks so far to S. */
void drain_now(struct sink *s);

/* Totals of S, of the sources it has and of those that are closed. */
struct drain_totals {
	unsigned n_sources; /* open */
	uint64_t n_ticks, n_moved, n_unplaced;
};
struct drain_totals drain_totals(const struct sink *s);

/* Hands all ticks so far to S and ends with it, parked or not.  Nothing happens when S is not in
 * use. */
void drain_remove(struct sink *s);

/* Hands all ticks so far to S, which has one source, of the calling thread, and stops it, unless
 * IS_STOPPED says that its event is switched off: no ticks come, but its event and
 * its ring stay, for drain_go_on to begin again in a tenth of the time.  Of rings that wait so only
 * some are kept (PARKED_BYTES).  False: S is ended as by drain_remove. */
bool drain_park(struct sink *s, bool is_stopped);

/* Goes on with S, whose totals begin at 0.  False: it was not parked, or the program has closed its
 * event, and S is ended. */
bool drain_go_on(struct sink *s);

/* Before the identity changes: tells the sinks (leaving), ends the helper thread and lets none
 * begin until drain_let_helper_go(), which starts one with the calling thread's identity.  False:
 * not now, as drain_lock_soon(), or there have been no sinks. */
bool drain_hold_helper(void);
void drain_let_helper_go(void);

/* A thread of this process has begun, or is about to end: the calling one. */
void drain_thread_began(void);
void drain_thread_ends(void);

#endif
