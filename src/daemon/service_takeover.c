/* SPDX-License-Identifier: BSD-2-Clause */
/* What dead daemons of this host left: a recording, when that was interrupted, and logs.
 *
 * Only one log samples on (collect/bpf/record.h).  There are more when a daemon was killed while
 * it started, took over or turned.  Nothing is changed before everything is known:
 *
 *   1. Each log is opened, and the database is asked what of it is stored.
 *   2. One commit puts all of them into the recording's MANIFEST, as `taken`, and our own.
 *   3. Our own log samples in place of the one that did.
 *   4. Each log in turn: what is not stored is folded and stored together with the word that all of
 *      it is (`stored`), its files are removed, and then the MANIFEST forgets it.
 *
 * A death before 3 leaves the logs as they were, and an empty one of ours.  A death after it leaves
 * logs that no longer change, and the MANIFEST says of each what is to be done. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "daemon/service_impl.h"
#include "model/fresh.h"

/* What the database says of a log. */
struct known {
	seq_ranges ranges;
	bool done;
	uint64_t *since; /* by CPU: the first sample not stored */
	struct takeover t;
};

static int look_up(struct service *v, uint64_t number, const struct log *log, struct known *k,
		   struct err *err)
{
	int rc = store_find_log(v->opts.db, v->opts.host, number, &k->ranges, err);

	k->since = xcalloc(log ? log_n_cpus(log) : 1, sizeof(*k->since));
	k->t.since = k->since;
	vec_each (r, &k->ranges) {
		if (r->cpu == SOURCE_DONE)
			k->done = true;
		else if (log && r->cpu < log_n_cpus(log))
			k->since[r->cpu] = r->last_seq + 1;
		else if (r->cpu - SOURCE_REACHED < LOG_MAX_EVENTS)
			k->t.reached[r->cpu - SOURCE_REACHED] = r->last_seq;
		else if (r->cpu - SOURCE_DROPPED < LOG_MAX_EVENTS)
			k->t.dropped[r->cpu - SOURCE_DROPPED] = r->last_seq;
	}
	return rc < 0 ? rc : 0;
}

void service_keep_labels(struct service *v, struct log_set *s)
{
	_str_ struct str text = {0};
	struct err err;

	if (!s->pinned || !collector_labels_changed(s->sampling.collector, &s->labels_mark))
		return;
	collector_list_labels(s->sampling.collector, &text);
	if (pinned_put_labels(&v->pins.base, s->number, str_get(&text), text.n, &err) < 0)
		service_say(v, "labels will not outlive this process: %s", err.msg);
}

/* Gives the processes that still live the labels that the daemon of log NUMBER knew of, and keeps
 * them with our own log before that one goes. */
static void take_labels(struct service *v, const struct pin_dir *base, uint64_t number)
{
	char *text;
	size_t n;

	if (pinned_get_labels(base, number, &text, &n) < 0)
		return;
	collector_apply_labels(v->set->sampling.collector, text, n);
	service_keep_labels(v, v->set);
	free(text);
}

/* Says which events did not count while no daemon lived.  Their time enabled tells the same. */
static void note_gap(struct service *v, const struct takeover *t)
{
	const struct log_account a = log_get_account(t->log);
	double gap_s = t->stopped_ns > a.time_ns ? (double)(t->stopped_ns - a.time_ns) / 1e9 : 0;

	if (!a.time_ns)
		return;
	v->unattended_s += gap_s;
	if (a.counting != (1ull << t->note->n_events) - 1)
		v->unrecorded_s += gap_s;
	for (uint32_t i = 0; i < t->note->n_events; i++)
		if (!(a.counting >> i & 1))
			service_say(v, "%s was not recorded for the last %.1f s without a daemon",
				    t->note->events[i].name, gap_s);
}

/* A log that is pinned, and where. */
struct dead_log {
	const struct pin_dir *base;
	uint64_t number;
	struct log *log; /* NULL: it never was complete, and so never sampled */
	struct old_chains *chains;
	struct pinned_note note;
	bool takes_turns; /* it samples no more when another one does */
	struct known known;
};

typedef VEC(struct dead_log) dead_logs;

static void find_logs(const struct service *v, dead_logs *ret)
{
	vec_each (base, &v->pins.bases) {
		_vec_ pinned_list numbers = {0};

		if (base->fd >= 0)
			pinned_find(base, v->set->number, &numbers);
		vec_each (number, &numbers)
			vec_push(ret, ((struct dead_log){.base = base, .number = *number}));
	}
}

