/* SPDX-License-Identifier: BSD-2-Clause */
/* See query.h. */
#include "query/hpc/query.h"
#include "query/hpc/taxonomy.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Up to so many chosen profiles are looked into one by one; beyond, what all have is gone over. */
#define FEW_THREADS 32

static const char *const stat_names[N_ALL_HPC_STATS] = {"sum", "mean", "stddev", "cfvar",
							"min", "max",  "count",	 "squares"};

const char *hpc_stat_name(enum hpc_stat s)
{
	return stat_names[s];
}

/* --- metrics --- */

/* The scopes an amount is taken from, the best one first (docs/formats/hpctoolkit.md). */
static const char *const scopes_of[N_AMOUNTS][2] = {
	[AMOUNT_INCLUSIVE] = {"execution", NULL},
	[AMOUNT_EXCLUSIVE] = {"lex_aware", "function"},
	[AMOUNT_FUNCTION] = {"function", "lex_aware"},
	[AMOUNT_POINT] = {"point", NULL},
};

static const struct {
	const char *formula;
	enum hpc_combine combine;
} summaries[N_HPC_SUMS] = {
	[HPC_SUM_N] = {"1", HPC_SUM},	    [HPC_SUM_X] = {"$$", HPC_SUM},
	[HPC_SUM_X2] = {"($$^2)", HPC_SUM}, [HPC_SUM_MIN] = {"$$", HPC_MIN},
	[HPC_SUM_MAX] = {"$$", HPC_MAX},
};

static void find_ids(const struct hpc_db *db, const struct hpc_metric *m, const char *scope,
		     struct hpc_ids *ret)
{
	const struct hpc_metrics *ms = &db->meta.metrics;
	const struct hpc_scope_inst *inst = hpc_metric_scope(ms, m, scope);

	if (!inst)
		return;
	*ret = (struct hpc_ids){.has_prop = true, .prop = inst->propMetricId};
	for (unsigned s = 0; s < N_HPC_SUMS; s++) {
		const struct hpc_summary *sum = hpc_metric_summary(
			ms, m, scope, summaries[s].formula, summaries[s].combine);

		ret->has_stat[s] = sum != NULL;
		ret->stat[s] = sum ? sum->statMetricId : 0;
	}
}

static bool is_in_seconds(const struct hpc_metric *m)
{
	return str_ends(m->name, "(sec)");
}

unsigned hpc_query_add_col(struct hpc_query *q, const struct hpc_metric *m, enum hpc_stat stat,
			   bool hidden)
{
	struct hpc_col col = {.metric = m, .stat = stat};
	const char *name = m->name;

	for (unsigned i = 0; i < q->cols.n; i++) {
		if (q->cols.v[i].metric != m || q->cols.v[i].stat != stat)
			continue;
		q->columns.cols.v[i].hidden &= hidden;
		return i;
	}
	for (unsigned a = 0; a < N_AMOUNTS; a++)
		for (unsigned k = 0; k < 2 && !col.ids[a].has_prop && scopes_of[a][k]; k++)
			find_ids(q->db, m, scopes_of[a][k], &col.ids[a]);
	if (stat != HPC_STAT_SUM) {
		_str_ struct str s = {0};

		str_addf(&s, "%s:%s", name, stat_names[stat]);
		name = arena_strdup(&q->arena, str_get(&s));
	}
	vec_push(&q->cols, col);
	vec_push(&q->columns.cols, (struct column){.name = name,
						   .title = name,
						   .kind = COLUMN_REAL,
						   .stat = stat_names[stat],
						   .hidden = hidden,
						   .adds_up = stat == HPC_STAT_SUM,
						   .duty = 1,
						   .unit = 1});
	return (unsigned)q->cols.n - 1;
}

/* Whether the N bytes at NAME mean M: its name, or that without the unit behind it. */
static bool is_called(const struct hpc_metric *m, const char *name, size_t n)
{
	size_t whole = strlen(m->name);
	const char *unit = strstr(m->name, " (");

	if (whole == n && memcmp(m->name, name, n) == 0)
		return true;
	return unit && (size_t)(unit - m->name) == n && strncasecmp(m->name, name, n) == 0;
}

