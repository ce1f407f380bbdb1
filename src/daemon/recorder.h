/* SPDX-License-Identifier: BSD-2-Clause */
/* A recording from start to end: collect + resolve + store in one place.  Prints nothing. */
#ifndef DAEMON_RECORDER_H
#define DAEMON_RECORDER_H

#include "collect/collector.h"

struct recorder_opts {
	struct collector_opts collect; /* probe, vdso and tables' loader are filled in here */
	const char *db;		       /* made when it is not there */
	const char *group;	 /* whose members may read a new database; NULL: nobody else */
	const char *job;	 /* what the user says it is a part of; NULL: to be found */
	bool is_rank;		 /* mpirun or srun started it as one of several */
	const char *command;	 /* shown with the profile; "" for none */
	struct fact_defs *facts; /* to be taken besides; they get their numbers.  NULL: none */
};

struct recorder;

/* Opens the events, starts sampling as early as it can, and only then makes the database's new
 * epoch and reads what is slow to read. */
int recorder_start(const struct recorder_opts *opts, struct recorder **ret, struct err *err);

/* Waits for, and does, a cycle's work; flushes to the database now and then.  An error is a failure
 * to store: sampling goes on, and the next call tries again. */
int recorder_step(struct recorder *r, int timeout_ms, struct err *err);

/* The account of one event: reached == stored + lost. */
struct recorder_event {
	struct event event;
	const char *name;
	const char *measures; /* "ns": samples are intervals, which took AMOUNT together; "" */
	uint64_t amount;
	uint32_t drawn_part; /* as collector_drawn_part tells it */
	uint64_t n_stored, n_idle, n_unknown, n_lost;
	uint64_t n_not_delivered;  /* by the event's own count, outside idle; 0 when not known */
	struct chain_counts calls; /* with call paths: how they came out */
};

struct recorder_summary {
	const char *epoch;
	uint64_t n_bytes;	       /* the recording's size on disk */
	const struct profile *profile; /* all that was recorded */
	bool has_calls;		       /* it has call paths */
	size_t n_late_layouts;	       /* files whose headers were not read in time */
	size_t n_late_symbols;	       /* files whose symbols were not read in time */
	VEC(struct recorder_event) events;
};

/* Stops sampling, stores the rest, saves the symbols of everything that was sampled, finishes the
 * recording. */
int recorder_stop(struct recorder *r, struct err *err);

/* The account, after recorder_stop; lives as long as the recorder. */
const struct recorder_summary *recorder_summary(const struct recorder *r);

const struct collector *recorder_collector(const struct recorder *r);
void recorder_free(struct recorder *r);

#endif
