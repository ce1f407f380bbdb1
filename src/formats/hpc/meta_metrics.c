/* SPDX-License-Identifier: BSD-2-Clause */
/* The performance metrics section of a meta.db, in either layout.
 *
 * In the released layout scopes are a table of their own, and a metric has a list of its instances
 * of scopes and a list of summaries, each of which points at its scope.  In the page layout a
 * metric has a list of scopes with names, and each of these a list of summaries.  Both become a
 * table of scopes and metrics with two lists; of the page's scopes those of one name are one.
 *
 * Lists of different metrics must not share bytes: their sum is held against the section's size,
 * which bounds memory by the size of the file. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "formats/hpc/meta_impl.h"

static const char metrics_name[] = "Performance Metrics";

struct metrics_reader {
	const struct hpc_meta *m;
	const struct hpc_section *s;
	struct arena *arena;
	struct err *err;
	struct hpc_array metrics, scopes; /* scopes: released layout */
	uint32_t sz_scope, sz_summary; /* strides; sz_scope is szScopeInst or the page's szScope */
	uint64_t left;		       /* bytes of lists that can still come */
	VEC(struct hpc_scope) found;   /* page layout */
	struct index names;
};

/* FORMATS.md "Performance Metrics section"; the released header is longer: pScopes 10, nScopes 18,
 * szScope 1a.  Sizes are 32, 16, 24 in the released layout, 24, 24, 16 in the page's.  Should both
 * have grown, the header decides: it ends before the array of metrics begins, and only the released
 * one points at scopes. */
enum hpc_layout hpc_meta_layout(const struct hpc_meta *m)
{
	const struct hpc_section *s = &m->sections[HPC_META_METRICS];
	unsigned sz_metric, sz_scope, sz_summary;
	struct hpc_array scopes = {0};
	uint64_t p_metrics;
	struct rd r;

	if (s->sz < METRICS_HEADER_PAGE)
		return HPC_RELEASED;
	r = hpc_meta_rd(m, s->p, s->sz);
	p_metrics = rd_le64(&r);
	rd_le32(&r);
	sz_metric = rd_u8(&r);
	sz_scope = rd_u8(&r);
	sz_summary = rd_u8(&r);
	if (sz_metric == SZ_METRIC && sz_scope == SZ_SCOPE_INST && sz_summary == SZ_SUMMARY)
		return HPC_RELEASED;
	if (sz_metric == SZ_METRIC_PAGE && sz_scope == SZ_SCOPE_PAGE &&
	    sz_summary == SZ_SUMMARY_PAGE)
		return HPC_PAGE;
	rd_u8(&r);
	scopes.p = rd_le64(&r);
	scopes.n = rd_le16(&r);
	scopes.stride = rd_u8(&r);
	if (r.bad || sz_metric < SZ_METRIC || sz_summary < SZ_SUMMARY)
		return HPC_PAGE;
	if (p_metrics >= s->p && p_metrics < s->p + METRICS_HEADER)
		return HPC_PAGE;
	if (scopes.stride < SZ_SCOPE ||
	    !hpc_section_holds(s, scopes.p, (uint64_t)scopes.n * scopes.stride))
		return HPC_PAGE;
	return HPC_RELEASED;
}

/* A list of N elements at P that hangs on a metric. */
static int take_list(struct metrics_reader *mr, uint64_t p, uint32_t n, uint32_t stride,
		     uint32_t least, uint64_t at, const char *structure, const char *field)
{
	const struct hpc_array a = {.p = p, .n = n, .stride = stride};
	int rc = hpc_meta_array(mr->m, HPC_META_METRICS, &a, least, at, structure, field, mr->err);

	if (rc < 0)
		return rc;
	if ((uint64_t)n * stride > mr->left)
		return hpc_bad(mr->err, mr->m->name, at, structure, field,
			       "lists of metrics overlap");
	mr->left -= (uint64_t)n * stride;
	return 0;
}

static int meta_metrics_text(struct metrics_reader *mr, uint64_t p, uint64_t at,
			     const char *structure, const char *field, const char **ret)
{
	return hpc_meta_text(mr->m, HPC_META_METRICS, p, at, structure, field, ret, mr->err);
}