static const struct hpc_metric *find_metric(const struct hpc_query *q, const char *name, size_t n,
					    struct err *err)
{
	const struct hpc_metrics *ms = &q->db->meta.metrics;
	const struct hpc_taxonomy *taxonomy = q->taxonomy;
	struct name_list there = {{0}, 0};

	for (uint32_t i = 0; i < ms->n_metrics; i++)
		if (is_called(&ms->metrics[i], name, n))
			return &ms->metrics[i];
	for (uint32_t i = 0; i < ms->n_metrics; i++)
		name_list_add(&there, ms->metrics[i].name);
	for (uint32_t i = 0; taxonomy && taxonomy->is_there && i < taxonomy->tree.n_nodes; i++)
		name_list_add(&there, taxonomy->tree.nodes[i].name);
	err_set(err, -ENOENT, "there is no metric '%.*s'; there are: %s", (int)n, name, there.text);
	return NULL;
}

/* The order HPCToolkit's viewer has metrics in: by id. */
static uint16_t first_id(const struct hpc_metric *m)
{
	uint16_t id = UINT16_MAX;

	for (unsigned i = 0; i < m->n_scopes; i++)
		if (m->scopes[i].propMetricId < id)
			id = m->scopes[i].propMetricId;
	return id;
}

static int compare_metrics(const void *a, const void *b)
{
	const struct hpc_metric *x = *(const struct hpc_metric *const *)a,
				*y = *(const struct hpc_metric *const *)b;

	/* Times first, the most telling of a GPU's many metrics. */
	if (is_in_seconds(x) != is_in_seconds(y))
		return is_in_seconds(x) ? -1 : 1;
	return (int)first_id(x) - (int)first_id(y);
}

/* --- totals --- */

/* The root's amounts are in context 0; where a writer has left that out, they are those of the
 * entries together. */
static int find_totals(struct hpc_query *q, struct err *err)
{
	const uint32_t root = HPC_ROOT_CTX;
	double *values = xcalloc(q->cols.n + 1, sizeof(*values));
	struct hpc_ctxs it;
	struct hpc_ctx ctx;
	_vec_ VEC(uint32_t) roots = {0};
	int rc = hpc_query_values(q, &root, 1, AMOUNT_INCLUSIVE, values, err);
	bool any = false;

	for (size_t i = 0; i < q->cols.n; i++)
		any |= values[i] != 0;
	if (rc >= 0 && !any) {
		rc = hpc_ctxs_begin(&it, &q->db->meta, NULL, err);
		while (rc >= 0 && (rc = hpc_ctxs_next(&it, &ctx, err)) > 0) {
			vec_push(&roots, ctx.ctxId);
			rc = 0;
		}
		if (rc >= 0)
			rc = hpc_query_values(q, roots.v, roots.n, AMOUNT_INCLUSIVE, values, err);
	}
	cols_evaluate(&q->columns, values);
	for (size_t i = 0; i < q->cols.n; i++)
		q->columns.cols.v[i].total = values[i];
	free(values);
	return rc;
}

/* --- choosing --- */

typedef VEC(enum hpc_stat) stat_list;

static int parse_stats(const opt_list *names, stat_list *ret, struct err *err)
{
	vec_each (text, names) {
		for (const char *s = *text, *end; s; s = *end ? end + 1 : NULL) {
			enum hpc_stat k = 0;

			end = s + strcspn(s, ",");
			while (k < N_HPC_STATS && (strlen(stat_names[k]) != (size_t)(end - s) ||
						   memcmp(stat_names[k], s, (size_t)(end - s))))
				k++;
			if (k == N_HPC_STATS)
				return err_set(err, -EINVAL,
					       "--stat %.*s: must be sum, mean, stddev, cfvar, min "
					       "or max",
					       (int)(end - s), s);
			vec_push(ret, k);
		}
	}
	if (!ret->n)
		vec_push(ret, HPC_STAT_SUM);
	return 0;
}

