/* SPDX-License-Identifier: BSD-2-Clause */
/* Events of perf.data as events of a profile: their names, units, periods and sums. */
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "events/names.h"
#include "port/perf_in_impl.h"

struct name_search {
	const struct perfdata_attr *attr;
	char *found; /* NULL: not yet */
};

static void match_name(const struct event_name *n, void *arg)
{
	/* PERF_TYPE_HARDWARE, _SOFTWARE, _HW_CACHE. */
	static const struct {
		uint32_t type;
		enum event_kind kind;
	} kinds[] = {{0, EVENT_HARDWARE}, {1, EVENT_SOFTWARE}, {3, EVENT_CACHE}};
	struct name_search *s = arg;

	for (size_t i = 0; i < n_elems(kinds) && !s->found; i++)
		if (s->attr->type == kinds[i].type && n->kind == kinds[i].kind &&
		    n->config == s->attr->config)
			s->found = xstrdup(n->name);
}

/* What an event is called whose name the file does not tell. */
static char *make_name(const struct perfdata *pd, const struct perfdata_attr *a)
{
	/* PERF_TYPE_*: hardware, software, tracepoint, cache, raw, breakpoint. */
	static const char *const types[] = {"hardware", "software", "tracepoint",
					    "cache",	"raw",	    "breakpoint"};
	struct name_search s = {.attr = a};

	event_names_each(match_name, &s);
	if (s.found)
		return s.found;
	vec_each (t, &pd->tracepoints)
		if (a->type == 2 && t->id == a->config)
			return xstrdup(t->name);
	if (a->type == 4)
		return xasprintf("r%" PRIx64, a->config);
	if (a->type < n_elems(types))
		return xasprintf("%s:%#" PRIx64, types[a->type], a->config);
	return xasprintf("pmu-%" PRIu32 ":%#" PRIx64, a->type, a->config);
}

bool perf_event_is_clock(const struct perfdata_attr *a)
{
	return a->type == 1 && a->config <= 1; /* PERF_TYPE_SOFTWARE: CPU_CLOCK, TASK_CLOCK */
}

char *perf_event_name(const struct perfdata *pd, uint32_t i)
{
	const struct perfdata_event *pe = &pd->events.v[i];

	return pe->name && *pe->name ? xstrdup(pe->name) : make_name(pd, &pe->attr);
}

/* Does A count what its group's leader reads of it? */
static bool reads_group(const struct perfdata_attr *a)
{
	return a->sample_type & PERFDATA_S_READ && a->read_format & PERFDATA_R_GROUP &&
	       a->read_format & PERFDATA_R_ID;
}

struct perf_in_event *perf_in_event_at(struct perf_in *in, uint32_t i)
{
	const struct perfdata_event *pe = &in->pd.events.v[i];
	struct perf_in_event *e;
	_mem_ char *name = NULL;
	struct event key = {0};

	e = vec_at(&in->events, i);
	if (e->known)
		return e;
	name = perf_event_name(&in->pd, i);
	key.name = profile_intern_str(in->profile, name);
	e->reads = reads_group(&pe->attr);
	e->takes_ns = e->reads && perf_event_is_clock(&pe->attr);
	if (perfdata_attr_has(&pe->attr, PERFDATA_A_FREQ) && !e->reads)
		key.freq_hz = pe->attr.period;
	e->varies = key.freq_hz != 0;
	key.period = key.freq_hz || !pe->attr.period || e->reads ? 1 : pe->attr.period;
	/* Nanoseconds one at a time are intervals: see event_measures. */
	key.unit = profile_intern_str(in->profile,
				      perf_event_is_clock(&pe->attr) &&
						      (key.freq_hz || key.period > 1 || e->takes_ns)
					      ? "ns"
					      : "");
	e->id = profile_intern_event(in->profile, &key);
	e->known = true;
	return e;
}

/* What an event counted, had the samples that were lost weighed what the others do on average.  Of
 * damaged files any number can come out. */
static uint64_t total_with_lost(const struct perf_in_event *e)
{
	const double total =
		(double)e->sum / (double)e->n_samples * ((double)e->n_samples + (double)e->n_lost);

	return total < 0x1p64 ? (uint64_t)total : UINT64_MAX;
}

/* Gives the events their sums, and takes weights away where all are the period. */
void perf_in_settle_events(struct perf_in *in)
{
	for (uint32_t i = 0; i < in->events.n; i++) {
		struct perf_in_event *e = &in->events.v[i];
		struct event key;

		if (!e->known)
			continue;
		key = in->profile->events.v[e->id];
		key.enabled_ns = key.running_ns = 0;
		key.flags = e->varies ? EVENT_WEIGHTED : 0;
		key.weight_squares = e->varies ? e->squares : 0;
		key.n_reached = e->n_samples + e->n_lost;
		key.total = key.freq_hz && !e->n_lost ? e->sum : 0;
		if (key.freq_hz && e->n_lost && e->n_samples)
			key.total = total_with_lost(e);
		profile_intern_event(in->profile, &key);
	}
	vec_each (v, &in->profile->values)
		if (!event_has_weights(in->profile, &in->profile->events.v[v->event]) &&
		    value_is_samples(in->profile, v))
			v->sum = 0;
}

void perf_in_lose(struct perf_in *in, uint32_t event, const char *name, uint64_t n)
{
	struct perf_in_event *e;

	if (!n || event >= in->pd.events.n)
		return;
	e = perf_in_event_at(in, event);
	e->n_lost += n;
	in->ret->n_lost += n;
	profile_add_loss(in->profile, name, e->id, n);
}