/* Released layout: pointer to a scope. */
static int scope_number(struct metrics_reader *mr, uint64_t p, uint64_t at, const char *structure,
			uint16_t *ret)
{
	uint32_t i = HPC_NONE;
	int rc = hpc_meta_number(mr->m, &mr->scopes, p, at, structure, "pScope", &i, mr->err);

	if (rc >= 0 && i == HPC_NONE)
		rc = hpc_bad(mr->err, mr->m->name, at, structure, "pScope", "points at no scope");
	*ret = (uint16_t)i;
	return rc;
}

static int read_scopes(struct metrics_reader *mr, struct hpc_metrics *ret)
{
	ret->n_scopes = mr->scopes.n;
	ret->scopes = arena_alloc(mr->arena, mr->scopes.n * sizeof(*ret->scopes));
	for (uint32_t i = 0; i < mr->scopes.n; i++) {
		uint64_t at = mr->scopes.p + (uint64_t)i * mr->scopes.stride;
		struct rd r = hpc_meta_rd(mr->m, at, mr->scopes.stride);
		struct hpc_scope *s = &ret->scopes[i];
		int rc = meta_metrics_text(mr, rd_le64(&r), at, "{PS}", "pScopeName", &s->name);

		if (rc < 0)
			return rc;
		s->type = rd_u8(&r);
		s->propagationIndex = rd_u8(&r);
	}
	return 0;
}

static int read_metric(struct metrics_reader *mr, uint64_t at, struct hpc_metric *ret)
{
	struct rd r = hpc_meta_rd(mr->m, at, mr->metrics.stride);
	uint64_t p_name = rd_le64(&r), p_scopes = rd_le64(&r), p_summaries = rd_le64(&r);
	int rc = meta_metrics_text(mr, p_name, at, "{MD}", "pName", &ret->name);

	ret->n_scopes = rd_le16(&r);
	ret->n_summaries = rd_le16(&r);
	if (rc >= 0)
		rc = take_list(mr, p_scopes, ret->n_scopes, mr->sz_scope, SZ_SCOPE_INST, at + 0x08,
			       "{MD}", "pScopeInsts");
	if (rc >= 0)
		rc = take_list(mr, p_summaries, ret->n_summaries, mr->sz_summary, SZ_SUMMARY,
			       at + 0x10, "{MD}", "pSummaries");
	if (rc < 0)
		return rc;
	ret->scopes = arena_alloc(mr->arena, ret->n_scopes * sizeof(*ret->scopes));
	ret->summaries = arena_alloc(mr->arena, ret->n_summaries * sizeof(*ret->summaries));
	for (uint32_t i = 0; i < ret->n_scopes && rc >= 0; i++) {
		uint64_t p = p_scopes + (uint64_t)i * mr->sz_scope;

		r = hpc_meta_rd(mr->m, p, mr->sz_scope);
		rc = scope_number(mr, rd_le64(&r), p, "{PSI}", &ret->scopes[i].scope);
		ret->scopes[i].propMetricId = rd_le16(&r);
	}
	for (uint32_t i = 0; i < ret->n_summaries && rc >= 0; i++) {
		uint64_t p = p_summaries + (uint64_t)i * mr->sz_summary;
		struct hpc_summary *s = &ret->summaries[i];

		r = hpc_meta_rd(mr->m, p, mr->sz_summary);
		rc = scope_number(mr, rd_le64(&r), p, "{SS}", &s->scope);
		if (rc >= 0)
			rc = meta_metrics_text(mr, rd_le64(&r), p + 8, "{SS}", "pFormula",
					       &s->formula);
		s->combine = rd_u8(&r);
		rd_u8(&r);
		s->statMetricId = rd_le16(&r);
	}
	return rc;
}

static bool same_scope(const void *owner, uint32_t i, const void *key)
{
	const struct metrics_reader *mr = owner;

	return strcmp(mr->found.v[i].name, key) == 0;
}

/* Page layout: the scope called NAME; its type is the one HPCToolkit gives that name (observed in
 * databases of the released layout). */
