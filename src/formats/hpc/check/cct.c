/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks a cct.db: FORMATS.md 4.0, "cct.db version 4.0", all that it says of the file by itself.
 * Only the first break of an array's order is reported: what follows could be its consequence. */
#include <inttypes.h>

#include "formats/hpc/cct.h"
#include "formats/hpc/check/file.h"

enum { SZ_INFO_HDR = 0x0d, SZ_CI = 0x20, SZ_VAL = 12, SZ_IDX = 10 };
enum { BLOCK_GAP_MAX = 8 }; /* padding between values and metric indices */

/* The values of one metric: no profile is the summary. */
static bool check_values(struct hpc_file_check *x, const struct hpc_metric_values *m)
{
	struct hpc_file_check_list l = {
		.structure = "{Val}", .field = "profIndex", .last = HPC_SUMMARY_PROFILE};

	for (uint64_t i = 0; i < m->n; i++) {
		struct hpc_profile_value v = hpc_metric_value(m, i);
		uint64_t at = (uint64_t)(m->values - x->bytes) + SZ_VAL * i;

		if (!hpc_file_check_value(x, &l, at, v.profIndex, at + 4, v.value))
			return false;
	}
	return true;
}

static void check_metrics(struct hpc_file_check *x, uint64_t at, const struct hpc_cct *c)
{
	struct hpc_file_check_list l = {
		.structure = "{Idx}", .field = "metricId", .noun = "metric", .last = -1};

	hpc_file_check_no_index(x, at + 0x10, "{CI}", "nMetrics", c->nMetrics, c->nValues);
	for (uint32_t i = 0; i < c->nMetrics; i++) {
		uint64_t idx = c->pMetricIndices + (uint64_t)SZ_IDX * i;
		struct hpc_metric_values m;
		bool is_sound = hpc_cct_metric(c, i, &m, NULL) >= 0 && m.n;

		if (!hpc_file_check_index(x, &l, i, idx + 2, is_sound, c->nValues) ||
		    !hpc_file_check_rises(x, &l, idx, m.metricId) || !check_values(x, &m))
			return;
	}
}

static void check_ctx(struct hpc_file_check *x, const struct hpc_cct_db *db, uint32_t ctxId)
{
	uint64_t at = db->pCtxs + (uint64_t)ctxId * db->szCtx;
	const uint8_t *ci = x->bytes + at;
	uint64_t nValues = hpc_le64(ci);
	uint16_t nMetrics = hpc_le16(ci + 0x10);
	struct hpc_cct c;
	/* The page's alignments of the two, (2) and (4), are those of profile.db; a u32 comes first
	 * in the values and a u16 in the indices (observed: hpcprof aligns so). */
	bool ok = hpc_file_check_block(x, at + 0x08, nValues, SZ_VAL, 4, "{CI}", "pValues");

	if (!hpc_file_check_block(x, at + 0x18, nMetrics, SZ_IDX, 2, "{CI}", "pMetricIndices"))
		ok = false;
	if (!ok || hpc_cct_open(&c, db, ctxId, NULL) < 0)
		return;
	if (nValues && nMetrics)
		hpc_file_check_gap(x, at + 0x18, "{CI}", "pMetricIndices",
				   c.pValues + SZ_VAL * nValues, c.pMetricIndices, BLOCK_GAP_MAX);
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
