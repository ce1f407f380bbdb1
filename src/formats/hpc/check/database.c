/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks what the files of a database say of each other, each of them being right by itself:
 *
 * - the ids that one file uses are those that another lists;
 * - cct.db is profile.db without its summary, transposed: the profiles are gone through once, and
 *   for each metric of each context a cursor in cct.db says which value must come next;
 * - there is a line for each profile but the summary, and its contexts exist.
 *
 * What values mean is checked in values.c.  Memory is some bytes for each context and each
 * metric of a context. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/vec.h"
#include "formats/hpc/check/check.h"
#include "formats/hpc/check/impl.h"

enum { SZ_PVAL = 10, SZ_CVAL = 12, SZ_CIDX = 10, SZ_ELEM = 12 };

/* A set of the 65536 metric ids. */
struct id_set {
	uint64_t bits[1024];
};

static void add_id(struct id_set *s, uint16_t id)
{
	s->bits[id / 64] |= 1ull << id % 64;
}

static bool has_id(const struct id_set *s, uint16_t id)
{
	return s->bits[id / 64] >> id % 64 & 1;
}

static void list_metrics(const struct hpc_metrics *ms, struct id_set *prop, struct id_set *stat)
{
	for (uint32_t i = 0; i < ms->n_metrics; i++) {
		const struct hpc_metric *m = &ms->metrics[i];

		for (unsigned k = 0; k < m->n_scopes; k++)
			add_id(prop, m->scopes[k].propMetricId);
		for (unsigned k = 0; k < m->n_summaries; k++)
			add_id(stat, m->summaries[k].statMetricId);
	}
}

static void check_tuple(struct hpc_check *c, const struct hpc_files *f, const struct hpc_profile *p)
{
	struct hpc_id ids[64];
	int n = hpc_profile_ids(p, ids, n_elems(ids), NULL);

	for (int i = 0; i < n && i < (int)n_elems(ids); i++)
		if (ids[i].kind >= f->meta->n_id_names)
			hpc_problem(c, p->db->name, p->pIdTuple + 8 + 16 * (uint64_t)i, "{Id}",
				    "kind", "%u, but %s names %u kinds", ids[i].kind, f->meta->name,
				    f->meta->n_id_names);
}

/* The metrics of profile.db's blocks; the first that is unknown in each block is reported. */
static void check_profile_ids(struct hpc_check *c, const struct hpc_files *f)
{
	struct id_set sets[2] = {0}; /* of other profiles; of the summary */

	list_metrics(&f->meta->metrics, &sets[0], &sets[1]);
	for (uint32_t i = 0; i < f->profiles->nProfiles; i++) {
		struct hpc_profile p;

		if (hpc_profile_open(&p, f->profiles, i, NULL) < 0)
			continue;
		check_tuple(c, f, &p);
		for (uint64_t k = 0; k < p.nValues; k++) {
			uint16_t id = hpc_le16(p.values + SZ_PVAL * k);

			if (has_id(&sets[p.isSummary], id))
				continue;
			hpc_problem(c, p.db->name, p.pValues + SZ_PVAL * k, "{Val}", "metricId",
				    "%s lists no %s %u", f->meta->name,
				    p.isSummary ? "statMetricId" : "propMetricId", id);
			break;
		}
	}
}

/* How far cct.db has been met while the profiles were gone through. */
struct transposed {
	const struct hpc_cct_db *cct;
	const char *profile_name;
	uint64_t *first; /* by ctxId: number of its first metric in next */
	uint64_t *next;	 /* by metric of a context: number of the value that comes next */
};

static void transposed_init(struct transposed *t, const struct hpc_files *f)
{
	const struct hpc_cct_db *cct = f->cct;
	uint64_t n = 0;

	*t = (struct transposed){.cct = cct, .profile_name = f->profiles->name};
	t->first = xcalloc(cct->nCtxs + 1ull, sizeof(*t->first));
	for (uint32_t i = 0; i < cct->nCtxs; i++) {
		t->first[i] = n;
		n += hpc_le16(cct->bytes + cct->pCtxs + (uint64_t)i * cct->szCtx + 0x10);
	}
	t->first[cct->nCtxs] = n;
	t->next = xcalloc(n + 1, sizeof(*t->next));
}

static void transposed_release(struct transposed *t)
{
	free(t->first);
	free(t->next);
}

/* Reports number NEXT of the values of a metric of context CTXID in cct.db,
 * which no profile has. */
