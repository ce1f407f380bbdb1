/* SPDX-License-Identifier: BSD-2-Clause */
/* A recording that never ends: the daemon without its socket.
 *
 * Samples are folded at least once a second; what was folded goes to the journal every few seconds,
 * and only then its room in the log is given back; every few minutes the journal becomes a segment.
 * So whatever happens to this process, each sample is in the database, in the journal or still in
 * the log, and the sequence numbers beside the first two say which.
 *
 * Nothing here prints; what a person should know goes to opts.say. */
#ifndef DAEMON_SERVICE_H
#define DAEMON_SERVICE_H

#include "collect/collector.h"
#include "formats/facts/fact_defs.h"
#include "store/gc.h"

struct service_opts {
	struct collector_opts collect; /* all of it stays the caller's, until service_free */
	struct fact_defs *facts;       /* to be taken besides; NULL: none */
	const char *group; /* whose members may read a new database; NULL: nobody else */
	const char *db;
	const char *host;  /* NULL: this machine's name */
	const char *label; /* of the recordings, "" for none */
	const char *bpffs; /* the BPF file system that was asked for; NULL: as pin_place.h has it */
	bool pin;	   /* have the log outlive this process, there */
	uint64_t journal_ns, flush_ns, epoch_ns; /* how often at least; epoch 0: only when asked */
	double prune;				 /* share of samples below which contexts are pruned
		       * (model/prune.h); 0: none */
	const char *dcpi; /* a DCPI tree that is kept up to date at each flush; NULL: none */
	uint64_t mux_ns;  /* how long each slot of events counts; 0: there is one slot */
	double max_cpu;	  /* share of all CPUs' time it may cost, 0 to 1; 0: any */
	size_t max_bytes; /* resident memory from which on it begins afresh; 0: any */
	bool keep_all;	  /* nothing is ever removed; else, once a day, what `keep` says */
	struct gc_opts keep;
	void (*say)(void *ctx, const char *text);
	void *say_ctx;
};

struct service;

/* Opens events and database and samples from now on.  -EBUSY names who holds the database. */
int service_start(const struct service_opts *opts, struct service **ret, struct err *err);

/* Waits, at most TIMEOUT_MS or until WAKE_FD polls readable, then does what is due.  Failures to
 * store are said once, and tried again. */
void service_step(struct service *v, int timeout_ms, int wake_fd);

/* Whether the database is still where it was.  -ENOENT when it was removed: what its logs hold is
 * let go of, since nobody can store it; -ESTALE when it was moved: the next daemon that is started
 * on it takes them over.  After either, service_free is all that is left to do. */
int service_check(struct service *v, struct err *err);

/* Stores everything sampled up to now. */
int service_flush(struct service *v, struct err *err);

/* Puts everything sampled up to now in the database's journal, which readers read.  Cheaper than
 * service_flush. */
int service_make_safe(struct service *v, struct err *err);

/* Stores everything sampled up to now in the old epoch and begins a new one for later samples. */
int service_new_epoch(struct service *v, struct err *err);

/* Brings the DCPI tree, if there is one, up to the last flush; else that happens at
 * the next step. */
int service_update_tree(struct service *v, struct err *err);

/* Whether there was a flush within the last second. */
bool service_flushed_lately(const struct service *v);

/* Samples of process PID and of those it starts from now on have LABEL.  -ESRCH, or -E2BIG when
 * there are too many labels. */
int service_label(struct service *v, uint32_t pid, const char *label, struct err *err);

/* From now on does what OPTS says, which stays the caller's until service_free, except that
 * database and host stay.  Samples taken so far are stored as what they were.  After a failure it
 * goes on as before. */
int service_reload(struct service *v, const struct service_opts *opts, struct err *err);

/* Stops sampling, stores the rest and ends the recording.  After a failure what could not be stored
 * is still in the log when that is pinned. */
int service_stop(struct service *v, struct err *err);

void service_free(struct service *v);

/* One event, since the service started. */
struct service_event {
	const char *name;
	uint64_t period, freq_hz;
	double duty;
	uint64_t n_reached, n_stored; /* in the database or its journal */
};

struct service_loss {
	const char *event, *name;
	uint64_t n;
};

struct shares;

struct service_status {
	const char *version, *db, *epoch, *engine;
	const char *problem; /* why nothing can be stored just now; "" when it can */
	const char
		*dcpi_problem; /* why the DCPI tree could not be written last; "" when it could */
	uint32_t pid;
	double uptime_s, since_flush_s;
	uint64_t n_samples; /* in values */
	uint64_t n_unknown, n_keys, n_contexts, n_flushes, n_epochs, n_taken_over;
	double unrecorded_s; /* that some event or all did not count since a daemon's death */
	double unattended_s; /* that the logs taken over sampled on without a daemon */
	/* Records of mappings, births and deaths that found their ring full, and mappings beyond
	 * what is kept in memory: samples there may be at unknown addresses. */
	uint64_t n_lost_records, n_left_out;
	uint64_t n_pruned; /* in this epoch's segments, with rare callers pruned */
	uint64_t rss_bytes, disk_bytes;
	uint64_t all_bytes; /* of all recordings in the database, when last looked at: each hour */
	uint64_t n_shared;  /* build-ids that different files have */
	uint64_t n_removed, n_bytes_removed; /* recordings, as too old or too much */
	double cpu_s;			     /* of this process, user and system */
	unsigned log_fill_pct;
	bool pinned, calls; /* it outlives this process; call paths are recorded */
	VEC(struct service_event) events;
	VEC(struct service_loss) losses;
	const struct shares *shares; /* the service's own */
};

/* Names in it live until the next service_step. */
void service_status(struct service *v, struct service_status *ret);
void service_status_release(struct service_status *s);

#endif