/* Goes on with the recording that one of LOGS' daemons was writing. */
static bool resume(struct service *v, const dead_logs *logs)
{
	struct store *s;

	if (!logs->n || store_resume(v->opts.db, v->opts.host, &s, NULL) < 0)
		return false;
	for (size_t i = 0; i < store_n_logs(s); i++) {
		vec_each (log, logs) {
			if (store_get_log(s, i).number == log->number) {
				service_use_store(v, s);
				return true;
			}
		}
	}
	store_detach(s);
	return false;
}

/* A recording that was interrupted.  None of its logs went on: nobody counted since. */
static int note_interrupted(void *ctx, const struct store_recording *r)
{
	struct service *v = ctx;
	const uint64_t now_ns = clock_wall_ns();
	const bool ended_well = strcmp(r->state, "finished") == 0;

	if (ended_well || r->live || !r->end_wall_ns || r->end_wall_ns >= now_ns)
		return 0;
	v->unrecorded_s += (double)(now_ns - r->end_wall_ns) / 1e9;
	service_say(v, "epoch %s was interrupted: nothing was recorded for %.1f s since then",
		    r->epoch, (double)(now_ns - r->end_wall_ns) / 1e9);
	return 0;
}

static void dead_logs_release(dead_logs *logs)
{
	vec_each (d, logs) {
		old_chains_close(d->chains);
		log_close(d->log);
		vec_release(&d->known.ranges);
		free(d->known.since);
	}
	vec_release(logs);
}

/* Opens all of LOGS and looks up what is stored of them. */
static int know_all(struct service *v, dead_logs *logs, struct err *err)
{
	vec_each (d, logs) {
		int rc = pinned_open(d->base, d->number, &d->log, &d->chains, &d->note, err);

		if (rc < 0 && rc != -ENOENT)
			return rc;
		d->takes_turns = pinned_takes_turns(d->base, d->number, v->pins.live_fd);
		rc = look_up(v, d->number, d->log, &d->known, err);
		if (rc < 0)
			return rc;
		d->known.t.log = d->log;
		d->known.t.chains = d->chains;
		d->known.t.note = &d->note;
	}
	return 0;
}

/* Writes LOGS and, behind them, our own log into the MANIFEST. */
static int put_all(struct service *v, const dead_logs *logs, struct err *err)
{
	_vec_ VEC(struct store_log) all = {0};
	int rc = 0;

	vec_each (d, logs)
		if (d->log)
			vec_push(&all, ((struct store_log){.number = d->number,
							   .state = d->known.done ? STORE_LOG_STORED
										  : STORE_LOG_TAKEN,
							   .ranges = d->known.ranges.v,
							   .n_ranges = d->known.ranges.n}));
	vec_push(&all, ((struct store_log){.number = v->set->number, .state = STORE_LOG_OWN}));
	if (all.n > 1 || store_n_logs(v->store) > 1 || store_log(v->store) != v->set->number)
		rc = store_put_logs(v->store, all.v, all.n, err);
	return rc;
}

/* When D's sampling ended, as ours began at NOW_NS and log LIVE sampled until then.  A log that was
 * made the sampling one before others ended when the next one was; one that was made so after LIVE
 * was not yet when its daemon died. */
static uint64_t end_of(const dead_logs *logs, const struct dead_log *d, uint64_t live,
		       uint64_t now_ns)
{
	const uint64_t begun = log_live_ns(d->log);
	uint64_t end = now_ns, live_ns = UINT64_MAX;

	if (!d->takes_turns || d->number == live)
		return now_ns;
	vec_each (other, logs)
		if (other->log && other->number == live)
			live_ns = log_live_ns(other->log);
	if (!begun || begun > live_ns)
		return 0;
	vec_each (other, logs)
		if (other->log && other->takes_turns && log_live_ns(other->log) > begun &&
		    log_live_ns(other->log) <= live_ns && log_live_ns(other->log) < end)
			end = log_live_ns(other->log);
	return end;
}

/* Our own log samples in place of LOGS.  Those of 0.1.0 do not stop by themselves: they are stopped
 * first, so that no sample is taken twice. */
static int take_their_place(struct service *v, dead_logs *logs, struct err *err)
{
	/* A run that had begun is over by then. */
	const struct timespec grace = {.tv_nsec = 20 * 1000 * 1000};
	const uint64_t live = v->pins.live_fd > 0 ? log_get_live(v->pins.live_fd) : 0;
	uint64_t now_ns;
	int rc = 0;

	for (size_t i = 0; i < logs->n && rc >= 0; i++)
		if (!logs->v[i].takes_turns)
			rc = pinned_stop(logs->v[i].base, logs->v[i].number, err);
	if (rc < 0)
		return rc;
	log_set_go(NULL, v->set);
	now_ns = clock_mono_ns();
	for (size_t i = 0; i < logs->n && rc >= 0; i++) {
		struct dead_log *d = &logs->v[i];

		if (d->log)
			d->known.t.stopped_ns = end_of(logs, d, live, now_ns);
		if (d->takes_turns)
			rc = pinned_stop(d->base, d->number, err);
	}
	if (logs->n && rc >= 0)
		nanosleep(&grace, NULL);
	return rc;
}