static int intern_scope(struct metrics_reader *mr, const char *name, uint64_t at, uint16_t *ret)
{
	static const struct hpc_scope known[] = {
		{"point", HPC_SCOPE_POINT, UINT8_MAX},
		{"execution", HPC_SCOPE_EXECUTION, UINT8_MAX},
		{"function", HPC_SCOPE_TRANSITIVE, 0},
	};
	struct hpc_scope s = {name, HPC_SCOPE_CUSTOM, UINT8_MAX};
	uint64_t hash = hash_str(name);
	uint32_t i = index_find(&mr->names, hash, same_scope, mr, name);

	if (i == INDEX_NONE) {
		if (mr->found.n == UINT16_MAX)
			return hpc_bad(mr->err, mr->m->name, at, "{PS}", "pScope",
				       "more than 65535 scopes");
		for (size_t k = 0; k < n_elems(known); k++)
			if (strcmp(known[k].name, name) == 0)
				s = (struct hpc_scope){name, known[k].type,
						       known[k].propagationIndex};
		i = (uint32_t)mr->found.n;
		vec_push(&mr->found, s);
		index_add(&mr->names, hash, i);
	}
	*ret = (uint16_t)i;
	return 0;
}

/* One scope of a metric; appends its summaries. */
static int read_page_scope(struct metrics_reader *mr, uint64_t at, struct hpc_scope_inst *ret,
			   struct hpc_summary *summaries)
{
	struct rd r = hpc_meta_rd(mr->m, at, mr->sz_scope);
	const char *name;
	uint64_t p_name = rd_le64(&r), p;
	uint32_t n = rd_le16(&r);
	int rc = meta_metrics_text(mr, p_name, at, "{PS}", "pScope", &name);

	ret->propMetricId = rd_le16(&r);
	rd_le32(&r);
	p = rd_le64(&r);
	if (rc >= 0)
		rc = intern_scope(mr, name, at, &ret->scope);
	for (uint32_t i = 0; i < n && rc >= 0; i++, p += mr->sz_summary) {
		struct hpc_summary *s = &summaries[i];

		r = hpc_meta_rd(mr->m, p, mr->sz_summary);
		rc = meta_metrics_text(mr, rd_le64(&r), p, "{SS}", "pFormula", &s->formula);
		s->combine = rd_u8(&r);
		rd_u8(&r);
		s->statMetricId = rd_le16(&r);
		s->scope = ret->scope;
	}
	return rc;
}

static int read_page_metric(struct metrics_reader *mr, uint64_t at, struct hpc_metric *ret)
{
	struct rd r = hpc_meta_rd(mr->m, at, mr->metrics.stride);
	uint64_t p_name = rd_le64(&r), p_scopes, p;
	uint32_t n = 0;
	int rc = meta_metrics_text(mr, p_name, at, "{MD}", "pName", &ret->name);

	ret->n_scopes = rd_le16(&r);
	rd_bytes(&r, 6);
	p_scopes = rd_le64(&r);
	if (rc >= 0)
		rc = take_list(mr, p_scopes, ret->n_scopes, mr->sz_scope, SZ_SCOPE_PAGE, at + 0x10,
			       "{MD}", "pScopes");
	p = p_scopes;
	for (uint32_t i = 0; i < ret->n_scopes && rc >= 0; i++, p += mr->sz_scope) {
		uint32_t n_summaries;

		r = hpc_meta_rd(mr->m, p, mr->sz_scope);
		rd_le64(&r);
		n_summaries = rd_le16(&r);
		rd_bytes(&r, 6);
		rc = take_list(mr, rd_le64(&r), n_summaries, mr->sz_summary, SZ_SUMMARY_PAGE,
			       p + 0x10, "{PS}", "pSummaries");
		n += n_summaries;
	}
	if (rc < 0)
		return rc;
	ret->scopes = arena_alloc(mr->arena, ret->n_scopes * sizeof(*ret->scopes));
	ret->summaries = arena_alloc(mr->arena, n * sizeof(*ret->summaries));
	for (uint32_t i = 0; i < ret->n_scopes && rc >= 0; i++) {
		p = p_scopes + (uint64_t)i * mr->sz_scope;
		rc = read_page_scope(mr, p, &ret->scopes[i], ret->summaries + ret->n_summaries);
		r = hpc_meta_rd(mr->m, p + 8, 2);
		ret->n_summaries += rd_le16(&r);
	}
	return rc;
}

