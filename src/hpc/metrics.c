/* SPDX-License-Identifier: BSD-2-Clause */
/* See metrics.h. */
#include "hpc/metrics.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"

void build_metrics_release(struct build_metrics *ms)
{
	vec_release(&ms->v);
	arena_release(&ms->arena);
	*ms = (struct build_metrics){0};
}

int build_metrics_intern(struct build_metrics *ms, const struct profile *p,
			 const struct query_col *col, struct err *err)
{
	bool is_time = strcmp(profile_str(p, p->events.v[col->event].unit), "ns") == 0;
	/* HPCToolkit puts the unit behind the name, and readers look for "(sec)". */
	_mem_ char *name = xasprintf("%s%s", col->name, is_time ? " (sec)" : "");

	for (size_t i = 0; i < ms->v.n; i++)
		if (strcmp(ms->v.v[i].name, name) == 0)
			return (int)i;
	if (ms->v.n == BUILD_METRICS_MAX)
		return err_set(err, -E2BIG, "more than %d metrics", BUILD_METRICS_MAX);
	vec_push(&ms->v, (struct build_metric){arena_strdup(&ms->arena, name), is_time});
	return (int)ms->v.n - 1;
}

struct build_event build_event_of(const struct query_col *col, int metric)
{
	return (struct build_event){.metric = (uint16_t)metric,
				    .is_time = col->is_time,
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
	static const struct hpc_scope scopes[N_METRIC_SCOPES] = {
		[IN_POINT] = {"point", HPC_SCOPE_POINT, UINT8_MAX},
		[IN_FUNCTION] = {"function", HPC_SCOPE_TRANSITIVE, 0},
		[IN_LEX_AWARE] = {"lex_aware", HPC_SCOPE_CUSTOM, UINT8_MAX},
		[IN_EXECUTION] = {"execution", HPC_SCOPE_EXECUTION, UINT8_MAX},
	};

	*ret = (struct hpc_metrics){.n_scopes = N_METRIC_SCOPES, .n_metrics = (uint32_t)ms->v.n};
	ret->scopes = arena_alloc(&ms->arena, sizeof(scopes));
	memcpy(ret->scopes, scopes, sizeof(scopes));
	ret->metrics = arena_alloc(&ms->arena, (ms->v.n + 1) * sizeof(*ret->metrics));
	for (unsigned i = 0; i < ms->v.n; i++) {
		struct hpc_metric *m = &ret->metrics[i];

		*m = (struct hpc_metric){.name = ms->v.v[i].name,
					 .n_scopes = N_METRIC_SCOPES,
					 .n_summaries = N_STATISTICS * N_METRIC_SCOPES};
		m->scopes = arena_alloc(&ms->arena, m->n_scopes * sizeof(*m->scopes));
		m->summaries = arena_alloc(&ms->arena, m->n_summaries * sizeof(*m->summaries));
		for (uint16_t s = 0; s < N_METRIC_SCOPES; s++)
			m->scopes[s] = (struct hpc_scope_inst){s, prop_metric_id(i, s)};
		for (uint16_t k = 0; k < m->n_summaries; k++) {
			uint16_t stat = k / N_METRIC_SCOPES, s = k % N_METRIC_SCOPES;

			m->summaries[k] = (struct hpc_summary){s, stat_metric_id(i, stat, s),
							       (uint8_t)stats[stat].combine,
							       stats[stat].formula};
		}
	}
}
