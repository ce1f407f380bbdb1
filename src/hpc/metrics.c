/* SPDX-License-Identifier: BSD-2-Clause */
/* See metrics.h. */
#include "hpc/metrics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"

void build_metrics_init(struct build_metrics *ms)
{
	*ms = (struct build_metrics){.n_scopes = N_METRIC_SCOPES};
	for (unsigned i = 0; i < N_METRIC_SCOPES; i++)
		ms->scopes[i] = metric_scope_name(i);
}

void build_metrics_release(struct build_metrics *ms)
{
	vec_release(&ms->v);
	vec_release(&ms->of_id);
	arena_release(&ms->arena);
	*ms = (struct build_metrics){0};
}

int build_metrics_scope(struct build_metrics *ms, const char *name, struct err *err)
{
	for (unsigned i = 0; i < ms->n_scopes; i++)
		if (strcmp(ms->scopes[i], name) == 0)
			return (int)i;
	if (ms->n_scopes == BUILD_MAX_SCOPES)
		return err_set(err, -E2BIG, "more than %d propagation scopes", BUILD_MAX_SCOPES);
	ms->scopes[ms->n_scopes] = arena_strdup(&ms->arena, name);
	return (int)ms->n_scopes++;
}

uint32_t build_metrics_add(struct build_metrics *ms, const char *name, uint32_t scopes,
			   uint64_t order)
{
	vec_each (m, &ms->v) {
		if (strcmp(m->name, name) != 0)
			continue;
		m->scopes |= scopes;
		m->no_lex_aware |= !(scopes >> IN_LEX_AWARE & 1);
		m->order = order < m->order ? order : m->order;
		return (uint32_t)(m - ms->v.v);
	}
	vec_push(&ms->v, (struct build_metric){.name = arena_strdup(&ms->arena, name),
					       .per = 1,
					       .scopes = scopes,
					       .no_lex_aware = !(scopes >> IN_LEX_AWARE & 1),
					       .order = order});
	return (uint32_t)ms->v.n - 1;
}

uint32_t build_metrics_intern(struct build_metrics *ms, const struct profile *p,
			      const struct query_col *col, uint64_t order)
{
	bool in_ns = strcmp(profile_str(p, p->events.v[col->event].unit), "ns") == 0;
	/* HPCToolkit puts the unit behind the name, and readers look for "(sec)". */
	_mem_ char *name = xasprintf("%s%s", col->name, in_ns ? " (sec)" : "");
	uint32_t i = build_metrics_add(ms, name, (1u << N_METRIC_SCOPES) - 1, order);

	if (in_ns)
		ms->v.v[i].per = 1e9;
	return i;
}

struct ordered {
	uint64_t order;
	uint32_t from;
};

static int by_order(const void *a, const void *b)
{
	const struct ordered *x = a, *y = b;

	return x->order < y->order ? -1 : x->order > y->order;
}

/* hpcviewer looks for metrics without regard to case and fails when it finds two
 * (MetricYamlParser.java, parseInputs): of names that differ in nothing else
 * the later is numbered. */
static void tell_apart(struct build_metrics *ms, struct build_metric *of, uint32_t n)
{
	const char *own = of->name;
	unsigned number = 1;

	for (uint32_t i = 0; i < n; i++)
		if (strcasecmp(ms->v.v[i].name, of->name) == 0) {
			_mem_ char *name = xasprintf("%s #%u", own, ++number);

			of->name = arena_strdup(&ms->arena, name);
			i = UINT32_MAX; /* again from the beginning: the new name may be taken */
		}
}

void build_metrics_number(struct build_metrics *ms)
{
	ms->of_id.n = 0;
	for (uint32_t i = 0; i < ms->v.n; i++) {
		ms->v.v[i].first_id = (uint32_t)ms->of_id.n;
		for (unsigned k = 0; k < N_STATISTICS; k++)
			for (unsigned s = 0; s < ms->n_scopes; s++)
				if (build_metric_has(&ms->v.v[i], s))
					vec_push(&ms->of_id, (struct build_metric_id){(uint16_t)i,
										      (uint16_t)s});
	}
}

