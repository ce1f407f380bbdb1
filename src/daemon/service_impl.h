/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of a service, for the files that are it. */
#ifndef DAEMON_SERVICE_IMPL_H
#define DAEMON_SERVICE_IMPL_H

#include "daemon/sampling.h"
#include "daemon/service.h"
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

struct service {
	struct service_opts opts;
	struct sampling *sampling;
	uint64_t log;	     /* its number */
	uint64_t *stored;    /* by CPU: samples of the log that are stored */
	struct store *store; /* NULL: ended */
	char *images_dir, *epoch;
	char *pin_base; /* NULL: nothing is to be pinned */
	bool pinned;
	int lock_fd;
	uint64_t start_ns, journal_due_ns, flush_due_ns, epoch_due_ns, last_flush_ns;
	uint64_t n_flushes, n_epochs, n_samples, n_unknown, n_taken_over;
	VEC(struct service_sum) sums;
	VEC(struct service_loss_sum) losses;
	char problem[512]; /* last failure to store; "" when all is well */
};

/* Adds up, for the status, what was just stored. */
void service_count_stored(struct service *v, const struct profile *p);

/* Stores into S from now on. */
void service_use_store(struct service *v, struct store *s);

/* Makes a new epoch, which knows already that KNOWN is stored of the log, and uses it. */
int service_make_epoch(struct service *v, const seq_ranges *known, struct err *err);

/* service_takeover.c: has v->store be a recording that goes on with v->log, and stores what dead
 * daemons left.  After sampling_start, before the first cycle. */
int service_take_over(struct service *v, struct err *err);

void service_say(struct service *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