static void add_stats(struct hpc_query *q, const struct hpc_metric *m, const stat_list *stats)
{
	vec_each (s, stats)
		hpc_query_add_col(q, m, *s, false);
}

/* The taxonomy, opened when it is first asked for. */
static int need_taxonomy(struct hpc_query *q, const char *file, struct err *err)
{
	if (q->taxonomy)
		return 0;
	q->taxonomy = xcalloc(1, sizeof(*q->taxonomy));
	return hpc_taxonomy_open(q->taxonomy, q->db, file && strcmp(file, "own") != 0 ? file : NULL,
				 err);
}

/* The metric of the taxonomy called NAME, by each of STATS.  -ENOENT when there is none. */
static int add_of_taxonomy(struct hpc_query *q, const char *name, size_t n, const stat_list *stats,
			   struct err *err)
{
	uint32_t node;
	int rc = need_taxonomy(q, NULL, NULL);

	if (rc != 0)
		return rc;
	node = hpc_taxonomy_find(q->taxonomy, name, n);
	if (node == HPC_NONE)
		return -ENOENT;
	rc = -ENOENT;
	for (size_t i = 0; i < stats->n; i++) {
		int col = hpc_taxonomy_add(q, q->taxonomy, node, stats->v[i], err);

		if (col != -ENOENT)
			rc = col;
		if (rc < 0 && col != -ENOENT)
			break;
	}
	return rc;
}

/* The metrics of the taxonomy that are shown by default and not 0 everywhere: as many as there is
 * room for. */
static int add_taxonomy(struct hpc_query *q, const stat_list *stats, bool all, struct err *err)
{
	const struct hpc_metric_tree *t = &q->taxonomy->tree;
	const uint32_t root = HPC_ROOT_CTX;
	size_t most = all ? SIZE_MAX : HPC_MOST_METRICS;
	VEC(uint32_t) chosen = {0};
	double *values;
	int rc = 0;

	if (!q->taxonomy->is_there)
		return err_set(err, -ENOENT, "%s has no metrics/default.yaml that can be read",
			       q->db->path);
	for (uint32_t i = 0; i < t->n_nodes; i++)
		if (all || t->nodes[i].visible) {
			int col = hpc_taxonomy_add(q, q->taxonomy, i, HPC_STAT_SUM, NULL);

			if (col >= 0)
				vec_push(&chosen, i);
			if (col >= 0)
				vec_push(&q->columns.order, (unsigned)col);
		}
	values = xcalloc(q->cols.n + 1, sizeof(*values));
	rc = hpc_query_values(q, &root, 1, AMOUNT_INCLUSIVE, values, err);
	cols_evaluate(&q->columns, values);
	for (size_t i = 0, n = 0; i < chosen.n; i++) {
		double v = values[q->columns.order.v[i]];
		bool any = isfinite(v) && v != 0;

		q->n_more += any && n == most;
		if (!any || n++ >= most)
			chosen.v[i] = HPC_NONE;
	}
	free(values);
	cols_release(&q->columns);
	q->columns = (struct columns){0};
	q->cols.n = 0;
	for (size_t i = 0; i < chosen.n && rc >= 0; i++)
		for (size_t k = 0; k < stats->n && chosen.v[i] != HPC_NONE; k++)
			hpc_taxonomy_add(q, q->taxonomy, chosen.v[i], stats->v[k], NULL);
	vec_release(&chosen);
	if (rc >= 0 && !q->cols.n)
		return err_set(err, -ENOENT,
			       "the taxonomy has no metric that is not 0 and can be a column");
	return rc;
}

/* The metrics asked for: in a taxonomy that was asked for, in the database, in its taxonomy. */
static int add_named(struct hpc_query *q, const opt_list *events, const stat_list *stats,
		     struct err *err)
{
	_vec_ opt_list names = {0};
	char *text;
	int rc = 0;

	select_split_events(events, &names, &text);
	vec_each (name, &names) {
		size_t n = strlen(*name);
		const struct hpc_metric *m;

		rc = q->taxonomy ? add_of_taxonomy(q, *name, n, stats, err) : -ENOENT;
		if (rc == -ENOENT) {
			m = find_metric(q, *name, n, err);
			if (m)
				add_stats(q, m, stats);
			rc = m ? 0 : add_of_taxonomy(q, *name, n, stats, err);
		}
		if (rc < 0)
			break;
		rc = 0;
	}
	free(text);
	return rc;
}