int build_metrics_finish(struct build_metrics *ms, uint32_t **ret, struct err *err)
{
	struct build_metric *sorted;
	struct ordered *order;
	uint32_t *number;

	if (ms->v.n * N_STATISTICS * ms->n_scopes > INT16_MAX + 1u)
		return err_set(err, -E2BIG, "%zu metrics in %u scopes have more than %d statistics",
			       ms->v.n, ms->n_scopes, INT16_MAX + 1);
	number = xcalloc(ms->v.n + 1, sizeof(*number));
	order = xcalloc(ms->v.n + 1, sizeof(*order));
	sorted = xcalloc(ms->v.n + 1, sizeof(*sorted));
	for (uint32_t i = 0; i < ms->v.n; i++)
		order[i] = (struct ordered){ms->v.v[i].order, i};
	qsort(order, ms->v.n, sizeof(*order), by_order);
	for (uint32_t i = 0; i < ms->v.n; i++) {
		sorted[i] = ms->v.v[order[i].from];
		number[order[i].from] = i;
	}
	if (ms->v.n)
		memcpy(ms->v.v, sorted, ms->v.n * sizeof(*sorted));
	for (uint32_t i = 0; i < ms->v.n; i++) {
		tell_apart(ms, &ms->v.v[i], i);
		if (ms->v.v[i].no_lex_aware && build_metric_has(&ms->v.v[i], IN_FUNCTION))
			ms->v.v[i].scopes &= ~(1u << IN_LEX_AWARE);
	}
	build_metrics_number(ms);
	free(sorted);
	free(order);
	*ret = number;
	return 0;
}

struct build_event build_event_of(const struct query_col *col, uint32_t metric)
{
	return (struct build_event){.metric = (uint16_t)metric,
				    .period = col->period,
				    .duty = col->duty > 0 ? col->duty : 1};
}

void build_metrics_describe(struct build_metrics *ms, struct hpc_metrics *ret)
{
	static const struct {
		const char *formula;
		enum hpc_combine combine;
	} stats[N_STATISTICS] = {
		[STAT_SUM] = {"$$", HPC_SUM},	      [STAT_COUNT] = {"1", HPC_SUM},
		[STAT_SQUARES] = {"($$^2)", HPC_SUM}, [STAT_MIN] = {"$$", HPC_MIN},
		[STAT_MAX] = {"$$", HPC_MAX},
	};
	static const struct hpc_scope known[N_METRIC_SCOPES] = {
		[IN_POINT] = {NULL, HPC_SCOPE_POINT, UINT8_MAX},
		[IN_FUNCTION] = {NULL, HPC_SCOPE_TRANSITIVE, 0},
		[IN_LEX_AWARE] = {NULL, HPC_SCOPE_CUSTOM, UINT8_MAX},
		[IN_EXECUTION] = {NULL, HPC_SCOPE_EXECUTION, UINT8_MAX},
	};

	*ret = (struct hpc_metrics){.n_scopes = ms->n_scopes, .n_metrics = (uint32_t)ms->v.n};
	ret->scopes = arena_alloc(&ms->arena, ms->n_scopes * sizeof(*ret->scopes));
	for (unsigned s = 0; s < ms->n_scopes; s++) {
		ret->scopes[s] = known[s < N_METRIC_SCOPES ? s : (unsigned)IN_LEX_AWARE];
		ret->scopes[s].name = ms->scopes[s];
	}
	ret->metrics = arena_alloc(&ms->arena, (ms->v.n + 1) * sizeof(*ret->metrics));
	for (unsigned i = 0; i < ms->v.n; i++) {
		struct hpc_metric *m = &ret->metrics[i];
		size_t most = ms->n_scopes * N_STATISTICS;

		*m = (struct hpc_metric){.name = ms->v.v[i].name};
		m->scopes = arena_alloc(&ms->arena, ms->n_scopes * sizeof(*m->scopes));
		m->summaries = arena_alloc(&ms->arena, most * sizeof(*m->summaries));
		for (unsigned k = 0; k < N_STATISTICS; k++)
			for (unsigned s = 0; s < ms->n_scopes; s++) {
				if (!build_metric_has(&ms->v.v[i], s))
					continue;
				if (!k)
					m->scopes[m->n_scopes++] = (struct hpc_scope_inst){
						(uint16_t)s, prop_metric_id(ms, i, s)};
				m->summaries[m->n_summaries++] = (struct hpc_summary){
					(uint16_t)s, stat_metric_id(ms, i, k, s),
					(uint8_t)stats[k].combine, stats[k].formula};
			}
	}
}
