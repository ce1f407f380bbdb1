/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks what the values of a database mean: FORMATS.md 4.0, "meta.db Performance Metrics section".
 *
 * Summaries: for each context and metric, the threads that have the metric there in any scope; of a
 * scope that such a thread has nothing in, its value is 0; `formula` is applied to each and
 * `combine` to the results; a result of 0 is not stored (observed in HPCToolkit's databases).
 *
 * Scopes, for each thread: execution(c) = point(c) + the sum of execution over c's children;
 * function(c) = point(c) + the sum of function over those children that are not reached by a call.
 * hpcprof leaves instruction contexts out of meta.db: newer ones keep their values, older ones do
 * not; in a database with signs of either the sums may fall short.
 *
 * In a loop, hpcprof's summaries of scope lex_aware are without the loops within, its values of
 * threads are not (observed); such summaries are not looked at.
 *
 * Sums of doubles depend on their order: they must agree to TOLERANCE of what was summed up. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "formats/hpc/check/impl.h"
#include "formats/hpc/summary_formula.h"

static const double TOLERANCE = 1e-9;

/* One metric in one context. */
struct inputs {
	const struct hpc_metric *metric;
	struct hpc_metric_values *scopes; /* by scope instance of the metric */
	uint64_t *at;			  /* while profiles are counted */
	uint64_t n_profiles;		  /* that have it in any scope */
};

/* Counts the profiles that any scope has: a merge of sorted lists. */
static uint64_t count_profiles(struct inputs *in)
{
	unsigned n_scopes = in->metric->n_scopes;
	uint64_t n = 0;

	for (unsigned s = 0; s < n_scopes; s++)
		in->at[s] = 0;
	for (;; n++) {
		uint32_t least = UINT32_MAX;
		bool any = false;

		for (unsigned s = 0; s < n_scopes; s++)
			if (in->at[s] < in->scopes[s].n) {
				uint32_t p = hpc_metric_value(&in->scopes[s], in->at[s]).profIndex;

				least = p < least ? p : least;
				any = true;
			}
		if (!any)
			return n;
		for (unsigned s = 0; s < n_scopes; s++)
			if (in->at[s] < in->scopes[s].n &&
			    hpc_metric_value(&in->scopes[s], in->at[s]).profIndex == least)
				in->at[s]++;
	}
}

static void load_inputs(struct inputs *in, const struct hpc_cct *c)
{
	for (unsigned s = 0; s < in->metric->n_scopes; s++)
		if (hpc_cct_find_metric(c, in->metric->scopes[s].propMetricId, &in->scopes[s],
					NULL) < 0)
			in->scopes[s].n = 0;
	in->n_profiles = count_profiles(in);
}

static double combine(uint8_t how, double a, double b)
{
	return how == HPC_MIN ? fmin(a, b) : how == HPC_MAX ? fmax(a, b) : a + b;
}

/* What summary S should be, and the sum of the magnitudes that went into it.  False when it cannot
 * be told: an unknown formula, combination or scope. */
static bool expect(const struct inputs *in, const struct hpc_summary *s, double *ret,
		   double *ret_size)
{
	const struct hpc_metric_values *mv = NULL;
	double f = 0, of_zero, result = 0, size = 0;

	for (unsigned k = 0; k < in->metric->n_scopes; k++)
		if (in->metric->scopes[k].scope == s->scope)
			mv = &in->scopes[k];
	if (!mv || s->combine > HPC_MAX || !hpc_summary_eval(s->formula, 0, &of_zero))
		return false;
	for (uint64_t i = 0; i < mv->n; i++) {
		if (!hpc_summary_eval(s->formula, hpc_metric_value(mv, i).value, &f))
			return false;
		result = i ? combine(s->combine, result, f) : f;
		size += fabs(f);
	}
	if (mv->n < in->n_profiles) {
		uint64_t absent = in->n_profiles - mv->n;

		f = s->combine == HPC_SUM ? of_zero * (double)absent : of_zero;
		result = mv->n ? combine(s->combine, result, f) : f;
		size += fabs(f);
	}
	*ret = result;
	*ret_size = size;
	return true;
}

static bool agree(double a, double b, double size)
{
	return a == b || fabs(a - b) <= TOLERANCE * size || (isnan(a) && isnan(b));
}

static bool is_lex_aware(const struct hpc_scope *s)
{
	return strcmp(s->name, "lex_aware") == 0;
}

/* The summaries of one metric in the context whose values in the summary profile are CV. */
static void check_metric(struct hpc_check *c, const struct hpc_profile *summary,
			 const struct hpc_ctx_values *cv, const struct hpc_metrics *ms,
			 const struct inputs *in, bool loop)
{
	for (unsigned k = 0; k < in->metric->n_summaries; k++) {
		const struct hpc_summary *s = &in->metric->summaries[k];
		double want, size, have = hpc_ctx_values_find(cv, s->statMetricId);

		if ((loop && is_lex_aware(&ms->scopes[s->scope])) || !expect(in, s, &want, &size) ||
		    agree(have, want, size))
			continue;
		hpc_problem(c, summary->db->name,
			    summary->pValues + (uint64_t)(cv->values - summary->values), "{Val}",
			    "value",
			    "summary %u of metric %s in context %u is %.17g, must be %.17g",
			    s->statMetricId, in->metric->name, cv->ctxId, have, want);
	}
}

static struct inputs *new_inputs(const struct hpc_metrics *ms)
{
	struct inputs *in = xcalloc(ms->n_metrics + 1u, sizeof(*in));

	for (uint32_t m = 0; m < ms->n_metrics; m++) {
		in[m].metric = &ms->metrics[m];
		in[m].scopes = xcalloc(ms->metrics[m].n_scopes + 1u, sizeof(*in[m].scopes));
		in[m].at = xcalloc(ms->metrics[m].n_scopes + 1u, sizeof(*in[m].at));
	}
	return in;
}

static void free_inputs(struct inputs *in, uint32_t n)
{
	for (uint32_t m = 0; m < n; m++) {
		free(in[m].scopes);
		free(in[m].at);
	}
	free(in);
}

void check_summaries(struct hpc_check *c, const struct hpc_files *f, const struct check_tree *tree)
{
	const struct hpc_metrics *ms = &f->meta->metrics;
	struct inputs *in = new_inputs(ms);
	struct hpc_profile summary;
	uint32_t n_ctxs = f->cct->nCtxs;

	if (hpc_profile_open(&summary, f->profiles, HPC_SUMMARY_PROFILE, NULL) >= 0) {
		uint32_t beyond = hpc_profile_ctx_from(&summary, n_ctxs);
		struct hpc_ctx_values cv;

		if (beyond < summary.nCtxs)
			hpc_problem(c, f->profiles->name, summary.pCtxIndices + 12ull * beyond,
				    "{Idx}", "ctxId",
				    "the summary profile has a context that no thread has");
		for (uint32_t i = 0; i < n_ctxs; i++) {
			bool loop = tree->of[i].lexicalType == HPC_LOOP;
			struct hpc_cct cct;

			if (hpc_cct_open(&cct, f->cct, i, NULL) < 0 ||
			    hpc_profile_find_ctx(&summary, i, &cv, NULL) < 0 ||
			    (!cct.nValues && !cv.n))
				continue;
			for (uint32_t m = 0; m < ms->n_metrics; m++) {
				load_inputs(&in[m], &cct);
				check_metric(c, &summary, &cv, ms, &in[m], loop);
			}
		}
	}
	free_inputs(in, ms->n_metrics);
}

/* The ids of a metric's scopes that this checks; -1 for one it has not. */
struct scope_ids {
	int point, function, execution;
};

static int scope_id(const struct hpc_metrics *ms, const struct hpc_metric *m, const char *name)
{
	const struct hpc_scope_inst *s = hpc_metric_scope(ms, m, name);

	return s ? s->propMetricId : -1;
}

/* Sums over the children of each context, within one profile and metric. */
struct sums {
	double *execution, *function; /* by ctxId; 0 but for those touched */
	VEC(uint32_t) touched;
};

static double value_of(const struct hpc_ctx_values *cv, int metricId)
{
	return metricId < 0 ? 0 : hpc_ctx_values_find(cv, (uint16_t)metricId);
}

static void add_up(struct hpc_check *c, struct sums *s, const struct hpc_profile *p,
		   const struct check_tree *tree, const struct scope_ids *ids)
{
	bool said = false;

	for (uint32_t i = 0; i < p->nCtxs; i++) {
		const struct check_place *place;
		struct hpc_ctx_values cv;
		double execution, function;

		if (hpc_profile_ctx(p, i, &cv, NULL) < 0 || cv.ctxId >= tree->n)
			return;
		place = &tree->of[cv.ctxId];
		vec_push(&s->touched, cv.ctxId);
		if (cv.ctxId == HPC_ROOT_CTX || place->parent == HPC_NONE)
			continue;
		execution = value_of(&cv, ids->execution);
		function = place->relation == HPC_LEXICAL && !place->isEntry
				   ? value_of(&cv, ids->function)
				   : 0;
		if (place->parent < tree->n) {
			s->execution[place->parent] += execution;
			s->function[place->parent] += function;
			vec_push(&s->touched, place->parent);
		} else if ((execution > 0 || function > 0) && !said) {
			/* Nobody has values of the parent: cct.db ends before it. */
			hpc_problem(c, p->db->name, p->pValues + (uint64_t)(cv.values - p->values),
				    "{Val}", "value",
				    "context %u of profile %u has a value, its parent, context %u, "
				    "has none",
				    cv.ctxId, p->index, place->parent);
			said = true;
		}
	}
}

/* Whether VALUE is POINT and SUM together, or, when children may be missing, not less. */
static bool adds_up(double value, double point, double sum, bool exactly)
{
	double size = fabs(value) + fabs(point) + fabs(sum);

	return agree(value, point + sum, size) || (!exactly && value > point + sum);
}

static void check_sums(struct hpc_check *c, const struct sums *s, const struct hpc_profile *p,
		       const struct hpc_metric *m, const struct scope_ids *ids, bool exactly)
{
	vec_each (ctxId, &s->touched) {
		struct hpc_ctx_values cv;
		double point;
		uint64_t at;

		if (hpc_profile_find_ctx(p, *ctxId, &cv, NULL) < 0)
			continue;
		at = p->pValues + (uint64_t)(cv.values - p->values);
		point = value_of(&cv, ids->point);
		if (ids->execution >= 0 &&
		    !adds_up(value_of(&cv, ids->execution), point, s->execution[*ctxId], exactly)) {
			hpc_problem(c, p->db->name, at, "{Val}", "value",
				    "metric %s in context %u of profile %u: execution %.17g is "
				    "not point %.17g + children %.17g",
				    m->name, *ctxId, p->index, value_of(&cv, ids->execution), point,
				    s->execution[*ctxId]);
			return;
		}
		if (ids->function >= 0 && *ctxId != HPC_ROOT_CTX &&
		    !adds_up(value_of(&cv, ids->function), point, s->function[*ctxId], exactly)) {
			hpc_problem(c, p->db->name, at, "{Val}", "value",
				    "metric %s in context %u of profile %u: function %.17g is not "
				    "point %.17g + children %.17g",
				    m->name, *ctxId, p->index, value_of(&cv, ids->function), point,
				    s->function[*ctxId]);
			return;
		}
	}
}

static void clear_sums(struct sums *s)
{
	vec_each (ctxId, &s->touched)
		s->execution[*ctxId] = s->function[*ctxId] = 0;
	s->touched.n = 0;
}

/* Whether all contexts that ever had values are in the tree, as far as one can tell. */
static bool all_listed(const struct hpc_cct_db *db, const struct check_tree *tree)
{
	if (!tree->instructions)
		return false;
	for (uint32_t i = 0; i < db->nCtxs; i++)
		if (!check_tree_has(tree, i) &&
		    hpc_le64(db->bytes + db->pCtxs + (uint64_t)i * db->szCtx) != 0)
			return false;
	return true;
}

/* Reports the first context of each profile and metric whose sums are wrong. */
void check_scopes(struct hpc_check *c, const struct hpc_files *f, const struct check_tree *tree)
{
	const struct hpc_metrics *ms = &f->meta->metrics;
	bool exactly = all_listed(f->cct, tree);
	struct sums s = {.execution = xcalloc(tree->n + 1ull, sizeof(double)),
			 .function = xcalloc(tree->n + 1ull, sizeof(double))};

	for (uint32_t i = 0; i < f->profiles->nProfiles; i++) {
		struct hpc_profile p;

		if (hpc_profile_open(&p, f->profiles, i, NULL) < 0 || p.isSummary)
			continue;
		for (uint32_t m = 0; m < ms->n_metrics; m++) {
			const struct hpc_metric *metric = &ms->metrics[m];
			struct scope_ids ids = {scope_id(ms, metric, "point"),
						scope_id(ms, metric, "function"),
						scope_id(ms, metric, "execution")};

			if (ids.point < 0) /* its sums cannot be told */
				continue;
			add_up(c, &s, &p, tree, &ids);
			check_sums(c, &s, &p, metric, &ids, exactly);
			clear_sums(&s);
		}
	}
	free(s.execution);
	free(s.function);
	vec_release(&s.touched);
}
