/* SPDX-License-Identifier: BSD-2-Clause */
/* One log after another: when the events change, when the rate is lowered, and when memory has
 * grown.
 *
 * The next set is ready before it takes the old one's place in one step, so that no sample is taken
 * by both or by none (collect/bpf/record.h); then what the old one holds is stored, spill table and
 * all, its log is removed, and the database is told of the new log.  That is what a daemon does
 * that takes over from a dead one, so that there is one way for both; and as dictionaries go with
 * their set, memory is bounded. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "daemon/dcpi_tree.h"
#include "daemon/readers.h"
#include "daemon/service_impl.h"
#include "model/fresh.h"

/* What a sample is taken to cost besides this process, in a virtual machine: its interrupt, and
 * the walk to its callers. */
#define SAMPLE_S 16e-6
#define WALK_S	 4e-6

/* Cost is measured over this, and so long after a new set everything is left as it is. */
#define WATCH_NS (10ull * 1000000000)

/* A new set for memory's sake comes at most so often, or, a quarter over the limit, so often. */
#define MEMORY_TURN_NS	     (600ull * 1000000000)
#define MEMORY_HASTY_TURN_NS (60ull * 1000000000)

/* --- sets --- */

static uint64_t new_number(void)
{
	uint64_t n;

	if (getrandom(&n, sizeof(n), 0) != sizeof(n))
		n = clock_wall_ns();
	return (n & INT64_MAX) | 1;
}

/* The events with longer periods, but not beyond what the kernel takes. */
static struct event_spec *slow_down(const struct collector_opts *o, double slower)
{
	struct event_spec *all = xcalloc(o->n_events, sizeof(*all));

	for (uint32_t i = 0; i < o->n_events; i++) {
		struct perf_event_attr *a = &all[i].attr;

		all[i] = o->events[i];
		if (a->freq)
			a->sample_freq = a->sample_freq / slower >= 1
						 ? (uint64_t)((double)a->sample_freq / slower)
						 : 1;
		else if ((double)a->sample_period * slower < 1e15)
			a->sample_period = (uint64_t)((double)a->sample_period * slower);
	}
	return all;
}

/* Why there are no call paths is said once, not with each set. */
static void say_no_calls(struct service *v, struct log_set *s)
{
	const char *why = collector_why_no_calls(s->sampling.collector);

	if (!*why)
		return;
	s->opts.calls = CALLS_NONE;
	if (strcmp(v->no_calls, why) != 0)
		service_say(v, "call paths are not recorded: %s", why);
	snprintf(v->no_calls, sizeof(v->no_calls), "%s", why);
}

/* A CPU's copies of stacks: at 97 Hz two seconds of samples whose tables are missing. */
#define COPY_BYTES ((size_t)512 << 10)

int log_set_open(struct service *v, const struct service_opts *opts, double slower,
		 struct log_set **ret, struct err *err)
{
	struct log_set *s = xcalloc(1, sizeof(*s));
	const char *why;
	int rc;

	s->opts = opts->collect;
	s->number = new_number();
	s->events = slow_down(&opts->collect, slower);
	s->opts.events = s->events;
	s->opts.keep_folded = true;
	s->opts.tables.load = readers_load_table;
	s->opts.tables.n_copy_bytes = COPY_BYTES;
	s->opts.pin_base = v->pins.base.fd >= 0 ? &v->pins.base : NULL;
	s->opts.pin_number = s->number;
	s->opts.live_fd = v->pins.live_fd;
	rc = sampling_open(&s->sampling, &s->opts, opts->facts, "dwelld", err);
	if (rc >= 0) {
		profile_watch(&s->sampling.profile);
		why = collector_why_not_pinned(s->sampling.collector);
		s->pinned = s->opts.pin_base && !*why;
		if (*why)
			service_say(v, "sampling will not outlive this process: %s", why);
		say_no_calls(v, s);
		s->stored = xcalloc(collector_n_log_cpus(s->sampling.collector) + 1,
				    sizeof(*s->stored));
		rc = sampling_prepare(&s->sampling, err);
	}
	if (rc < 0) {
		if (s->pinned)
			pinned_remove(&v->pins.base, s->number, NULL);
		log_set_free(s);
		return rc;
	}
	*ret = s;
	return 0;
}

void log_set_go(struct log_set *old, struct log_set *s)
{
	if (old)
		collector_yield(old->sampling.collector);
	s->live = true;
	sampling_go(&s->sampling);
	if (old)
		collector_stop(old->sampling.collector);
}

void log_set_free(struct log_set *s)
{
	if (!s)
		return;
	sampling_release(&s->sampling);
	free(s->events);
	free(s->stored);
	free(s);
}

/* --- turns --- */

int service_finish_turn(struct service *v, struct err *err)
{
	int rc = service_finish_set(v, err);
	struct collector_stats stats;

	if (rc >= 0)
		rc = store_use_log(v->store, v->next->number, NULL, 0, err);
	if (rc < 0)
		return rc;
	stats = collector_stats(v->set->sampling.collector);
	v->n_lost_records += stats.n_lost_records;
	v->n_left_out += stats.n_left_out;
	log_set_free(v->set);
	v->set = v->next;
	v->next = NULL;
	v->slot = 0;
	return 0;
}