static void report_extra(struct hpc_check *c, const struct transposed *t, uint32_t ctxId,
			 const struct hpc_metric_values *mv, uint64_t next)
{
	hpc_problem(c, t->cct->name, (uint64_t)(mv->values - t->cct->bytes) + SZ_CVAL * next,
		    "{Val}", "profIndex",
		    "%s has no such value of metric %u in context %u for profile %u",
		    t->profile_name, mv->metricId, ctxId, hpc_metric_value(mv, next).profIndex);
}

/* Steps over the value of metric number M of C that must be that of profile INDEX; one of profile 0
 * is returned when there is none. */
static struct hpc_profile_value database_step(struct hpc_check *c, struct transposed *t,
					      const struct hpc_cct *cct, uint32_t m, uint32_t index)
{
	uint64_t *next = &t->next[t->first[cct->ctxId] + m];
	struct hpc_profile_value v = {0};
	struct hpc_metric_values mv;

	if (hpc_cct_metric(cct, m, &mv, NULL) < 0)
		return v;
	for (; *next < mv.n; ++*next) {
		v = hpc_metric_value(&mv, *next);
		if (v.profIndex >= index)
			break;
		report_extra(c, t, cct->ctxId, &mv, *next);
	}
	if (*next == mv.n || v.profIndex != index)
		return (struct hpc_profile_value){0};
	++*next;
	return v;
}

/* Reports a value of P at AT unless another of P was reported, as *REPORTED says. */
static void report_value(struct hpc_check *c, const struct transposed *t,
			 const struct hpc_profile *p, uint32_t ctxId, const struct hpc_value *v,
			 const struct hpc_profile_value *have, uint64_t at, bool *reported)
{
	if (*reported)
		return;
	*reported = true;
	if (have->profIndex != p->index)
		hpc_problem(c, p->db->name, at, "{Val}", "value",
			    "%s has no value of metric %u in context %u for profile %u",
			    t->cct->name, v->metricId, ctxId, p->index);
	else
		hpc_problem(c, p->db->name, at + 2, "{Val}", "value",
			    "%.17g, but %.17g in %s (metric %u, context %u, profile %u)", v->value,
			    have->value, t->cct->name, v->metricId, ctxId, p->index);
}

/* Compares a context's values in profile P with what comes next in cct.db. */
static void compare_ctx(struct hpc_check *c, struct transposed *t, const struct hpc_profile *p,
			const struct hpc_ctx_values *cv, bool *reported)
{
	struct hpc_cct cct;
	uint32_t m = 0;

	if (hpc_cct_open(&cct, t->cct, cv->ctxId, NULL) < 0)
		return;
	for (uint64_t i = 0; i < cv->n; i++) {
		struct hpc_value v = hpc_ctx_value(cv, i);
		uint64_t at = p->pValues + (uint64_t)(cv->values - p->values) + SZ_PVAL * i;
		struct hpc_profile_value have = {0};

		while (m < cct.nMetrics &&
		       hpc_le16(cct.metricIndices + (size_t)SZ_CIDX * m) < v.metricId)
			m++;
		if (m < cct.nMetrics &&
		    hpc_le16(cct.metricIndices + (size_t)SZ_CIDX * m) == v.metricId)
			have = database_step(c, t, &cct, m, p->index);
		if (have.profIndex != p->index ||
		    memcmp(&have.value, &v.value, sizeof(v.value)) != 0)
			report_value(c, t, p, cv->ctxId, &v, &have, at, reported);
	}
}

/* What cct.db has behind the last of the profiles; the first of each context. */
static void check_rest(struct hpc_check *c, const struct transposed *t)
{
	for (uint32_t i = 0; i < t->cct->nCtxs; i++) {
		struct hpc_cct cct;
		struct hpc_metric_values mv;

		if (hpc_cct_open(&cct, t->cct, i, NULL) < 0)
			continue;
		for (uint32_t m = 0; m < cct.nMetrics; m++) {
			uint64_t next = t->next[t->first[i] + m];

			if (hpc_cct_metric(&cct, m, &mv, NULL) < 0 || next >= mv.n)
				continue;
			report_extra(c, t, i, &mv, next);
			break;
		}
	}
}

