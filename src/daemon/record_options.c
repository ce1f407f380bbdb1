/* SPDX-License-Identifier: BSD-2-Clause */
/* See record_options.h. */
#include "daemon/record_options.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "collect/bpf/record.h"
#include "daemon/containers.h"
#include "daemon/facts_file.h"
#include "events/parse.h"
#include "formats/container.h"

void record_options_rows(struct record_options *o, struct opt ret[N_RECORD_OPTIONS])
{
	const struct opt rows[N_RECORD_OPTIONS] = {
		[OPT_RECORD_EVENT] = {"e event", OPT_LIST, &o->events, "EVENT[:PERIOD][+EVENT...]",
				      "what to sample (dwell events lists them)"},
		[OPT_RECORD_FACTS] =
			{"facts", OPT_STR, &o->facts, "FILE",
			 "with pm: the bits and counters of FILE besides those that have "
			 "names"},
		[OPT_RECORD_FREQ] = {"F freq", OPT_U64, &o->freq_hz, "HZ",
				     "samples per second and CPU"},
		[OPT_RECORD_COUNT] = {"c count", OPT_U64, &o->period, "PERIOD",
				      "one sample every PERIOD events"},
		[OPT_RECORD_BY] = {"by", OPT_STR, &o->by, "group|pid|tid|label",
				   "keep processes, threads or labels of Go's goroutines apart"},
		[OPT_RECORD_CALLS] = {"g calls", OPT_FLAG, &o->calls, NULL, "record call paths"},
		[OPT_RECORD_CALL_GRAPH] = {"call-graph", OPT_STR, &o->call_graph,
					   "auto|fp|dwarf|none",
					   "record call paths, found so, or none"},
		[OPT_RECORD_LABEL] = {"label", OPT_STR, &o->label, "LABEL",
				      "mark all samples with LABEL"},
		[OPT_RECORD_ENGINE] = {"engine", OPT_STR, &o->engine, "auto|bpf|ring",
				       "how samples are brought in"},
		[OPT_RECORD_LOG_SLOTS] = {"log-slots", OPT_U64, &o->log_slots, "N",
					  "samples a CPU's log holds, 64 to 1048576"},
		[OPT_RECORD_DB] = {"db", OPT_STR, &o->db, "DB",
				   "database (default $DWELLDB, $DCPIDB, ~/.local/share/dwell)"},
		[OPT_RECORD_GROUP] = {"group", OPT_STR, &o->group, "GROUP",
				      "let members of GROUP read a new database (default: nobody "
				      "else)"},
		[OPT_RECORD_VERSION_FROM] = {"version-from", OPT_STR, &o->version_from,
					     "env:NAME|annotation:KEY[,...]",
					     "where a container's version stands"},
		[OPT_RECORD_TENANT_FROM] = {"tenant-from", OPT_STR, &o->tenant_from,
					    "env:NAME|annotation:KEY[,...]",
					    "where a container's tenant stands"},
	};

	memcpy(ret, rows, sizeof(rows));
}

void record_options_release(struct record_options *o)
{
	vec_release(&o->events);
	vec_release(&o->slots);
}

/* Adds the events of LIST as of SLOT. */
static int plan_add_events(struct record_plan *p, const char *list, uint32_t slot, struct err *err)
{
	int rc = event_list_parse(&event_env_host, list, &p->specs, err);

	while (rc >= 0 && p->slot.n < p->specs.n) {
		if (p->specs.v[p->slot.n].group)
			rc = err_set(err, -EINVAL,
				     "%s: samples are taken of each event alone; `dwell stat` "
				     "counts groups",
				     p->specs.v[p->slot.n].name);
		vec_push(&p->slot, slot);
	}
	return rc;
}

