/* SPDX-License-Identifier: BSD-2-Clause */
/* Between perf_in.c and perf_in_end.c: what is known while a file is read. */
#ifndef PORT_PERF_IN_IMPL_H
#define PORT_PERF_IN_IMPL_H

#include "collect/tracer.h"
#include "port/perf_access.h"
#include "port/perf_branch.h"
#include "port/perf_chain.h"
#include "port/perf_date.h"
#include "port/perf_defer.h"
#include "port/perf_facts.h"
#include "port/perf_in.h"
#include "port/perf_spe.h"
#include "port/perf_stream.h"
#include "resolve/debug_file.h"

struct perf_in_event {
	bool known;    /* id is */
	bool reads;    /* its counts are what its group's leader read of them */
	bool takes_ns; /* these are nanoseconds, of one interval each */
	event_id id;
	uint64_t n_samples, n_lost, sum; /* of periods */
	uint64_t first_period;
	double squares; /* of periods */
	bool varies;	/* periods do */
};

/* What was counted lately. */
struct perf_value_slot {
	owner_id owner;
	ctx_id caller;
	place_id place;
	event_id event;
	vector_id vector;
	uint32_t value;	     /* number + 1; 0: the slot is free */
	uint64_t count, sum; /* what the value does not have yet */
};

struct perf_in {
	struct perf_handler handler;
	const struct perf_in_opts *opts;
	struct perf_in_result *ret;
	struct profile *profile;
	struct perfdata pd;
	struct perf_world world;
	struct perf_chains chains;
	struct perf_facts facts;
	struct perf_spe spe;
	struct perf_defer deferred;
	struct tracer tracer;
	struct debug_paths where;
	VEC(struct perf_in_event) events;
	struct perf_value_slot *slots;
	place_id first_places[N_IMAGE_KINDS]; /* see place_of_value; + 1, 0: none */
	VEC(uint64_t) last_counts;	      /* of PERF_SAMPLE_READ, by number in pd.ids */
	struct perf_date date;
	uint64_t first_ns, last_ns;
	int64_t clock_offset_ns; /* 0 unless has_date */
	bool has_date;
	bool has_counts;	   /* of perf stat record */
	uint32_t auxtrace_type;	   /* enum auxtrace_type of perf's */
	uint64_t n_auxtrace_bytes; /* of AUX data */
	uint64_t n_unknown_event, n_damaged, n_aux_bytes, n_throttled, n_aux_lost;
};

/* Once all records were taken: the recording as what it adds to the profile's; the symbols of
 * images with samples, kept where opts->open_cache says; and what a person should know of the
 * file, appended to the result's notes. */
void perf_in_add_meta(struct perf_in *in);
int perf_in_save_symbols(struct perf_in *in, struct err *err);
void perf_in_add_notes(struct perf_in *in, const struct perf_stream_stats *st);

/* What event number I of PD is called; to be freed. */
char *perf_event_name(const struct perfdata *pd, uint32_t i);

/* Whether A counts time of a CPU or of a task. */
bool perf_event_is_clock(const struct perfdata_attr *a);

/* Event number I of the file. */
struct perf_in_event *perf_in_event_at(struct perf_in *in, uint32_t i);

/* Loses N samples of event number EVENT, PERFDATA_NONE included, as the loss NAME. */
void perf_in_lose(struct perf_in *in, uint32_t event, const char *name, uint64_t n);

/* Once all records were taken: gives the events their sums. */
void perf_in_settle_events(struct perf_in *in);

#endif
