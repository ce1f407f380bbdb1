/* SPDX-License-Identifier: BSD-2-Clause */
/* A cct.db as text: headers, then each context with its metrics and values; contexts without values
 * by their number only. */
#include <errno.h>
#include <inttypes.h>

#include "formats/hpc/cct.h"
#include "formats/hpc/dump.h"

enum { SZ_VAL = 12, SZ_IDX = 10 };

static void dump_header(struct hpc_dump *d, const struct hpc_cct_db *db)
{
	hpc_dump_structure(d, 0, "cct.db", HPC_NONE);
	hpc_dump_field(d, 0, "magic", "%.14s", (const char *)db->bytes);
	hpc_dump_field(d, 0x0e, "majorVersion", "%u", db->majorVersion);
	hpc_dump_field(d, 0x0f, "minorVersion", "%u", db->minorVersion);
	hpc_dump_field(d, 0x10, "szCtxInfo", "%#" PRIx64, db->szCtxInfo);
	hpc_dump_field(d, 0x18, "pCtxInfo", "%#" PRIx64, db->pCtxInfo);
	hpc_dump_structure(d, db->pCtxInfo, "Context Info", HPC_NONE);
	hpc_dump_field(d, db->pCtxInfo, "pCtxs", "%#" PRIx64, db->pCtxs);
	hpc_dump_field(d, db->pCtxInfo + 0x08, "nCtxs", "%u", db->nCtxs);
	hpc_dump_field(d, db->pCtxInfo + 0x0c, "szCtx", "%u", db->szCtx);
}

static int dump_metric(struct hpc_dump *d, const struct hpc_cct *c, uint32_t i, struct err *err)
{
	uint64_t at = c->pMetricIndices + (uint64_t)SZ_IDX * i;
	struct hpc_metric_values m;
	int rc = hpc_cct_metric(c, i, &m, err);

	if (rc < 0)
		return rc;
	hpc_dump_structure(d, at, "{Idx}", i);
	hpc_dump_field(d, at, "metricId", "%u", m.metricId);
	hpc_dump_field(d, at + 2, "startIndex", "%" PRIu64, hpc_le64(c->db->bytes + at + 2));
	for (uint64_t k = 0; k < m.n && d->failed >= 0; k++) {
		struct hpc_profile_value v = hpc_metric_value(&m, k);

		hpc_dump_field(d, (uint64_t)(m.values - c->db->bytes) + SZ_VAL * k, "profIndex",
			       "%u value %.17g", v.profIndex, v.value);
	}
	return 0;
}

static int dump_ctx(struct hpc_dump *d, const struct hpc_cct_db *db, uint32_t ctxId,
		    struct err *err)
{
	uint64_t at = db->pCtxs + (uint64_t)ctxId * db->szCtx;
	struct hpc_cct c;
	int rc;

	hpc_dump_structure(d, at, "{CI}", ctxId);
	rc = hpc_cct_open(&c, db, ctxId, err);
	if (rc < 0)
		return rc;
	hpc_dump_field(d, at, "nValues", "%" PRIu64, c.nValues);
	if (c.nValues == 0 && c.nMetrics == 0)
		return 0;
	hpc_dump_field(d, at + 0x08, "pValues", "%#" PRIx64, c.pValues);
	hpc_dump_field(d, at + 0x10, "nMetrics", "%u", c.nMetrics);
	hpc_dump_field(d, at + 0x18, "pMetricIndices", "%#" PRIx64, c.pMetricIndices);
	for (uint32_t i = 0; i < c.nMetrics && d->failed >= 0 && rc >= 0; i++)
		rc = dump_metric(d, &c, i, err);
	return rc;
}

int hpc_cct_dump(struct hpc_dump *d, const void *bytes, size_t n_bytes, const char *name,
		 struct err *err)
{
	struct hpc_cct_db db;
	int rc = hpc_cct_db_open(&db, bytes, n_bytes, name, err);

	if (rc < 0)
		return rc;
	dump_header(d, &db);
	for (uint32_t i = 0; i < db.nCtxs && d->failed >= 0; i++) {
		rc = dump_ctx(d, &db, i, err);
		if (rc < 0)
			return rc;
	}
	hpc_dump_structure(d, n_bytes - 8, "footer", HPC_NONE);
	return d->failed < 0 ? d->failed : 0;
}
