/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks a profile.db: FORMATS.md 4.0, "profile.db version 4.0", all that it says of the file by
 * itself.  Of each array the first break of its order is reported; what follows it could not be
 * told from its consequences. */
#include <inttypes.h>
#include <stdio.h>

#include "formats/hpc/check/file.h"
#include "formats/hpc/profile.h"

enum { SZ_INFO_HDR = 0x0d, SZ_PI = 0x28, SZ_PI_FLAGS = 0x2c, SZ_VAL = 10, SZ_IDX = 12 };
enum { SZ_TUPLE_HDR = 8, SZ_ID = 16 };
enum { BLOCK_GAP_MAX = 8 }; /* padding between values and context indices */

struct profile_check {
	struct hpc_file_check x;
	uint64_t pIdTuples, szIdTuples;
};

static void check_tuple(struct profile_check *pc, uint64_t at)
{
	struct hpc_file_check *x = &pc->x;
	uint64_t p = hpc_le64(x->bytes + at), n;

	if (p % 8)
		hpc_file_problem(x, at, "{PI}", "pIdTuple", "%#" PRIx64 " is not a multiple of 8",
				 p);
	if (p < pc->pIdTuples ||
	    !hpc_lies_within(pc->szIdTuples, p - pc->pIdTuples, 1, SZ_TUPLE_HDR)) {
		hpc_file_problem(x, at, "{PI}", "pIdTuple",
				 "%#" PRIx64 " does not lie in the Identifier Tuple section", p);
		return;
	}
	n = hpc_le16(x->bytes + p);
	if (!hpc_lies_within(pc->szIdTuples, p - pc->pIdTuples + SZ_TUPLE_HDR, n, SZ_ID)) {
		hpc_file_problem(x, p, "[HIT]", "nIds",
				 "%" PRIu64 " identifications reach beyond the section", n);
		return;
	}
	for (uint64_t i = 0; i < n; i++) {
		uint64_t id = p + SZ_TUPLE_HDR + SZ_ID * i;
		uint32_t logicalId = hpc_le32(x->bytes + id + 4);
		uint64_t physicalId = hpc_le64(x->bytes + id + 8);

		if (!(hpc_le16(x->bytes + id + 2) & HPC_ID_IS_PHYSICAL) && physicalId != logicalId)
			hpc_file_problem(x, id + 8, "{Id}", "physicalId",
					 "%" PRIu64 " is not the logicalId %u, though not physical",
					 physicalId, logicalId);
	}
}

static bool check_values(struct hpc_file_check *x, const struct hpc_ctx_values *c)
{
	char in[32];
	struct hpc_file_check_list l = {
		.structure = "{Val}", .field = "metricId", .in = in, .last = -1};

	snprintf(in, sizeof(in), " in context %u", c->ctxId);
	for (uint64_t i = 0; i < c->n; i++) {
		struct hpc_value v = hpc_ctx_value(c, i);
		uint64_t at = (uint64_t)(c->values - x->bytes) + SZ_VAL * i;

		if (!hpc_file_check_value(x, &l, at, v.metricId, at + 2, v.value))
			return false;
	}
	return true;
}

static void check_ctxs(struct hpc_file_check *x, uint64_t at, const struct hpc_profile *p)
{
	struct hpc_file_check_list l = {
		.structure = "{Idx}", .field = "ctxId", .noun = "context", .last = -1};

	hpc_file_check_no_index(x, at + 0x10, "{PI}", "nCtxs", p->nCtxs, p->nValues);
	for (uint32_t i = 0; i < p->nCtxs; i++) {
		uint64_t idx = p->pCtxIndices + (uint64_t)SZ_IDX * i;
		struct hpc_ctx_values c;
		bool is_sound = hpc_profile_ctx(p, i, &c, NULL) >= 0 && c.n;

		if (!hpc_file_check_index(x, &l, i, idx + 4, is_sound, p->nValues) ||
		    !hpc_file_check_rises(x, &l, idx, c.ctxId) || !check_values(x, &c))
			return;
	}
}

static void check_profile(struct profile_check *pc, const struct hpc_profile_db *db, uint32_t i)
{
	struct hpc_file_check *x = &pc->x;
	uint64_t at = db->pProfiles + (uint64_t)i * db->szProfile;
	const uint8_t *pi = x->bytes + at;
	uint64_t nValues = hpc_le64(pi);
	uint32_t nCtxs = hpc_le32(pi + 0x10);
	struct hpc_profile p;
	bool ok = hpc_file_check_block(x, at + 0x08, nValues, SZ_VAL, 2, "{PI}", "pValues");

	if (!hpc_file_check_block(x, at + 0x18, nCtxs, SZ_IDX, 4, "{PI}", "pCtxIndices"))
		ok = false;
	if (!ok || hpc_profile_open(&p, db, i, NULL) < 0)
		return;
	if (nValues && nCtxs)
		hpc_file_check_gap(x, at + 0x18, "{PI}", "pCtxIndices",
				   p.pValues + nValues * SZ_VAL, p.pCtxIndices, BLOCK_GAP_MAX);
	if (p.isSummary != (i == HPC_SUMMARY_PROFILE))
		hpc_file_problem(x, at + 0x28, "{PI}", "flags",
				 "%#x: isSummary must be set in the first profile and no other",
				 p.flags);
	/* Observed: the summary profile has no tuple. */
	if (p.pIdTuple || !p.isSummary)
		check_tuple(pc, at + 0x20);
	check_ctxs(x, at, &p);
}

void hpc_check_profile(struct hpc_check *c, const void *bytes, size_t n_bytes, const char *name)
{
	struct profile_check pc;
	struct hpc_file_check *x = &pc.x;
	struct hpc_profile_db db;
	struct err err;
	bool infos, tuples;

	if (!hpc_file_check_begin(x, &hpc_profile_frame, c, bytes, n_bytes, name))
		return;
	infos = hpc_file_check_section(x, 0x10, "szProfileInfos", "pProfileInfos", SZ_INFO_HDR);
	tuples = hpc_file_check_section(x, 0x20, "szIdTuples", "pIdTuples", 0);
	pc.szIdTuples = tuples ? hpc_le64(x->bytes + 0x20) : 0;
	pc.pIdTuples = tuples ? hpc_le64(x->bytes + 0x28) : 0;
	if (infos) {
		uint64_t p = hpc_le64(x->bytes + 0x18);
		uint32_t n;

		if (hpc_le32(x->bytes + p + 0x08) == 0)
			hpc_file_problem(x, p + 0x08, "Profile Info", "nProfiles",
					 "0: there is no summary profile");
		n = hpc_file_check_table(x, "Profile Info", "szProfile", "pProfiles", SZ_PI);
		if (n && tuples && hpc_profile_db_open(&db, bytes, n_bytes, name, &err) >= 0)
			for (uint32_t i = 0; i < n; i++)
				check_profile(&pc, &db, i);
	}
	hpc_file_check_end(x);
}
