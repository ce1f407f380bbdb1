/* SPDX-License-Identifier: BSD-2-Clause */
/* What contexts of a database have of each column of a query: from the summary profile where it
 * tells, else from the values of the threads. */
#include "query/hpc/query.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- values of threads --- */

static int add_from_profiles(struct hpc_query *q, const uint32_t *ids, size_t n, uint16_t metric,
			     double *by_thread, struct err *err)
{
	uint32_t n_profiles = q->db->profiles.nProfiles;
	int rc = 0;

	for (uint32_t k = 0; rc >= 0 && k < (q->selected.n ? q->selected.n : n_profiles); k++) {
		struct hpc_profile opened, *p = q->selected.n ? &q->selected.v[k] : &opened;

		if (!q->selected.n) {
			if (k == HPC_SUMMARY_PROFILE)
				continue;
			rc = hpc_profile_open(&opened, &q->db->profiles, k, err);
		}
		for (size_t i = 0; rc >= 0 && i < n; i++) {
			double v;

			rc = hpc_profile_value(p, ids[i], metric, &v, err);
			if (rc >= 0)
				by_thread[p->index] += v;
		}
	}
	return rc;
}

static bool is_wanted(const struct hpc_query *q, uint32_t profile)
{
	return profile < q->db->profiles.nProfiles && (!q->wanted || q->wanted[profile]);
}

static int add_from_cct(struct hpc_query *q, const uint32_t *ids, size_t n, uint16_t metric,
			double *by_thread, struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		struct hpc_metric_values m;
		struct hpc_cct cct;
		int rc = hpc_cct_open(&cct, &q->db->ccts, ids[i], err);

		if (rc >= 0)
			rc = hpc_cct_find_metric(&cct, metric, &m, err);
		if (rc < 0)
			return rc;
		for (uint64_t k = 0; k < m.n; k++) {
			struct hpc_profile_value v = hpc_metric_value(&m, k);

			if (is_wanted(q, v.profIndex))
				by_thread[v.profIndex] += v.value;
		}
	}
	return 0;
}

/* The values of METRIC in the contexts together, by profile: into buffer W. */
static int find_by_thread(struct hpc_query *q, unsigned w, const uint32_t *ids, size_t n,
			  const struct hpc_ids *metric, struct err *err)
{
	size_t n_profiles = (size_t)q->db->profiles.nProfiles + 1;

	if (!q->by_thread[w])
		q->by_thread[w] = xcalloc(n_profiles, sizeof(double));
	else
		memset(q->by_thread[w], 0, n_profiles * sizeof(double));
	if (!metric->has_prop)
		return 0;
	if (!q->db->has_cct || q->selected.n)
		return add_from_profiles(q, ids, n, metric->prop, q->by_thread[w], err);
	return add_from_cct(q, ids, n, metric->prop, q->by_thread[w], err);
}

int hpc_query_by_thread(struct hpc_query *q, const uint32_t *ids, size_t n, enum hpc_amount amount,
			unsigned col, const double **ret, struct err *err)
{
	int rc = find_by_thread(q, 0, ids, n, &q->cols.v[col].ids[amount], err);

	*ret = q->by_thread[0];
	return rc;
}

/* --- statistics --- */

void hpc_moments_add(struct hpc_moments *m, double value)
{
	m->min = m->n != 0 ? fmin(m->min, value) : value;
	m->max = m->n != 0 ? fmax(m->max, value) : value;
	m->n++;
	m->x += value;
	m->x2 += value * value;
}

double hpc_moments_stat(const struct hpc_moments *m, enum hpc_stat stat)
{
	double mean, variance;

	if (stat == HPC_STAT_SUM)
		return m->x;
	if (m->n == 0)
		return 0;
	mean = m->x / m->n;
	variance = fmax(m->x2 / m->n - mean * mean, 0);
	switch (stat) {
	case HPC_STAT_STDDEV:
		return sqrt(variance);
	case HPC_STAT_COUNT:
		return m->n;
	case HPC_STAT_SQUARES:
		return m->x2;
	case HPC_STAT_CFVAR:
		return mean == 0 ? 0 : sqrt(variance) / mean;
	case HPC_STAT_MIN:
		return m->min;
	case HPC_STAT_MAX:
		return m->max;
	default:
		return mean;
	}
}