/* Those that are not 0 everywhere and not hidden by the database's own description: as many as
 * there is room for. */
static int add_usual(struct hpc_query *q, const stat_list *stats, bool all, struct err *err)
{
	const struct hpc_metrics *ms = &q->db->meta.metrics;
	const uint32_t root = HPC_ROOT_CTX;
	VEC(const struct hpc_metric *) sorted = {0}, chosen = {0};
	double *values = xcalloc(ms->n_metrics + 1, sizeof(*values));
	size_t most = all ? SIZE_MAX : HPC_MOST_METRICS;
	bool *hidden = all ? NULL : hpc_db_hidden_metrics(q->db);
	int rc;

	for (uint32_t i = 0; i < ms->n_metrics; i++)
		vec_push(&sorted, &ms->metrics[i]);
	vec_sort(&sorted, compare_metrics);
	vec_each (m, &sorted)
		hpc_query_add_col(q, *m, HPC_STAT_SUM, false);
	rc = hpc_query_values(q, &root, 1, AMOUNT_INCLUSIVE, values, err);
	for (size_t i = 0; i < sorted.n; i++) {
		if (values[i] == 0)
			continue;
		if (chosen.n < most && !(hidden && hidden[sorted.v[i] - ms->metrics]))
			vec_push(&chosen, sorted.v[i]);
		else
			q->n_more++;
	}
	/* All are hidden, or nothing is known of the whole: something can be shown all the same. */
	for (size_t i = 0; i < sorted.n && !chosen.n; i++)
		if (values[i] != 0 || i + 1 == sorted.n)
			vec_push(&chosen, sorted.v[i]);
	free(hidden);
	q->cols.n = q->columns.cols.n = 0;
	vec_each (m, &chosen)
		add_stats(q, *m, stats);
	vec_release(&sorted);
	vec_release(&chosen);
	free(values);
	return rc;
}

/* The column of the taxonomy's metric NAME, hidden. */
static int find_in_taxonomy(struct hpc_query *q, const char *name, size_t n, struct err *err)
{
	enum hpc_stat sum = HPC_STAT_SUM;
	int col = add_of_taxonomy(q, name, n, &(stat_list){&sum, 1, 1}, err);

	if (col >= 0)
		q->columns.cols.v[col].hidden = true;
	return col;
}

/* A name in an expression: a metric or one of the taxonomy, hidden when it is not shown, or a
 * column before. */
static int find_term(void *ctx, const char *name, size_t n, struct err *err)
{
	struct hpc_query *q = ctx;
	const struct hpc_metric *m;

	for (unsigned i = 0; i < q->columns.cols.n; i++)
		if (strlen(q->columns.cols.v[i].name) == n &&
		    memcmp(q->columns.cols.v[i].name, name, n) == 0)
			return (int)i;
	m = find_metric(q, name, n, err);
	return m ? (int)hpc_query_add_col(q, m, HPC_STAT_SUM, true)
		 : find_in_taxonomy(q, name, n, err);
}

static int add_derived(struct hpc_query *q, const opt_list *texts, struct err *err)
{
	vec_each (text, texts) {
		int rc = cols_derive(&q->columns, *text, find_term, q, err);

		if (rc < 0)
			return rc;
		vec_push(&q->cols, (struct hpc_col){0});
	}
	return 0;
}