#define MINUTE_NS      60000000000ull
#define SAME_MINUTE_NS 2000000000ull /* as much as a daemon's own counts may be off */

/* A log does not say when its samples came.  All of them came from START_NS to END_NS, since 1970:
 * where that is one minute, or next to no time, they are told as of it. */
static void note_dead_minute(struct profile *p, uint64_t start_ns, uint64_t end_ns)
{
	const uint64_t middle_ns = start_ns + (end_ns - start_ns) / 2;

	if (start_ns / MINUTE_NS == end_ns / MINUTE_NS || end_ns - start_ns <= SAME_MINUTE_NS)
		profile_note_minute(p, (uint32_t)(middle_ns / MINUTE_NS));
}

/* Stores what was just folded of D, as all there is of it.  It begins when the dead daemon last
 * stored something, and so has the time that nobody lived. */
static int store_taken(struct service *v, const struct dead_log *d, struct err *err)
{
	struct profile *p = &v->set->sampling.profile;
	const uint64_t start_ns = p->meta.start_wall_ns, stopped_ns = d->known.t.stopped_ns;
	const int64_t offset_ns = v->set->sampling.clock_offset_ns;
	const struct log_account a = log_get_account(d->log);
	seq_ranges all = {0};
	int rc;

	for (uint32_t cpu = 0; cpu < log_n_cpus(d->log); cpu++)
		if (log_head(d->log, cpu))
			vec_push(&all, (struct seq_range){cpu, 0, log_head(d->log, cpu) - 1});
	if (a.time_ns && a.time_ns < stopped_ns) {
		p->meta.start_wall_ns = (uint64_t)((int64_t)a.time_ns + offset_ns);
		p->meta.end_wall_ns = (uint64_t)((int64_t)stopped_ns + offset_ns);
		note_dead_minute(p, p->meta.start_wall_ns, p->meta.end_wall_ns);
	} else {
		p->meta.end_wall_ns = clock_wall_ns();
	}
	rc = store_flush_log(v->store, p,
			     &(struct store_log){.number = d->number,
						 .state = STORE_LOG_STORED,
						 .ranges = all.v,
						 .n_ranges = all.n},
			     err);
	p->meta.start_wall_ns = start_ns;
	vec_release(&all);
	return rc;
}

static int take_one(struct service *v, const struct dead_log *d, struct err *err)
{
	struct profile *p = &v->set->sampling.profile;
	uint64_t n = 0, n_unknown = v->n_unknown;
	int rc;

	if (!d->log)
		return pinned_remove(d->base, d->number, err);
	take_labels(v, d->base, d->number);
	if (!d->known.done) {
		n = collector_take_over(v->set->sampling.collector, &d->known.t);
		rc = store_taken(v, d, err);
		if (rc < 0)
			return rc;
		service_count_stored(v, p);
		profile_reset_values(p);
		note_gap(v, &d->known.t);
	}
	rc = pinned_remove(d->base, d->number, err);
	if (rc < 0)
		return rc;
	store_drop_log(v->store, d->number, NULL); /* else the next daemon does */
	v->n_taken_over += n;
	if (n || d->known.t.stopped_ns)
		service_say(v,
			    "took over %" PRIu64 " samples of a daemon that died, %" PRIu64
			    " of them at unknown addresses",
			    n, v->n_unknown - n_unknown);
	return 0;
}

int service_take_over(struct service *v, struct err *err)
{
	const struct profile *p = &v->set->sampling.profile;
	const seq_ranges none = {0};
	dead_logs logs = {0};
	int rc = 0;

	find_logs(v, &logs);
	if (!logs.n)
		store_list(
			v->opts.db,
			&(struct store_selection){
				.host = v->opts.host ? v->opts.host : profile_str(p, p->meta.host)},
			note_interrupted, v, NULL);
	if (!resume(v, &logs))
		rc = service_make_epoch(v, &none, err);
	if (rc >= 0)
		rc = know_all(v, &logs, err);
	if (rc >= 0)
		rc = put_all(v, &logs, err);
	if (rc >= 0)
		rc = take_their_place(v, &logs, err);
	for (size_t i = 0; i < logs.n && rc >= 0; i++)
		rc = take_one(v, &logs.v[i], err);
	if (rc < 0 && logs.n)
		err_prefix(err, rc, "taking over what a dead daemon left");
	dead_logs_release(&logs);
	return rc < 0 ? rc : 0;
}