/* Reports the first value of each profile that differs. */
static void check_transposed(struct hpc_check *c, const struct hpc_files *f)
{
	struct transposed t;

	transposed_init(&t, f);
	for (uint32_t i = 0; i < f->profiles->nProfiles; i++) {
		struct hpc_ctx_values cv;
		struct hpc_profile p;
		bool reported = false;

		if (hpc_profile_open(&p, f->profiles, i, NULL) < 0 || p.isSummary)
			continue;
		for (uint32_t k = 0; k < p.nCtxs; k++)
			if (hpc_profile_ctx(&p, k, &cv, NULL) >= 0)
				compare_ctx(c, &t, &p, &cv, &reported);
	}
	check_rest(c, &t);
	transposed_release(&t);
}

static void check_traces(struct hpc_check *c, const struct hpc_files *f,
			 const struct check_tree *tree)
{
	const struct hpc_trace_db *db = f->trace;

	if (db->nTraces + 1ull != f->profiles->nProfiles)
		hpc_problem(c, db->name, db->pHeaders + 0x08, "Trace Headers", "nTraces",
			    "%u, but %s has %u profiles with the summary", db->nTraces,
			    f->profiles->name, f->profiles->nProfiles);
	for (uint32_t i = 0; i < db->nTraces; i++) {
		struct hpc_trace t;

		if (hpc_trace_open(&t, db, i, NULL) < 0)
			continue;
		if (t.profIndex == HPC_SUMMARY_PROFILE || t.profIndex >= f->profiles->nProfiles)
			hpc_problem(c, db->name, db->pTraces + (uint64_t)i * db->szTrace, "{TH}",
				    "profIndex", "%u is no profile of a thread", t.profIndex);
		for (uint64_t k = 0; k < t.n; k++) {
			uint32_t ctxId = hpc_trace_elem(&t, k).ctxId;

			if (check_tree_has(tree, ctxId) || ctxId < f->cct->nCtxs)
				continue;
			hpc_problem(c, db->name, t.pStart + SZ_ELEM * k + 8, "{Elem}", "ctxId",
				    "neither %s nor %s lists %u", f->meta->name, f->cct->name,
				    ctxId);
			break;
		}
	}
}

static int compare_ids(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

void check_tree_init(struct check_tree *t, const struct hpc_meta *meta, uint32_t n_ctxs)
{
	VEC(uint32_t) path = {0}; /* ctxIds from the root to the last context */
	struct hpc_walk walk;
	struct hpc_ctx ctx;
	size_t depth;

	*t = (struct check_tree){.n = n_ctxs};
	t->of = xcalloc(n_ctxs + 1ull, sizeof(*t->of));
	for (uint32_t i = 0; i < n_ctxs; i++)
		t->of[i].parent = HPC_NONE;
	hpc_walk_begin(&walk, meta);
	while (hpc_walk_next(&walk, &ctx, &depth, NULL) > 0) {
		path.n = depth;
		t->instructions |= ctx.lexicalType == HPC_INSTRUCTION && !ctx.isEntry;
		if (ctx.ctxId < n_ctxs)
			t->of[ctx.ctxId] = (struct check_place){.parent = depth ? path.v[depth - 1]
										: HPC_ROOT_CTX,
								.relation = ctx.relation,
								.lexicalType = ctx.lexicalType,
								.isEntry = ctx.isEntry};
		else
			vec_push(&t->others, ctx.ctxId);
		vec_push(&path, ctx.ctxId);
	}
	hpc_walk_release(&walk);
	vec_release(&path);
	vec_sort(&t->others, compare_ids);
}

bool check_tree_has(const struct check_tree *t, uint32_t ctxId)
{
	if (ctxId == HPC_ROOT_CTX)
		return true;
	if (ctxId < t->n)
		return t->of[ctxId].parent != HPC_NONE;
	return t->others.n &&
	       bsearch(&ctxId, t->others.v, t->others.n, sizeof(ctxId), compare_ids) != NULL;
}

void check_tree_release(struct check_tree *t)
{
	free(t->of);
	vec_release(&t->others);
}

void hpc_check_database(struct hpc_check *c, const struct hpc_files *f)
{
	struct check_tree tree;
	uint64_t before = c->n_problems;

	check_profile_ids(c, f);
	check_transposed(c, f);
	check_tree_init(&tree, f->meta, f->cct->nCtxs);
	if (f->trace)
		check_traces(c, f, &tree);
	if (c->n_problems == before) {
		check_summaries(c, f, &tree);
		check_scopes(c, f, &tree);
	}
	check_tree_release(&tree);
}
