/* SPDX-License-Identifier: BSD-2-Clause */
/* The metrics of a database being built: an event is a metric, in four scopes, each with five
 * statistics over all threads.
 *
 * Values are counted in whole numbers, of nanoseconds for what is measured in time and of the
 * event itself for all else, and become the file's numbers when they are written: seconds, or the
 * count. Ids are numbered as HPCToolkit does: scope by scope within a statistic, statistic by
 * statistic within a metric. */
#ifndef HPC_METRICS_H
#define HPC_METRICS_H

#include <math.h>

#include "formats/hpc/meta.h"
#include "hpc/propagate.h"
#include "query/query.h"

struct build_metric {
	const char *name;
	bool is_time; /* counted in nanoseconds, written in seconds */
};

struct build_metrics {
	VEC(struct build_metric) v;
	struct arena arena;
};

void build_metrics_release(struct build_metrics *ms);

/* More do not fit a reader's 15 bits of statMetricId. */
#define BUILD_METRICS_MAX 1600

/* The metric of column COL of a query, by its name and unit.  -E2BIG above BUILD_METRICS_MAX. */
int build_metrics_intern(struct build_metrics *ms, const struct profile *p,
			 const struct query_col *col, struct err *err);

/* An event of an input: which metric it is, and what a sample stands for. */
struct build_event {
	uint16_t metric; /* BUILD_NO_METRIC: not wanted */
	bool is_time;	 /* values are nanoseconds already */
	uint64_t period;
	double duty;
};

#define BUILD_NO_METRIC UINT16_MAX

struct build_event build_event_of(const struct query_col *col, int metric);

/* What COUNT samples of E (or nanoseconds of an event that counts time) stand for: the period and,
 * when the event was not always counting, the rest. */
static inline uint64_t build_event_count(const struct build_event *e, uint64_t count)
{
	uint64_t n = e->is_time ? count : count * e->period;

	return e->duty >= 1 ? n : (uint64_t)llround((double)n / e->duty);
}

/* The number that N stands for in the file, and the one that the sum of squares X2 does. */
static inline double build_metric_value(const struct build_metric *m, uint64_t n)
{
	return m->is_time ? (double)n / 1e9 : (double)n;
}

static inline double build_metric_square(const struct build_metric *m, unsigned __int128 x2)
{
	return m->is_time ? (double)x2 / 1e18 : (double)x2;
}

enum metric_statistic { STAT_SUM, STAT_COUNT, STAT_SQUARES, STAT_MIN, STAT_MAX, N_STATISTICS };

static inline uint16_t prop_metric_id(unsigned metric, enum metric_scope s)
{
	return (uint16_t)(metric * N_METRIC_SCOPES + s);
}

static inline uint16_t stat_metric_id(unsigned metric, enum metric_statistic k, enum metric_scope s)
{
	return (uint16_t)((metric * N_STATISTICS + k) * N_METRIC_SCOPES + s);
}

/* Describes them all for meta.db; what RET points to lives as long as MS. */
void build_metrics_describe(struct build_metrics *ms, struct hpc_metrics *ret);

#endif
