/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of every recording, whoever makes it: `dwell record`, `dwelld` and its configuration
 * file know them by the same names, in the same ranges, and refuse them in the same sentences.
 *
 *     struct record_options o = {0};
 *     struct opt row[N_RECORD_OPTIONS];
 *     record_options_rows(&o, row);
 *     const struct opt table[] = {row[OPT_RECORD_EVENT], row[OPT_RECORD_FREQ], ..., {0}};
 *     opts_parse(table, ...);
 *     record_plan_init(&plan, &o, 0, &why, err); */
#ifndef DAEMON_RECORD_OPTIONS_H
#define DAEMON_RECORD_OPTIONS_H

#include "base/opts.h"
#include "collect/collector.h"
#include "events/rate.h"
#include "formats/facts/fact_defs.h"

struct record_options {
	opt_list events;
	opt_list slots; /* events that take turns; of a daemon alone */
	uint64_t freq_hz, period, log_slots;
	const char *db, *group, *label, *by, *engine, *call_graph, *facts;
	const char *version_from, *tenant_from; /* of containers */
	bool calls;				/* -g */
};

enum record_option {
	OPT_RECORD_EVENT,
	OPT_RECORD_FACTS,
	OPT_RECORD_FREQ,
	OPT_RECORD_COUNT,
	OPT_RECORD_BY,
	OPT_RECORD_CALLS,
	OPT_RECORD_CALL_GRAPH,
	OPT_RECORD_LABEL,
	OPT_RECORD_ENGINE,
	OPT_RECORD_LOG_SLOTS,
	OPT_RECORD_DB,
	OPT_RECORD_GROUP,
	OPT_RECORD_VERSION_FROM,
	OPT_RECORD_TENANT_FROM,
	N_RECORD_OPTIONS,
};

/* Fills RET with the rows of a table that parses into O. */
void record_options_rows(struct record_options *o, struct opt ret[N_RECORD_OPTIONS]);
void record_options_release(struct record_options *o);

/* What the options mean on this machine. */
struct record_plan {
	struct event_specs specs; /* rates set */
	VEC(uint32_t) slot;	  /* of each event: the number of its list in `slots`, else 0 */
	struct fact_defs facts;
	enum engine engine;
	enum owner_split split;
	bool go_labels; /* of goroutines are kept apart; with call paths only */
	enum call_graph
		calls; /* of --call-graph; CALLS_NONE for none, CALLS_AUTO where not given */
};

/* Fills RET, which record_plan_release releases, also after a failure.  DEFAULT_HZ is the rate of
 * events without one; 0: events/rate.h chooses.  RET_WHY: the reason for the default event, NULL
 * when events were named. */
int record_plan_init(struct record_plan *ret, const struct record_options *o, uint64_t default_hz,
		     const char **ret_why, struct err *err);
void record_plan_release(struct record_plan *p);

/* Puts into CO what P and O say; calls and the number of slots are the caller's. */
void record_plan_apply(struct record_plan *p, const struct record_options *o,
		       struct collector_opts *co);

#endif