/* The column rows are sorted by, and one of sums that they are hidden by. */
static int find_sort(struct hpc_query *q, const char *name, struct err *err)
{
	const struct hpc_metric *m = NULL;
	unsigned at = (unsigned)q->columns.cols.n;

	for (unsigned i = 0; name && i < q->columns.cols.n; i++)
		if (strcmp(q->columns.cols.v[i].name, name) == 0 ||
		    (q->cols.v[i].metric && is_called(q->cols.v[i].metric, name, strlen(name))))
			at = i < at ? i : at;
	if (name && at == q->columns.cols.n) {
		m = find_metric(q, name, strlen(name), err);
		if (!m)
			return -ENOENT;
		at = hpc_query_add_col(q, m, HPC_STAT_SUM, false);
	}
	for (unsigned i = 0; !name && i < at; i++)
		if (!q->columns.cols.v[i].hidden)
			at = i;
	q->columns.sort = at;
	q->columns.cols.v[at].hidden = false;
	m = q->cols.v[at].metric;
	for (size_t i = 0; !m && i < q->cols.n; i++)
		m = q->cols.v[i].metric;
	q->columns.hide = m ? hpc_query_add_col(q, m, HPC_STAT_SUM, true) : at;
	return 0;
}

/* Nobody named a metric: the one that rows are sorted by is shown. */
static void hide_all_but_one(struct hpc_query *q)
{
	vec_each (c, &q->columns.cols) {
		if (c->hidden || c == &q->columns.cols.v[q->columns.sort])
			continue;
		c->hidden = true;
		q->n_more++;
	}
}

static int choose_threads(struct hpc_query *q, const opt_list *list, struct err *err)
{
	uint32_t n_profiles = q->db->profiles.nProfiles;
	int rc = 0;

	q->all_threads = !list->n;
	q->n_threads = n_profiles ? n_profiles - 1 : 0;
	if (q->all_threads)
		return 0;
	rc = hpc_db_find_threads(q->db, list, &q->threads, err);
	if (rc < 0)
		return rc;
	q->n_threads = (uint32_t)q->threads.n;
	q->wanted = xcalloc((size_t)n_profiles + 1, sizeof(*q->wanted));
	vec_each (i, &q->threads) {
		struct hpc_profile p;

		q->wanted[*i] = true;
		if (q->db->has_cct && q->threads.n > FEW_THREADS)
			continue;
		rc = hpc_profile_open(&p, &q->db->profiles, *i, err);
		if (rc < 0)
			return rc;
		vec_push(&q->selected, p);
	}
	return rc;
}

int hpc_query_init(struct hpc_query *q, const struct hpc_db *db, const struct hpc_opts *o,
		   struct err *err)
{
	const opt_list *events = &o->select->events;
	stat_list stats = {0};
	int rc;

	*q = (struct hpc_query){.db = db};
	rc = hpc_profile_open(&q->summary, &db->profiles, HPC_SUMMARY_PROFILE, err);
	if (rc >= 0)
		rc = choose_threads(q, &o->threads, err);
	if (rc >= 0)
		rc = parse_stats(&o->stats, &stats, err);
	if (rc >= 0 && !db->meta.metrics.n_metrics)
		rc = err_set(err, -ENOENT, "%s: there are no metrics", db->path);
	if (rc >= 0 && o->taxonomy)
		rc = need_taxonomy(q, o->taxonomy, err);
	if (rc >= 0 && events->n)
		rc = add_named(q, events, &stats, err);
	else if (rc >= 0)
		rc = o->taxonomy ? add_taxonomy(q, &stats, o->all_metrics, err)
				 : add_usual(q, &stats, o->all_metrics, err);
	if (rc >= 0)
		rc = add_derived(q, &o->derived, err);
	if (rc >= 0)
		rc = find_sort(q, o->select->sort, err);
	if (rc >= 0 && o->select->one_event && !events->n && !stats.n && !o->taxonomy &&
	    !o->all_metrics && !o->derived.n)
		hide_all_but_one(q);
	if (rc >= 0)
		rc = find_totals(q, err);
	vec_release(&stats);
	if (rc < 0)
		hpc_query_release(q);
	return rc;
}

void hpc_query_release(struct hpc_query *q)
{
	if (q->taxonomy)
		hpc_taxonomy_close(q->taxonomy);
	free(q->taxonomy);
	cols_release(&q->columns);
	vec_release(&q->cols);
	vec_release(&q->threads);
	vec_release(&q->selected);
	free(q->wanted);
	free(q->by_thread[0]);
	free(q->by_thread[1]);
	arena_release(&q->arena);
	*q = (struct hpc_query){0};
}
