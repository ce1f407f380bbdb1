/* SPDX-License-Identifier: BSD-2-Clause */
/* See statistics.h.
 *
 * What a statistic is over: the threads that have the metric in the context in some scope; where
 * such a thread has nothing in a scope, its value there is 0 (HPCToolkit's accumulators.cpp,
 * PerThreadTemporary::finalize: formulas are evaluated for all scopes of a metric that is there).
 * So the count is the same in all scopes, and the minimum is 0, which is not stored, unless all of
 * those threads have a value.
 *
 * Sums carry along what each addition rounds away (Knuth's two-sum; The Art of Computer
 * Programming, vol. 2, 4.2.2, theorem B), so that they are as good as exact. */
#include "hpc/statistics.h"
#include "hpc/write/profile.h"

#include <stdlib.h>

void statistics_release(struct statistics *s)
{
	for (uint32_t i = 0; i < s->n_ranges; i++)
		hpc_profile_block_release(&s->ranges[i]);
	free(s->ranges);
	*s = (struct statistics){0};
}

void statistics_ranges(void *statistics, uint32_t n)
{
	struct statistics *s = statistics;

	s->n_ranges = n;
	s->ranges = xcalloc((size_t)n + 1, sizeof(*s->ranges));
}

struct sum {
	double high, low; /* together */
};

static inline void sum_add(struct sum *s, double v)
{
	double high = s->high + v, part = high - s->high;

	s->low += (s->high - (high - part)) + (v - part);
	s->high = high;
}

/* The sums of a metric in one scope. */
struct totals {
	struct sum sum, squares;
	double min, max;
	uint64_t n; /* threads with a value */
};

static struct totals add_up(const struct hpc_metric_values *values)
{
	struct totals t = {.n = values->n};

	for (uint64_t i = 0; i < values->n; i++) {
		double v = hpc_lef64(values->values + 12 * i + 4);

		sum_add(&t.sum, v);
		sum_add(&t.squares, v * v);
		t.min = i && t.min < v ? t.min : v;
		t.max = i && t.max > v ? t.max : v;
	}
	return t;
}

static uint32_t profile_at(const struct hpc_metric_values *v, uint64_t i)
{
	return hpc_le32(v->values + 12 * i);
}

/* How many threads B has that A has not. */
static uint64_t n_more(const struct hpc_metric_values *a, const struct hpc_metric_values *b)
{
	uint64_t n = 0, i = 0;

	for (uint64_t k = 0; k < b->n; k++) {
		uint32_t profile = profile_at(b, k);

		while (i < a->n && profile_at(a, i) < profile)
			i++;
		n += i == a->n || profile_at(a, i) != profile;
	}
	return n;
}

/* How many threads have any of the N scopes.  All have the one of most threads, nearly always. */
static uint64_t count_threads(const struct hpc_metric_values *scopes, unsigned n)
{
	const struct hpc_metric_values *most = &scopes[0];
	uint64_t at[BUILD_MAX_SCOPES] = {0}, count = 0;
	bool all = true;

	for (unsigned i = 1; i < n; i++)
		if (scopes[i].n > most->n)
			most = &scopes[i];
	for (unsigned i = 0; i < n && all; i++)
		all = &scopes[i] == most || n_more(most, &scopes[i]) == 0;
	if (all)
		return most->n;
	for (;; count++) {
		uint32_t first = UINT32_MAX;

		for (unsigned i = 0; i < n; i++)
			if (at[i] < scopes[i].n && profile_at(&scopes[i], at[i]) < first)
				first = profile_at(&scopes[i], at[i]);
		if (first == UINT32_MAX)
			return count;
		for (unsigned i = 0; i < n; i++)
			at[i] += at[i] < scopes[i].n && profile_at(&scopes[i], at[i]) == first;
	}
}

static double statistic(const struct totals *t, enum metric_statistic k, uint64_t n_threads)
{
	bool all = t->n == n_threads;

	switch (k) {
	case STAT_SUM:
		return t->sum.high + t->sum.low;
	case STAT_COUNT:
		return (double)n_threads;
	case STAT_SQUARES:
		return t->squares.high + t->squares.low;
	case STAT_MIN:
		return !all && t->min > 0 ? 0 : t->min;
	default:
		return !all && t->max < 0 ? 0 : t->max;
	}
}

/* Adds the statistics of METRIC, whose values are in the scopes VALUES[0..N), by scope. */
static void add_metric(const struct statistics *s, unsigned metric, uint32_t ctxId,
		       const struct hpc_metric_values *values, unsigned n,
		       struct hpc_profile_block *block)
{
	uint64_t n_threads = count_threads(values, n);
	struct totals totals[BUILD_MAX_SCOPES] = {0};

	for (unsigned i = 0; i < n; i++) {
		const struct hpc_metric_values *v = &values[i];
		unsigned scope = scope_of_prop(s->metrics, v->metricId);

		/* What calls nothing has the same in all scopes. */
		if (i && v->n == v[-1].n && memcmp(v->values, v[-1].values, 12 * v->n) == 0)
			totals[scope] = totals[scope_of_prop(s->metrics, v[-1].metricId)];
		else
			totals[scope] = add_up(v);
	}
	for (unsigned k = 0; k < N_STATISTICS; k++)
		for (unsigned i = 0; i < s->metrics->n_scopes; i++)
			if (build_metric_has(&s->metrics->v.v[metric], i))
				hpc_profile_block_add(block, ctxId,
						      stat_metric_id(s->metrics, metric, k, i),
						      statistic(&totals[i], k, n_threads));
}

void statistics_values(void *statistics, uint32_t range, const struct hpc_cct *c)
{
	struct statistics *s = statistics;
	struct hpc_metric_values values[BUILD_MAX_SCOPES];
	unsigned n = 0;

	for (uint32_t i = 0; i < c->nMetrics; i++) {
		unsigned metric;

		/* Indices of values that were just written are sound. */
		if (hpc_cct_metric(c, i, &values[n], NULL) < 0)
			continue;
		metric = metric_of_prop(s->metrics, values[n].metricId);
		n++;
		if (i + 1u < c->nMetrics &&
		    metric_of_prop(s->metrics, hpc_le16(c->metricIndices + 10 * (size_t)(i + 1))) ==
			    metric)
			continue;
		add_metric(s, metric, c->ctxId, values, n, &s->ranges[range]);
		n = 0;
	}
}

void statistics_join(struct statistics *s, struct hpc_profile_block *ret)
{
	for (uint32_t i = 0; i < s->n_ranges; i++) {
		hpc_profile_block_append(ret, &s->ranges[i]);
		hpc_profile_block_release(&s->ranges[i]);
	}
}