static int read_header(struct metrics_reader *mr, bool page)
{
	struct rd r = hpc_meta_rd(mr->m, mr->s->p, mr->s->sz);
	int rc;

	if (mr->s->sz < (page ? METRICS_HEADER_PAGE : METRICS_HEADER))
		return hpc_bad(mr->err, mr->m->name, mr->s->p, metrics_name, "",
			       "the section ends in its header");
	mr->metrics.p = rd_le64(&r);
	mr->metrics.n = rd_le32(&r);
	mr->metrics.stride = rd_u8(&r);
	mr->sz_scope = rd_u8(&r);
	mr->sz_summary = rd_u8(&r);
	mr->left = mr->s->sz;
	rc = hpc_meta_array(mr->m, HPC_META_METRICS, &mr->metrics,
			    page ? SZ_METRIC_PAGE : SZ_METRIC, mr->s->p, metrics_name, "pMetrics",
			    mr->err);
	if (rc < 0 || page)
		return rc;
	rd_u8(&r);
	mr->scopes.p = rd_le64(&r);
	mr->scopes.n = rd_le16(&r);
	mr->scopes.stride = rd_u8(&r);
	return hpc_meta_array(mr->m, HPC_META_METRICS, &mr->scopes, SZ_SCOPE, mr->s->p + 0x10,
			      metrics_name, "pScopes", mr->err);
}

int hpc_meta_read_metrics(const struct hpc_meta *m, struct arena *a, struct hpc_metrics *ret,
			  struct err *err)
{
	struct metrics_reader mr = {
		.m = m, .s = &m->sections[HPC_META_METRICS], .arena = a, .err = err};
	bool page = m->layout == HPC_PAGE;
	struct hpc_metrics ms = {0};
	int rc;

	if (!mr.s->sz) {
		*ret = ms;
		return 0;
	}
	rc = read_header(&mr, page);
	if (rc == 0 && !page)
		rc = read_scopes(&mr, &ms);
	if (rc == 0) {
		ms.n_metrics = mr.metrics.n;
		ms.metrics = arena_alloc(a, ms.n_metrics * sizeof(*ms.metrics));
	}
	for (uint32_t i = 0; i < ms.n_metrics && rc == 0; i++) {
		uint64_t at = mr.metrics.p + (uint64_t)i * mr.metrics.stride;

		ms.metrics[i] = (struct hpc_metric){0};
		rc = (page ? read_page_metric : read_metric)(&mr, at, &ms.metrics[i]);
	}
	if (rc == 0 && page) {
		ms.n_scopes = (uint32_t)mr.found.n;
		ms.scopes = arena_alloc(a, ms.n_scopes * sizeof(*ms.scopes));
		if (ms.n_scopes)
			memcpy(ms.scopes, mr.found.v, ms.n_scopes * sizeof(*ms.scopes));
	}
	vec_release(&mr.found);
	index_release(&mr.names);
	if (rc == 0)
		*ret = ms;
	return rc;
}

bool hpc_metrics_find_prop(const struct hpc_metrics *ms, uint16_t propMetricId,
			   const struct hpc_metric **ret_metric,
			   const struct hpc_scope_inst **ret_inst)
{
	for (uint32_t i = 0; i < ms->n_metrics; i++) {
		const struct hpc_metric *metric = &ms->metrics[i];

		for (uint32_t k = 0; k < metric->n_scopes; k++) {
			if (metric->scopes[k].propMetricId != propMetricId)
				continue;
			*ret_metric = metric;
			*ret_inst = &metric->scopes[k];
			return true;
		}
	}
	return false;
}

const struct hpc_scope_inst *hpc_metric_scope(const struct hpc_metrics *ms,
					      const struct hpc_metric *metric, const char *name)
{
	for (uint32_t i = 0; i < metric->n_scopes; i++)
		if (strcmp(ms->scopes[metric->scopes[i].scope].name, name) == 0)
			return &metric->scopes[i];
	return NULL;
}

const struct hpc_summary *hpc_metric_summary(const struct hpc_metrics *ms,
					     const struct hpc_metric *metric, const char *name,
					     const char *formula, enum hpc_combine combine)
{
	for (uint32_t i = 0; i < metric->n_summaries; i++) {
		const struct hpc_summary *s = &metric->summaries[i];

		if (s->combine == combine && strcmp(s->formula, formula) == 0 &&
		    strcmp(ms->scopes[s->scope].name, name) == 0)
			return s;
	}
	return NULL;
}