static int plan_events(struct record_plan *p, const struct record_options *o, uint64_t default_hz,
		       const char **ret_why, struct err *err)
{
	struct event_rate rate = {.freq_hz = o->freq_hz, .period = o->period};
	int rc = 0;

	if (o->freq_hz && o->period)
		return err_set(err, -EINVAL, "-F and -c exclude each other");
	if (o->events.n && o->slots.n)
		return err_set(err, -EINVAL, "-e and -slot exclude each other");
	if (!o->freq_hz && !o->period)
		rate.freq_hz = default_hz;
	for (size_t i = 0; i < o->events.n && rc >= 0; i++)
		rc = plan_add_events(p, o->events.v[i], 0, err);
	for (size_t i = 0; i < o->slots.n && rc >= 0; i++)
		rc = plan_add_events(p, o->slots.v[i], (uint32_t)i, err);
	if (rc >= 0 && !p->specs.n) {
		rc = event_default(&event_env_host, &p->specs, ret_why, err);
		vec_push(&p->slot, 0);
	}
	if (rc >= 0 && p->specs.n > LOG_MAX_EVENTS)
		rc = err_set(err, -E2BIG, "%zu events: at most %d at once", p->specs.n,
			     LOG_MAX_EVENTS);
	for (size_t i = 0; i < p->specs.n && rc >= 0; i++)
		rc = event_rate_set(&event_env_host, &p->specs.v[i], &rate, err);
	return rc;
}

static int check_wish(const char *option, const char *text, struct err *err)
{
	const int rc = text ? container_wish_check(text, err) : 0;

	return rc < 0 ? err_prefix(err, rc, "%s", option) : 0;
}

int record_plan_init(struct record_plan *ret, const struct record_options *o, uint64_t default_hz,
		     const char **ret_why, struct err *err)
{
	static const char *const engines[] = {"auto", "bpf", "ring", NULL};
	static const char *const splits[] = {"group", "pid", "tid", "label", NULL};
	static const char *const modes[] = {"auto", "fp", "dwarf", "none", NULL};
	int calls = opts_choose(o->call_graph, modes, "--call-graph", err);
	int engine = opts_choose(o->engine, engines, "--engine", err);
	int split = opts_choose(o->by, splits, "--by", err), rc;

	*ret = (struct record_plan){0};
	*ret_why = NULL;
	if (engine < 0 || split < 0 || calls < 0)
		return -EINVAL;
	if (o->log_slots &&
	    (o->log_slots < 64 || o->log_slots > 1 << 20 || o->log_slots & (o->log_slots - 1)))
		return err_set(err, -EINVAL,
			       "--log-slots: %" PRIu64 " is not a power of two from 64 to 1048576",
			       o->log_slots);
	rc = check_wish("--version-from", o->version_from, err);
	if (rc >= 0)
		rc = check_wish("--tenant-from", o->tenant_from, err);
	if (rc < 0)
		return rc;
	ret->engine = (enum engine)engine;
	ret->go_labels = strcmp(splits[split], "label") == 0;
	ret->split = ret->go_labels ? OWNER_GROUP : (enum owner_split)split;
	ret->calls = strcmp(modes[calls], "none") == 0 ? CALLS_NONE
						       : CALLS_AUTO + (enum call_graph)calls;
	rc = facts_file_load(o->facts, &ret->facts, err);
	return rc < 0 ? rc : plan_events(ret, o, default_hz, ret_why, err);
}

void record_plan_release(struct record_plan *p)
{
	event_specs_release(&p->specs);
	vec_release(&p->slot);
	fact_defs_release(&p->facts);
	*p = (struct record_plan){0};
}

void record_plan_apply(struct record_plan *p, const struct record_options *o,
		       struct collector_opts *co)
{
	co->events = p->specs.v;
	co->n_events = (uint32_t)p->specs.n;
	co->engine = p->engine;
	co->split = p->split;
	co->tables.go_labels = p->go_labels;
	co->label = o->label ? o->label : "";
	co->n_slots = (uint32_t)o->log_slots;
	containers_wish(o->version_from, o->tenant_from);
}
