/* SPDX-License-Identifier: BSD-2-Clause */
/* A file written by several threads, of several processes, whose bytes do not depend on how many
 * there are.
 *
 * Who has a piece to write waits for its turn, takes the next free place, and writes there while
 * the next one takes its own: places are handed out in order, bytes are written at once.  The first
 * failure ends all of it: whoever waits or comes later gets the same error.
 *
 * Processes are dealt turns like cards, and hand on where the next piece goes. */
#ifndef HPC_WRITE_OUT_H
#define HPC_WRITE_OUT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* The processes that write one file together, SIZE of them; this one is number RANK.  How they talk
 * is the caller's: functions return 0 or -errno, and only one of them is in progress at a time. */
struct hpc_share {
	unsigned rank, size;
	/* Sends what belongs to TURN to process TO; gets it from process FROM. */
	int (*send)(void *user, unsigned to, uint64_t turn, const uint64_t place[2]);
	int (*receive)(void *user, unsigned from, uint64_t turn, uint64_t place[2]);
	/* All meet; each then has the sums over all of the N numbers V. */
	int (*sum)(void *user, uint64_t *v, size_t n);
	void *user;
};

/* Whose TURN it is, of N_TURNS that are dealt DEAL at a time; what comes behind them is number
 * 0's. */
static inline unsigned hpc_share_owner(const struct hpc_share *s, uint64_t turn, uint64_t n_turns,
				       unsigned deal)
{
	return turn < n_turns ? (unsigned)(turn / deal % s->size) : 0;
}

struct hpc_out {
	int fd;
	char *name; /* for errors */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t turn; /* whose it is */
	uint64_t end;  /* the next free byte of the file */
	uint64_t also; /* another place that moves on from turn to turn: the caller's */
	const struct hpc_share *share; /* NULL: nobody else writes */
	uint64_t n_turns;	       /* that are dealt, */
	unsigned deal;		       /* so many at a time */
	bool receiving;		       /* a thread is waiting for another process */
	int failed;		       /* the first failure; its message is in err */
	struct err err;
};

/* Creates or truncates NAME in DIRFD; places are handed out from END on.  With SHARE (NULL: alone)
 * all its processes do so together, and N_TURNS turns are dealt among them. */
int hpc_out_open(struct hpc_out *o, int dirfd, const char *name, uint64_t end,
		 const struct hpc_share *share, uint64_t n_turns, struct err *err);

/* Whether TURN, one that was dealt, is this process's. */
bool hpc_out_is_mine(const struct hpc_out *o, uint64_t turn);

/* Waits until all processes are here. */
int hpc_out_meet(struct hpc_out *o, struct err *err);

/* Waits for turn number TURN (they begin with 0).  Returns 0 with the lock held, or the failure
 * without it. */
int hpc_out_begin_turn(struct hpc_out *o, uint64_t turn, struct err *err);

/* Within a turn: the next N bytes at a multiple of ALIGN (a power of two). */
uint64_t hpc_out_take(struct hpc_out *o, uint64_t n, unsigned align);

/* Ends the turn and lets go of the lock. */
void hpc_out_end_turn(struct hpc_out *o);

/* Writes N bytes at OFF, a place that was taken or one below the first. */
int hpc_out_write(struct hpc_out *o, uint64_t off, const void *bytes, size_t n, struct err *err);

/* Makes RC the failure unless there is one already; returns the one there is. */
int hpc_out_fail(struct hpc_out *o, int rc, struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* The failure so far, or 0. */
int hpc_out_failed(struct hpc_out *o, struct err *err);

/* Writes the 8 bytes of FOOTER behind everything; closes the file.  One process does. */
int hpc_out_finish(struct hpc_out *o, const char *footer, struct err *err);

/* Closes the file and frees what O holds; a second time it does nothing. */
void hpc_out_close(struct hpc_out *o);

/* Small structures that mostly come one behind the other: gathered and written by many. */
struct hpc_out_run {
	uint64_t at; /* where bytes[0] goes */
	size_t n;
	uint8_t bytes[1 << 16];
};

/* Writes N bytes (at most what a run holds) at AT, sooner or later; within a turn. */
int hpc_out_gather(struct hpc_out *o, struct hpc_out_run *run, uint64_t at, const void *bytes,
		   size_t n, struct err *err);
int hpc_out_flush(struct hpc_out *o, struct hpc_out_run *run, struct err *err);

#endif