static bool is_summarized(const struct hpc_ids *ids, enum hpc_stat stat)
{
	const bool *has = ids->has_stat;

	switch (stat) {
	case HPC_STAT_SUM:
		return has[HPC_SUM_X];
	case HPC_STAT_COUNT:
		return has[HPC_SUM_N];
	case HPC_STAT_SQUARES:
		return has[HPC_SUM_X2] && has[HPC_SUM_N];
	case HPC_STAT_MEAN:
		return has[HPC_SUM_X] && has[HPC_SUM_N];
	case HPC_STAT_MIN:
		return has[HPC_SUM_MIN] && has[HPC_SUM_N];
	case HPC_STAT_MAX:
		return has[HPC_SUM_MAX] && has[HPC_SUM_N];
	default:
		return has[HPC_SUM_X] && has[HPC_SUM_X2] && has[HPC_SUM_N];
	}
}

/* Whether X2 of M can be the sum of the squares.  `hpcprof -M stats` stores the sum of the values
 * there: its power operator begins at 0, so x^2 is x^(2^0) (HPCToolkit 2024.10, expression.cpp,
 * Expression::evaluate).  The first condition notices that.  The other two would let values below 1
 * pass.  Where the sum of the squares is the sum (values of 0 and 1) nothing is lost: then the
 * threads' values are looked at. */
static bool squares_hold(const struct hpc_moments *m)
{
	const double slack = 1e-9;

	return fabs(m->x2 - m->x) > slack * fabs(m->x) &&
	       m->x2 * m->n >= m->x * m->x * (1 - slack) && m->x2 <= m->x * m->x * (1 + slack);
}

static struct hpc_moments summarized(const struct hpc_ids *ids, const struct hpc_ctx_values *c)
{
	double v[N_HPC_SUMS];

	for (unsigned s = 0; s < N_HPC_SUMS; s++)
		v[s] = ids->has_stat[s] ? hpc_ctx_values_find(c, ids->stat[s]) : 0;
	return (struct hpc_moments){v[HPC_SUM_N], v[HPC_SUM_X], v[HPC_SUM_X2], v[HPC_SUM_MIN],
				    v[HPC_SUM_MAX]};
}

/* Whether the summary profile tells STAT of a context that has the values C there. */
static bool is_told(const struct hpc_ids *ids, enum hpc_stat stat, const struct hpc_ctx_values *c)
{
	bool uses_squares =
		stat == HPC_STAT_STDDEV || stat == HPC_STAT_CFVAR || stat == HPC_STAT_SQUARES;
	struct hpc_moments m;

	if (!is_summarized(ids, stat) || !uses_squares || c->n == 0)
		return is_summarized(ids, stat);
	m = summarized(ids, c);
	return m.n == 0 || squares_hold(&m);
}

/* The sum over the chosen threads. */
static int add_up(struct hpc_query *q, const uint32_t *ids, size_t n, const struct hpc_ids *metric,
		  double *ret, struct err *err)
{
	*ret = 0;
	for (size_t i = 0; metric->has_prop && i < n; i++) {
		struct hpc_metric_values m;
		struct hpc_cct cct;
		int rc = hpc_cct_open(&cct, &q->db->ccts, ids[i], err);

		if (rc >= 0)
			rc = hpc_cct_find_metric(&cct, metric->prop, &m, err);
		if (rc < 0)
			return rc;
		for (uint64_t k = 0; k < m.n; k++) {
			struct hpc_profile_value v = hpc_metric_value(&m, k);

			if (is_wanted(q, v.profIndex))
				*ret += v.value;
		}
	}
	return 0;
}

/* The moments of the threads that have anything of the metric in the contexts. */
static int values_gather(struct hpc_query *q, const uint32_t *ids, size_t n,
			 const struct hpc_col *col, enum hpc_amount amount, struct hpc_moments *ret,
			 struct err *err)
{
	int rc = find_by_thread(q, 0, ids, n, &col->ids[amount], err);

	*ret = (struct hpc_moments){0};
	if (rc >= 0 && amount != AMOUNT_INCLUSIVE)
		rc = find_by_thread(q, 1, ids, n, &col->ids[AMOUNT_INCLUSIVE], err);
	for (uint32_t i = 1; rc >= 0 && i < q->db->profiles.nProfiles; i++) {
		double v = q->by_thread[0][i];

		if (v == 0 && (amount == AMOUNT_INCLUSIVE || q->by_thread[1][i] == 0))
			continue;
		hpc_moments_add(ret, v);
	}
	return rc;
}

