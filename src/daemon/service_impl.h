/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of a service, for the files that are it. */
#ifndef DAEMON_SERVICE_IMPL_H
#define DAEMON_SERVICE_IMPL_H

#include "daemon/governor.h"
#include "daemon/retention.h"
#include "daemon/sampling.h"
#include "daemon/service.h"
#include "daemon/shares.h"
#include "store/store.h"

/* What sequence numbers are of, besides CPUs' logs, which have their CPU's number: counts that only
 * grow, of one event each. */
#define SOURCE_REACHED 0x10000u
#define SOURCE_DROPPED 0x20000u
#define SOURCE_DONE    0x30000u /* 1: all of this log is stored, its spill table too */

/* Sums of an event since the service started. */
struct service_sum {
	char *name;
	uint64_t period, freq_hz;
	uint64_t enabled_ns, running_ns, n_reached, n_stored;
};

struct service_loss_sum {
	char *event, *name;
	uint64_t n;
};

/* A log and what samples into it. */
struct log_set {
	struct sampling sampling;
	struct collector_opts opts;
	struct event_spec *events; /* at the rate in use; names are the service's options' */
	uint64_t number;
	uint64_t *stored; /* by CPU: samples of the log that are stored */
	bool pinned;
	bool live;	      /* it samples, or did: what it has must not go */
	uint64_t labels_mark; /* of the labels that are pinned with it: labels_changed */
};

/* Where logs are pinned (collect/pin_place.h). */
struct service_pins {
	struct pin_places places;
	VEC(struct pin_dir) bases; /* of this database, by place; fd -1: nothing is there */
	struct pin_dir base;	   /* one more descriptor: new logs go there; fd -1: nowhere */
	int live_fd;		   /* says which log samples (log.h); 0: there is but one */
};

struct service {
	struct service_opts opts;
	struct log_set *set;
	struct log_set
		*next; /* samples already; SET has stopped and is yet to be stored; else NULL */
	struct store *store; /* NULL: ended */
	char *images_dir, *epoch;
	struct service_pins pins;
	int lock_fd;
	uint64_t db_dev, db_ino; /* of the database's directory */
	uint64_t noted_wall_ns;	 /* up to when samples are told by minute; 0: none are yet */
	uint64_t start_ns, journal_due_ns, flush_due_ns, epoch_due_ns, last_flush_ns;
	uint64_t n_flushes, n_epochs, n_samples, n_unknown, n_taken_over;
	VEC(struct build_id) shared; /* build-ids that different files have; it was said */
	double unrecorded_s;	     /* that events did not count, for want of a daemon */
	double unattended_s; /* that logs of dead daemons sampled on, as far as nobody counted it */
	uint64_t n_lost_records, n_left_out; /* of sets before this one */
	VEC(struct service_sum) sums;
	VEC(struct service_loss_sum) losses;
	struct shares shares;
	struct governor governor; /* of the rate, to stay below max_cpu */
	uint32_t slot;		  /* the one that counts now */
	uint64_t slot_due_ns;
	struct {
		uint64_t since_ns, n_samples;
		double cpu_s;
	} cost;		    /* at the beginning of the time it is measured over */
	uint64_t turned_ns; /* when the set was begun, other than at the start */
	size_t first_bytes; /* resident memory when the measurement of this set began */
	struct retention retention;
	bool dcpi_due;	       /* the DCPI tree lacks the last flush */
	size_t n_late_layouts; /* files whose samples the last flush stored by offset */
	size_t n_late_symbols; /* files whose symbols were not read by the last flush */
	char dcpi_problem[512];
	char no_calls[256]; /* why there are no call paths, when that was said */
	char problem[512];  /* last failure to store; "" when all is well */
};

/* Adds up, for the status, what was just stored: what is fresh in P. */
void service_count_stored(struct service *v, const struct profile *p);

/* service_turn.c: opens a set with OPTS' events, each period SLOWER times as long, which samples
 * from sampling_go on. */
int log_set_open(struct service *v, const struct service_opts *opts, double slower,
		 struct log_set **ret, struct err *err);
void log_set_free(struct log_set *s);

/* S samples from now on, and OLD (NULL: none of this process) no more. */
void log_set_go(struct log_set *old, struct log_set *s);

/* service_pins.c: finds the places; says why sampling will not outlive this process, or why pins
 * go elsewhere than was asked for. */
void service_open_pins(struct service *v);
void service_close_pins(struct service *v);

/* service_takeover.c: has S' processes have their labels after a death, too, as far as they have
 * changed. */
void service_keep_labels(struct service *v, struct log_set *s);

/* Stores into S from now on. */
void service_use_store(struct service *v, struct store *s);

/* Makes a new epoch, which knows already that KNOWN is stored of the log, and uses it. */
int service_make_epoch(struct service *v, const seq_ranges *known, struct err *err);

/* service_takeover.c: has v->store be a recording that goes on with v->log, and stores what dead
 * daemons left.  After sampling_start, before the first cycle. */
int service_take_over(struct service *v, struct err *err);

/* Stores what a stopped set has left, and lets go of its log. */
int service_finish_set(struct service *v, struct err *err);

/* service_turn.c: begins with OPTS' events, at periods SLOWER times as long, and ends with those of
 * before. */
int service_turn(struct service *v, const struct service_opts *opts, double slower,
		 struct err *err);

/* service_turn.c: stores the rest of the old set and goes on with the next; after a failure it is
 * to be called again. */
int service_finish_turn(struct service *v, struct err *err);

/* The next slot's turn, when it is time; and a lower or higher rate, by what this costs. */
void service_turn_slots(struct service *v, uint64_t now_ns);
void service_watch_cost(struct service *v, uint64_t now_ns);

/* This process's resident memory, and its CPU time, user and system. */
size_t service_resident_bytes(void);
double service_own_cpu_s(void);

void service_say(struct service *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
