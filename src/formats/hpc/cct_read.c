/* SPDX-License-Identifier: BSD-2-Clause */
/* See cct.h.  Opening reads the headers.  Everything else is decoded where it lies when it is asked
 * for, from bytes that were checked to lie in the file. */
#include "formats/hpc/cct.h"

#include <errno.h>
#include <inttypes.h>

#include "base/lower_bound.h"
#include "formats/hpc/frame.h"

/* FORMATS.md 4.0, "cct.db Context Info section". */
enum { SZ_VAL = 12, SZ_IDX = 10 };

int hpc_cct_db_open(struct hpc_cct_db *ret, const void *bytes, size_t n_bytes, const char *name,
		    struct err *err)
{
	struct hpc_cct_db db = {.bytes = bytes, .n_bytes = n_bytes, .name = name};
	struct hpc_list s;
	int rc = hpc_list_open(&hpc_cct_frame, bytes, n_bytes, name, &s, err);

	if (rc < 0)
		return rc;
	db.majorVersion = s.major;
	db.minorVersion = s.minor;
	db.szCtxInfo = s.sz;
	db.pCtxInfo = s.p;
	db.pCtxs = s.array;
	db.nCtxs = s.n;
	db.szCtx = s.elem;
	*ret = db;
	return 0;
}

int hpc_cct_open(struct hpc_cct *ret, const struct hpc_cct_db *db, uint32_t ctxId, struct err *err)
{
	uint64_t at = db->pCtxs + (uint64_t)ctxId * db->szCtx;
	struct hpc_cct c = {
		.db = db, .ctxId = ctxId, .values = db->bytes, .metricIndices = db->bytes};
	const uint8_t *ci;

	if (ctxId >= db->nCtxs) {
		*ret = c;
		return 0;
	}
	ci = db->bytes + at;
	c.nValues = hpc_le64(ci);
	c.pValues = hpc_le64(ci + 0x08);
	c.nMetrics = hpc_le16(ci + 0x10);
	c.pMetricIndices = hpc_le64(ci + 0x18);
	if (c.nValues && !hpc_lies_within(db->n_bytes, c.pValues, c.nValues, SZ_VAL))
		return hpc_bad(err, db->name, at + 0x08, "{CI}", "pValues",
			       "%#" PRIx64 ": %" PRIu64 " values do not lie in the file", c.pValues,
			       c.nValues);
	if (c.nMetrics && !hpc_lies_within(db->n_bytes, c.pMetricIndices, c.nMetrics, SZ_IDX))
		return hpc_bad(err, db->name, at + 0x18, "{CI}", "pMetricIndices",
			       "%#" PRIx64 ": %u metrics do not lie in the file", c.pMetricIndices,
			       c.nMetrics);
	if (c.nValues)
		c.values = db->bytes + c.pValues;
	if (c.nMetrics)
		c.metricIndices = db->bytes + c.pMetricIndices;
	*ret = c;
	return 0;
}

int hpc_cct_metric(const struct hpc_cct *c, uint32_t i, struct hpc_metric_values *ret,
		   struct err *err)
{
	const uint8_t *idx;
	uint64_t start, end;

	if (i >= c->nMetrics)
		return err_set(err, -ENOENT, "%s: context %u has no metric number %u", c->db->name,
			       c->ctxId, i);
	idx = c->metricIndices + (size_t)SZ_IDX * i;
	start = hpc_le64(idx + 2);
	end = i + 1u < c->nMetrics ? hpc_le64(idx + SZ_IDX + 2) : c->nValues;
	if (start > end || end > c->nValues)
		return hpc_bad(err, c->db->name, c->pMetricIndices + (uint64_t)SZ_IDX * i + 2,
			       "{Idx}", "startIndex",
			       "%" PRIu64 " to %" PRIu64 " is no range of %" PRIu64 " values",
			       start, end, c->nValues);
	*ret = (struct hpc_metric_values){hpc_le16(idx), end - start, c->values + SZ_VAL * start};
	return 0;
}

int hpc_cct_find_metric(const struct hpc_cct *c, uint16_t metricId, struct hpc_metric_values *ret,
			struct err *err)
{
	uint32_t at = lower_bound(i, 0, c->nMetrics,
				  hpc_le16(c->metricIndices + (size_t)SZ_IDX * i) < metricId);

	if (at < c->nMetrics && hpc_le16(c->metricIndices + (size_t)SZ_IDX * at) == metricId)
		return hpc_cct_metric(c, at, ret, err);
	*ret = (struct hpc_metric_values){metricId, 0, c->values};
	return 0;
}

double hpc_metric_values_find(const struct hpc_metric_values *m, uint32_t profIndex)
{
	uint64_t at = lower_bound(i, 0, m->n, hpc_metric_value(m, i).profIndex < profIndex);

	if (at == m->n || hpc_metric_value(m, at).profIndex != profIndex)
		return 0;
	return hpc_metric_value(m, at).value;
}

void hpc_metric_values_spread(const struct hpc_metric_values *m, double *values,
			      uint32_t n_profiles)
{
	memset(values, 0, n_profiles * sizeof(*values));
	for (uint64_t i = 0; i < m->n; i++) {
		struct hpc_profile_value v = hpc_metric_value(m, i);

		if (v.profIndex < n_profiles)
			values[v.profIndex] = v.value;
	}
}

int hpc_cct_value(const struct hpc_cct_db *db, uint32_t ctxId, uint16_t metricId,
		  uint32_t profIndex, double *ret_value, struct err *err)
{
	struct hpc_metric_values m;
	struct hpc_cct c;
	int rc = hpc_cct_open(&c, db, ctxId, err);

	if (rc >= 0)
		rc = hpc_cct_find_metric(&c, metricId, &m, err);
	if (rc >= 0)
		*ret_value = hpc_metric_values_find(&m, profIndex);
	return rc;
}