/* Adds what the summary profile tells of context CTX, and says which columns it tells. */
static int add_summarized(struct hpc_query *q, uint32_t ctx, bool several, enum hpc_amount amount,
			  double *values, struct err *err)
{
	struct hpc_ctx_values c = q->last;
	int rc = 0;

	if (!q->has_last || c.ctxId != ctx) {
		rc = hpc_profile_find_ctx(&q->summary, ctx, &c, err);
		c.ctxId = ctx;
		q->last = c;
		q->has_last = rc >= 0;
	}
	for (size_t i = 0; rc >= 0 && c.n && i < q->cols.n; i++) {
		const struct hpc_col *col = &q->cols.v[i];
		const struct hpc_ids *ids = &col->ids[amount];
		struct hpc_moments m;

		if (!col->metric || (several && col->stat != HPC_STAT_SUM) ||
		    !is_told(ids, col->stat, &c))
			continue;
		if (col->stat == HPC_STAT_SUM) {
			values[i] += hpc_ctx_values_find(&c, ids->stat[HPC_SUM_X]);
			continue;
		}
		m = summarized(ids, &c);
		values[i] += hpc_moments_stat(&m, col->stat);
	}
	return rc;
}

/* Adds the values of the few chosen profiles. */
static int add_selected(struct hpc_query *q, uint32_t ctx, enum hpc_amount amount, double *values,
			struct err *err)
{
	vec_each (p, &q->selected) {
		struct hpc_ctx_values c;
		int rc = hpc_profile_find_ctx(p, ctx, &c, err);

		if (rc < 0)
			return rc;
		for (size_t i = 0; c.n && i < q->cols.n; i++) {
			const struct hpc_col *col = &q->cols.v[i];

			if (col->metric && col->stat == HPC_STAT_SUM && col->ids[amount].has_prop)
				values[i] += hpc_ctx_values_find(&c, col->ids[amount].prop);
		}
	}
	return 0;
}

/* Adds what context CTX, one of N looked up together, is: as far as one look tells. */
static int add_context(struct hpc_query *q, uint32_t ctx, size_t n, enum hpc_amount amount,
		       double *values, struct err *err)
{
	return q->all_threads ? add_summarized(q, ctx, n > 1, amount, values, err)
			      : add_selected(q, ctx, amount, values, err);
}

/* Whether add_context has added column COL of N contexts.  It was asked for the last one. */
static bool is_added(const struct hpc_query *q, const struct hpc_col *col, enum hpc_amount amount,
		     size_t n)
{
	if (!q->all_threads)
		return q->selected.n && col->stat == HPC_STAT_SUM;
	if (col->stat == HPC_STAT_SUM)
		return is_summarized(&col->ids[amount], col->stat);
	return n == 1 && is_told(&col->ids[amount], col->stat, &q->last);
}

/* Adds the columns that add_context could not tell. */
static int add_rest(struct hpc_query *q, const uint32_t *ids, size_t n, enum hpc_amount amount,
		    double *values, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; rc >= 0 && n && i < q->cols.n; i++) {
		const struct hpc_col *col = &q->cols.v[i];
		struct hpc_moments m;

		if (!col->metric || is_added(q, col, amount, n))
			continue;
		if (col->stat == HPC_STAT_SUM && q->db->has_cct)
			rc = add_up(q, ids, n, &col->ids[amount], &m.x, err);
		else
			rc = values_gather(q, ids, n, col, amount, &m, err);
		if (rc >= 0)
			values[i] += hpc_moments_stat(&m, col->stat);
	}
	return rc;
}

int hpc_query_values(struct hpc_query *q, const uint32_t *ids, size_t n, enum hpc_amount amount,
		     double *values, struct err *err)
{
	int rc = 0;

	for (size_t k = 0; rc >= 0 && k < n; k++)
		rc = add_context(q, ids[k], n, amount, values, err);
	return rc < 0 ? rc : add_rest(q, ids, n, amount, values, err);
}

int hpc_query_both(struct hpc_query *q, const uint32_t *ids, size_t n, double *inclusive,
		   double *exclusive, struct err *err)
{
	int rc = 0;

	for (size_t k = 0; rc >= 0 && k < n; k++) {
		rc = add_context(q, ids[k], n, AMOUNT_INCLUSIVE, inclusive, err);
		if (rc >= 0)
			rc = add_context(q, ids[k], n, AMOUNT_EXCLUSIVE, exclusive, err);
	}
	if (rc >= 0)
		rc = add_rest(q, ids, n, AMOUNT_INCLUSIVE, inclusive, err);
	return rc < 0 ? rc : add_rest(q, ids, n, AMOUNT_EXCLUSIVE, exclusive, err);
}
