/* SPDX-License-Identifier: BSD-2-Clause */
/* The metrics of a database being built: an event is a metric, in four scopes, each with five
 * statistics over all threads.  Metrics of databases that are put in may have other scopes, or not
 * all of the four.
 *
 * Values of events are counted in whole numbers, of nanoseconds for what is measured in time and of
 * the event itself for all else, and become the file's numbers when they are written: seconds, or
 * the count. Ids are numbered as HPCToolkit does: scope by scope within a statistic, statistic by
 * statistic within a metric. */
#ifndef HPC_METRICS_H
#define HPC_METRICS_H

#include <math.h>

#include "formats/hpc/meta.h"
#include "hpc/propagate.h"
#include "query/samples/query.h"

/* Scopes of all metrics together: those of enum metric_scope and some more. */
#define BUILD_MAX_SCOPES 16

struct build_metric {
	const char *name;
	double per;	   /* counts in 1 of the file: 1e9 nanoseconds are a second; else 1 */
	uint32_t scopes;   /* a bit for each that it has */
	bool no_lex_aware; /* some input does not have it in that scope */
	uint64_t order;	   /* metrics come by this: where it was met first */
	uint32_t first_id; /* when finished: of its statistics */
};

/* What a statMetricId is of. */
struct build_metric_id {
	uint16_t metric, scope;
};

struct build_metrics {
	VEC(struct build_metric) v;
	const char *scopes[BUILD_MAX_SCOPES]; /* their names */
	unsigned n_scopes;
	VEC(struct build_metric_id) of_id; /* when finished */
	struct arena arena;
};

void build_metrics_init(struct build_metrics *ms);
void build_metrics_release(struct build_metrics *ms);

/* The scope called NAME, added when it is not there.  -E2BIG above BUILD_MAX_SCOPES. */
int build_metrics_scope(struct build_metrics *ms, const char *name, struct err *err);

/* The metric called NAME, which now has SCOPES too.  It comes at ORDER or before. */
uint32_t build_metrics_add(struct build_metrics *ms, const char *name, uint32_t scopes,
			   uint64_t order);

/* Puts the metrics in order.  Returns where each went, in fresh memory.  A metric that one input
 * has in the scope "lex_aware" and another, of a time when there was none, only in "function",
 * loses the former: what is exclusive in it would lack the other's part.  -E2BIG when their ids do
 * not fit a reader's 15 bits. */
int build_metrics_finish(struct build_metrics *ms, uint32_t **ret, struct err *err);

/* Numbers the ids of metrics that are in order. */
void build_metrics_number(struct build_metrics *ms);

static inline bool build_metric_has(const struct build_metric *m, unsigned scope)
{
	return m->scopes >> scope & 1;
}

/* The metric of column COL of a query, by its name and unit; ORDER as above. */
uint32_t build_metrics_intern(struct build_metrics *ms, const struct profile *p,
			      const struct query_col *col, uint64_t order);

/* An event of an input: which metric it is, and what a sample stands for. */
struct build_event {
	uint16_t metric; /* BUILD_NO_METRIC: not wanted */
	uint64_t period;
	double duty;
};

#define BUILD_NO_METRIC UINT16_MAX

struct build_event build_event_of(const struct query_col *col, uint32_t metric);

/* What COUNT samples of E stand for, or samples that weigh COUNT: the period of each and, when the
 * event was not always counting, the rest. */
static inline uint64_t build_event_count(const struct build_event *e, bool is_weight,
					 uint64_t count)
{
	uint64_t n = is_weight ? count : count * e->period;

	return e->duty >= 1 ? n : (uint64_t)llround((double)n / e->duty);
}

/* The number that N stands for in the file. */
static inline double build_metric_value(const struct build_metric *m, uint64_t n)
{
	return (double)n / m->per;
}

enum metric_statistic { STAT_SUM, STAT_COUNT, STAT_SQUARES, STAT_MIN, STAT_MAX, N_STATISTICS };

/* Ids are numbered as HPCToolkit numbers them, statistic by statistic and scope by scope, without
 * gaps where a metric lacks a scope: hpcviewer gives metrics it makes of others the next numbers,
 * and fails when one is taken ("Non-unique index metric", BaseExperimentWithMetrics). */
static inline uint16_t stat_metric_id(const struct build_metrics *ms, unsigned metric,
				      enum metric_statistic k, unsigned scope)
{
	const struct build_metric *m = &ms->v.v[metric];
	unsigned n = (unsigned)__builtin_popcount(m->scopes);

	return (uint16_t)(m->first_id + k * n +
			  (unsigned)__builtin_popcount(m->scopes & ((1u << scope) - 1)));
}

/* A propagated value has the id of its sum.  The two are apart in the format, but a reader of
 * Hatchet looks for sums by this id (hpctoolkit_reader_latest.py, _read_summary_profile). */
static inline uint16_t prop_metric_id(const struct build_metrics *ms, unsigned metric,
				      unsigned scope)
{
	return stat_metric_id(ms, metric, STAT_SUM, scope);
}

static inline unsigned metric_of_prop(const struct build_metrics *ms, uint16_t prop)
{
	return ms->of_id.v[prop].metric;
}

static inline unsigned scope_of_prop(const struct build_metrics *ms, uint16_t prop)
{
	return ms->of_id.v[prop].scope;
}

/* Describes them all for meta.db; what RET points to lives as long as MS. */
void build_metrics_describe(struct build_metrics *ms, struct hpc_metrics *ret);

#endif
