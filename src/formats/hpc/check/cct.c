/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks a cct.db: FORMATS.md 4.0, "cct.db version 4.0", all that it says of the file by itself.
 * As profile.c. */
#include <inttypes.h>

#include "formats/hpc/cct.h"
#include "formats/hpc/check/file.h"

enum { SZ_INFO_HDR = 0x0d, SZ_CI = 0x20, SZ_VAL = 12, SZ_IDX = 10 };
enum { BLOCK_GAP_MAX = 8 }; /* padding between values and metric indices */

/* The values of one metric: profiles rise and are no summary, none is zero. */
static bool check_values(struct hpc_file_check *x, const struct hpc_metric_values *m)
{
	uint32_t last = HPC_SUMMARY_PROFILE;

	for (uint64_t i = 0; i < m->n; i++) {
		struct hpc_profile_value v = hpc_metric_value(m, i);
		uint64_t at = (uint64_t)(m->values - x->bytes) + SZ_VAL * i;

		if (v.profIndex <= last) {
			hpc_file_problem(x, at, "{Val}", "profIndex", "%u comes after %u",
					 v.profIndex, last);
			return false;
		}
		if (v.value == 0) {
			hpc_file_problem(x, at + 4, "{Val}", "value", "is zero");
			return false;
		}
		last = v.profIndex;
	}
	return true;
}

static void check_metrics(struct hpc_file_check *x, uint64_t at, const struct hpc_cct *c)
{
	int last = -1;

	if (c->nMetrics == 0 && c->nValues)
		hpc_file_problem(x, at + 0x10, "{CI}", "nMetrics",
				 "0, but there are %" PRIu64 " values", c->nValues);
	for (uint32_t i = 0; i < c->nMetrics; i++) {
		uint64_t idx = c->pMetricIndices + (uint64_t)SZ_IDX * i;
		uint64_t start = hpc_le64(x->bytes + idx + 2);
		struct hpc_metric_values m;

		if (hpc_cct_metric(c, i, &m, NULL) < 0 || (i == 0 && start != 0) || m.n == 0) {
			hpc_file_problem(x, idx + 2, "{Idx}", "startIndex",
					 "%" PRIu64
					 " does not begin the values of metric number %u "
					 "of %" PRIu64 " values",
					 start, i, c->nValues);
			return;
		}
		if (m.metricId <= last) {
			hpc_file_problem(x, idx, "{Idx}", "metricId", "%u comes after %d",
					 m.metricId, last);
			return;
		}
		last = m.metricId;
		if (!check_values(x, &m))
			return;
	}
}

static void check_ctx(struct hpc_file_check *x, const struct hpc_cct_db *db, uint32_t ctxId)
{
	uint64_t at = db->pCtxs + (uint64_t)ctxId * db->szCtx;
	const uint8_t *ci = x->bytes + at;
	uint64_t nValues = hpc_le64(ci), end;
	uint16_t nMetrics = hpc_le16(ci + 0x10);
	struct hpc_cct c;
	/* The page's alignments of the two, (2) and (4), are those of profile.db; a u32 comes first
	 * in the values and a u16 in the indices (observed: hpcprof aligns so). */
	bool ok = hpc_file_check_block(x, at + 0x08, nValues, SZ_VAL, 4, "{CI}", "pValues");

	if (!hpc_file_check_block(x, at + 0x18, nMetrics, SZ_IDX, 2, "{CI}", "pMetricIndices"))
		ok = false;
	if (!ok || hpc_cct_open(&c, db, ctxId, NULL) < 0)
		return;
	end = c.pValues + SZ_VAL * nValues;
	if (nValues && nMetrics &&
	    (c.pMetricIndices < end || c.pMetricIndices - end >= BLOCK_GAP_MAX))
		hpc_file_problem(x, at + 0x18, "{CI}", "pMetricIndices",
				 "%#" PRIx64 " does not follow the values, which end at %#" PRIx64,
				 c.pMetricIndices, end);
	check_metrics(x, at, &c);
}

void hpc_check_cct(struct hpc_check *c, const void *bytes, size_t n_bytes, const char *name)
{
	struct hpc_file_check x;
	struct hpc_cct_db db;
	struct err err;

	if (!hpc_file_check_begin(&x, &hpc_cct_frame, c, bytes, n_bytes, name))
		return;
	if (hpc_file_check_section(&x, 0x10, "szCtxInfo", "pCtxInfo", SZ_INFO_HDR)) {
		uint32_t n = hpc_file_check_table(&x, "Context Info", "szCtx", "pCtxs", SZ_CI);

		if (n && hpc_cct_db_open(&db, bytes, n_bytes, name, &err) >= 0)
			for (uint32_t i = 0; i < n; i++)
				check_ctx(&x, &db, i);
	}
	hpc_file_check_end(&x);
}