int service_turn(struct service *v, const struct service_opts *opts, double slower, struct err *err)
{
	int rc = service_flush(v, err);

	if (rc >= 0)
		rc = log_set_open(v, opts, slower, &v->next, err);
	if (rc < 0)
		return rc;
	collector_take_labels(v->next->sampling.collector, v->set->sampling.collector);
	service_keep_labels(v, v->next);
	log_set_go(v->set, v->next);
	v->cost.since_ns = 0;
	v->turned_ns = clock_mono_ns();
	return service_finish_turn(v, err);
}

int service_reload(struct service *v, const struct service_opts *opts, struct err *err)
{
	int rc = opts->dcpi ? dcpi_tree_open(v->opts.db, opts->dcpi, err) : 0;
	const char *db = v->opts.db, *host = v->opts.host, *bpffs = v->opts.bpffs;

	if (rc >= 0 && v->dcpi_due)
		service_update_tree(v, NULL); /* the old one */
	if (rc >= 0)
		rc = service_turn(v, opts, 1, err);
	if (rc < 0 && !v->next)
		return rc;
	v->opts = *opts;
	v->opts.db = db;
	v->opts.host = host;
	v->opts.bpffs = bpffs;
	v->governor = (struct governor){0};
	store_set_prune(v->store, opts->prune);
	retention_hurry(&v->retention);
	return 0;
}

/* --- slots --- */

void service_turn_slots(struct service *v, uint64_t now_ns)
{
	struct log_set *s = v->next ? v->next : v->set;
	uint32_t n = 0;

	for (uint32_t i = 0; s->opts.slot && i < s->opts.n_events; i++)
		n = s->opts.slot[i] >= n ? s->opts.slot[i] + 1 : n;
	if (n < 2 || now_ns < v->slot_due_ns)
		return;
	v->slot = (v->slot + 1) % n;
	v->slot_due_ns = now_ns + v->opts.mux_ns;
	collector_run_slot(s->sampling.collector, v->slot);
}

/* --- cost --- */

/* Share of all CPUs' time since the last call; the first one of a set begins the measurement. */
static double cost_since(struct service *v, uint64_t now_ns)
{
	const struct log_set *s = v->set;
	double sample_s = SAMPLE_S + (s->opts.calls != CALLS_NONE ? WALK_S : 0);
	double cpu_s = service_own_cpu_s(), elapsed_s;
	uint64_t n = 0;
	double cost;

	for (uint32_t i = 0; i < s->opts.n_events; i++)
		n += collector_account(s->sampling.collector, i)->reached;
	elapsed_s = (double)(now_ns - v->cost.since_ns) / 1e9;
	cost = v->cost.since_ns
		       ? (cpu_s - v->cost.cpu_s + (double)(n - v->cost.n_samples) * sample_s) /
				 elapsed_s / (double)s->sampling.profile.meta.n_cpus
		       : 0;
	v->cost.since_ns = now_ns;
	v->cost.cpu_s = cpu_s;
	v->cost.n_samples = n;
	return cost;
}

/* Whether the rate is to be another one, which is said. */
static bool turn_rate(struct service *v, double cost, uint64_t now_ns)
{
	double was = v->governor.slower > 1 ? v->governor.slower : 1;
	double is = governor_step(&v->governor, cost, v->opts.max_cpu, now_ns);

	if (is == was)
		return false;
	if (is > was)
		service_say(v,
			    "it costs %.2f %% of all CPUs, more than %.2f %%: sampling %.1f times "
			    "as rarely as asked for",
			    100 * cost, 100 * v->opts.max_cpu, is);
	else if (is > 1)
		service_say(v,
			    "it costs %.2f %% of all CPUs: sampling more often again, %.1f times "
			    "as rarely as asked for",
			    100 * cost, is);
	else
		service_say(v, "it costs %.2f %% of all CPUs: sampling as often as asked for again",
			    100 * cost);
	return true;
}

/* Tells whether this set's memory, BYTES now, has grown so much that the next one must begin.  It
 * must not when a new set would free little: the mappings of ten thousand processes would be there
 * twice. */
static bool is_too_large(const struct service *v, size_t bytes, uint64_t now_ns)
{
	const size_t most = v->opts.max_bytes;
	const bool hasty = bytes >= most / 4 * 5;

	return most && bytes >= most && bytes >= v->first_bytes / 2 * 3 &&
	       sampling_bytes(&v->set->sampling) >= bytes / 2 &&
	       now_ns - v->turned_ns >= (hasty ? MEMORY_HASTY_TURN_NS : MEMORY_TURN_NS);
}

void service_watch_cost(struct service *v, uint64_t now_ns)
{
	struct err err = {0};

	if (!v->cost.since_ns)
		v->first_bytes = service_resident_bytes();
	if (v->next || *v->problem || (v->cost.since_ns && now_ns - v->cost.since_ns < WATCH_NS))
		return;
	if (!turn_rate(v, cost_since(v, now_ns), now_ns) &&
	    !is_too_large(v, service_resident_bytes(), now_ns))
		return;
	if (service_turn(v, &v->opts, v->governor.slower, &err) < 0)
		service_say(v, "cannot begin a new log: %s", err.msg);
}
