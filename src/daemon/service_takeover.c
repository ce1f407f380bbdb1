/* SPDX-License-Identifier: BSD-2-Clause */
/* What a dead daemon of this host left: its recording, when that was interrupted, and its logs,
 * which sampled on.
 *
 * The database knows what of each log is stored (store_find_log); the rest is folded, put into the
 * journal together with the word that all of that log is stored (SOURCE_DONE), and only then its
 * files are removed.  A death in between changes nothing: whoever comes next finds the log and the
 * word. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "daemon/service_impl.h"

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
	struct str text = {0};
	struct err err;

	if (!s->pinned || !collector_labels_changed(s->sampling.collector, &s->labels_mark))
		return;
	collector_list_labels(s->sampling.collector, &text);
	if (pinned_put_labels(&v->pins.base, s->number, str_get(&text), text.n, &err) < 0)
		service_say(v, "labels will not outlive this process: %s", err.msg);
	str_release(&text);
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

/* Stores what was just folded of LOG, as all there is of it. */
static int store_taken(struct service *v, const struct log *log, struct err *err)
{
	struct profile *p = &v->set->sampling.profile;
	seq_ranges all = {0};
	int rc;

	for (uint32_t cpu = 0; cpu < log_n_cpus(log); cpu++)
		if (log_head(log, cpu))
			vec_push(&all, (struct seq_range){cpu, 0, log_head(log, cpu) - 1});
	vec_push(&all, (struct seq_range){SOURCE_DONE, 0, 1});
	p->meta.end_wall_ns = clock_wall_ns();
	rc = store_journal(v->store, p, all.v, all.n, err);
	if (rc >= 0)
		rc = store_flush_journal(v->store, err);
	vec_release(&all);
	if (rc >= 0)
		service_count_stored(v, p);
	return rc;
}

/* Says which events did not count while no daemon lived: their time enabled tells it, too. */
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

static int take_one(struct service *v, const struct pin_dir *base, uint64_t number, struct err *err)
{
	struct pinned_note note;
	struct known k = {0};
	struct old_chains *chains = NULL;
	struct log *log = NULL;
	uint64_t n = 0, n_unknown = v->n_unknown;
	int rc = pinned_open(base, number, &log, &chains, &note, err);

	if (rc == -ENOENT) /* it never was complete, and so never sampled */
		return pinned_remove(base, number, err);
	if (rc >= 0)
		rc = pinned_stop(base, number, err);
	k.t.stopped_ns = clock_mono_ns();
	if (rc >= 0)
		rc = look_up(v, number, log, &k, err);
	if (rc >= 0 && !k.done && store_log(v->store) != number)
		rc = store_use_log(v->store, number, k.ranges.v, k.ranges.n, err);
	if (rc >= 0)
		take_labels(v, base, number);
	if (rc >= 0 && !k.done) {
		k.t.log = log;
		k.t.chains = chains;
		k.t.note = &note;
		n = collector_take_over(v->set->sampling.collector, &k.t);
		rc = store_taken(v, log, err);
		if (rc >= 0)
			note_gap(v, &k.t);
	}
	if (rc >= 0)
		rc = pinned_remove(base, number, err);
	if (rc >= 0) {
		profile_reset_values(&v->set->sampling.profile);
		v->n_taken_over += n;
		service_say(v,
			    "took over %" PRIu64 " samples of a daemon that died, %" PRIu64
			    " of them at unknown addresses",
			    n, v->n_unknown - n_unknown);
	} else {
		err_prefix(err, rc, "taking over what a dead daemon left");
	}
	old_chains_close(chains);
	log_close(log);
	vec_release(&k.ranges);
	free(k.since);
	return rc;
}

/* A log that is pinned, and where. */
struct dead_log {
	const struct pin_dir *base;
	uint64_t number;
};

typedef VEC(struct dead_log) dead_logs;

static void find_logs(const struct service *v, dead_logs *ret)
{
	vec_each (base, &v->pins.bases) {
		pinned_list numbers = {0};

		if (base->fd >= 0)
			pinned_find(base, v->set->number, &numbers);
		vec_each (number, &numbers)
			vec_push(ret, (struct dead_log){base, *number});
		vec_release(&numbers);
	}
}

/* Goes on with the recording that one of LOGS' daemons was writing. */
static bool resume(struct service *v, const dead_logs *logs)
{
	struct store *s;

	if (!logs->n || store_resume(v->opts.db, v->opts.host, &s, NULL) < 0)
		return false;
	vec_each (log, logs) {
		if (store_log(s) == log->number) {
			service_use_store(v, s);
			return true;
		}
	}
	store_detach(s);
	return false;
}

/* A recording that was interrupted, of which no log went on: nobody counted since. */
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
	for (size_t i = 0; i < logs.n && rc >= 0; i++)
		rc = take_one(v, logs.v[i].base, logs.v[i].number, err);
	vec_release(&logs);
	if (rc >= 0 && store_log(v->store) != v->set->number)
		rc = store_use_log(v->store, v->set->number, NULL, 0, err);
	return rc < 0 ? rc : 0;
}
