/* SPDX-License-Identifier: BSD-2-Clause */
/* See recorder.h.
 *
 * Sampling starts before anything slow is done: the epoch is made and the processes are listed
 * while samples already collect in the log.  The profile keeps everything; a flush stores it whole
 * in place of the last one, after FIRST_FLUSH_NS and then at twice the time before, at least every
 * MOST_FLUSH_NS.  So all flushes together cost about as much as the last, and a crash no more than
 * half of the recording, or a minute.  A flush is due at each minute's end as well, because it
 * tells by minute what came since the one before. */
#include "daemon/recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "daemon/job_name.h"
#include "daemon/table_cache.h"
#include "daemon/sampling.h"
#include "model/fresh.h"
#include "store/store.h"

#define FIRST_FLUSH_NS (2ull * 1000000000)
#define MOST_FLUSH_NS  (60ull * 1000000000)
#define MINUTE_NS      (60ull * 1000000000)

/* The end of a recording waits so long for children to have read symbols. */
#define SYMBOLS_WAIT_NS (60ull * 1000000000)

struct recorder {
	struct sampling sampling; /* its profile is all of the recording */
	struct store *store;
	char *db, *epoch, *images_dir;
	uint64_t flush_ns;    /* when the next flush is due, CLOCK_MONOTONIC */
	uint64_t interval_ns; /* between the last one and that */
	uint64_t minute;      /* since 1970, that samples come in; ends with a flush */
	struct recorder_summary summary;
};

static int make_store(struct recorder *r, const struct recorder_opts *opts, struct err *err)
{
	struct job_name job;
	struct store_opts o = {
		.host = profile_str(&r->sampling.profile, r->sampling.profile.meta.host),
		.label = opts->collect.label,
		.cpu = profile_str(&r->sampling.profile, r->sampling.profile.meta.cpu),
		.clock_offset_ns = r->sampling.clock_offset_ns,
		.job = job.name,
	};
	int rc = store_make(opts->db, opts->group, err);

	job_name_find(opts->job, opts->is_rank, &job);
	o.job_is_series = job.is_series;
	o.job_gap_ns = job.gap_ns;
	if (rc >= 0)
		rc = store_create(opts->db, &o, &r->store, err);
	if (rc < 0)
		return rc;
	r->db = xstrdup(opts->db);
	r->epoch = xstrdup(store_epoch(r->store));
	r->images_dir = store_images_dir(opts->db, true, err);
	return r->images_dir ? 0 : -EIO;
}

int recorder_start(const struct recorder_opts *opts, struct recorder **ret, struct err *err)
{
	struct recorder *r = xcalloc(1, sizeof(*r));
	int rc;

	table_cache_start(opts->db);
	rc = sampling_open(&r->sampling, &opts->collect, opts->facts, opts->command, err);

	if (rc >= 0) {
		profile_watch(&r->sampling.profile);
		rc = sampling_start(&r->sampling, err);
	}
	if (rc >= 0)
		rc = make_store(r, opts, err);
	if (rc < 0) {
		recorder_free(r);
		return rc;
	}
	table_cache_keep();
	r->minute = clock_wall_ns() / MINUTE_NS;
	r->interval_ns = FIRST_FLUSH_NS;
	r->flush_ns = clock_mono_ns() + r->interval_ns;
	*ret = r;
	return 0;
}

/* Stores all there is.  What is stored before the end has an account of its own, so that it is even
 * when this process is killed; at the END the collector's last account is in it already. */
static int recorder_flush(struct recorder *r, bool end, struct err *err)
{
	int rc;

	sampling_settle(&r->sampling, r->images_dir);
	profile_note_minute(&r->sampling.profile, (uint32_t)r->minute);
	profile_mark(&r->sampling.profile);
	r->minute = clock_wall_ns() / MINUTE_NS;
	if (!end)
		collector_take_account(r->sampling.collector);
	r->interval_ns = r->interval_ns * 2 < MOST_FLUSH_NS ? r->interval_ns * 2 : MOST_FLUSH_NS;
	r->flush_ns = clock_mono_ns() + r->interval_ns;
	rc = store_replace(r->store, &r->sampling.profile, err);
	if (table_cache_give_way(rc))
		rc = store_replace(r->store, &r->sampling.profile, err);
	return rc;
}

int recorder_step(struct recorder *r, int timeout_ms, struct err *err)
{
	bool due;

	collector_wait(r->sampling.collector, timeout_ms);
	due = clock_mono_ns() >= r->flush_ns || clock_wall_ns() / MINUTE_NS != r->minute;
	if (due)
		collector_take_sums(r->sampling.collector);
	sampling_cycle(&r->sampling);
	return due ? recorder_flush(r, false, err) : 0;
}

static void summarise(struct recorder *r)
{
	const struct profile *p = &r->sampling.profile;

	for (event_id i = 0; i < p->events.n; i++)
		vec_push(&r->summary.events,
			 (struct recorder_event){
				 .event = p->events.v[i],
				 .name = profile_str(p, p->events.v[i].name),
				 .measures = event_measures(p, &p->events.v[i]),
				 .drawn_part = collector_drawn_part(r->sampling.collector, i),
				 .n_lost = profile_n_lost(p, i),
				 .calls = collector_chain_counts(r->sampling.collector, i)});
	vec_each (v, &p->values) {
		struct recorder_event *e = &r->summary.events.v[v->event];

		if (!value_is_samples(p, v))
			continue;
		e->n_stored += v->count;
		e->amount += value_amount(p, v);
		if (p->owners.v[v->owner].flags & OWNER_IDLE)
			e->n_idle += v->count;
		if (p->images.v[profile_leaf(p, v->ctx)->image].kind == IMAGE_UNKNOWN)
			e->n_unknown += v->count;
	}
	vec_each (e, &r->summary.events)
		e->n_not_delivered = event_not_delivered(&e->event, e->n_idle);
	r->summary.profile = p;
	r->summary.has_calls = r->sampling.has_calls;
}

static int take_bytes(void *ctx, const struct store_recording *rec)
{
	*(uint64_t *)ctx += rec->n_bytes;
	return 0;
}

/* Closes the store and asks it what the recording takes on disk. */
static int close_store(struct recorder *r, struct err *err)
{
	struct store_selection sel = {
		.epochs = r->epoch,
		.host = profile_str(&r->sampling.profile, r->sampling.profile.meta.host)};
	int rc = store_close(r->store, err);

	r->store = NULL;
	if (rc < 0)
		return rc;
	store_list(r->db, &sel, take_bytes, &r->summary.n_bytes, NULL);
	r->summary.epoch = r->epoch;
	return 0;
}

int recorder_stop(struct recorder *r, struct err *err)
{
	int rc;

	collector_stop(r->sampling.collector);
	rc = recorder_flush(r, true, err);
	if (rc < 0)
		return rc;
	r->summary.n_late_layouts = collector_stats(r->sampling.collector).n_late_layouts;
	r->summary.n_late_symbols =
		sampling_save_symbols(&r->sampling, r->images_dir, SYMBOLS_WAIT_NS);
	summarise(r);
	return close_store(r, err);
}

const struct recorder_summary *recorder_summary(const struct recorder *r)
{
	return &r->summary;
}

const struct collector *recorder_collector(const struct recorder *r)
{
	return r->sampling.collector;
}

void recorder_free(struct recorder *r)
{
	if (!r)
		return;
	store_discard(r->store); /* still open: the recording did not get far */
	vec_release(&r->summary.events);
	sampling_release(&r->sampling);
	table_cache_end();
	free(r->images_dir);
	free(r->db);
	free(r->epoch);
	free(r);
}
