/* SPDX-License-Identifier: BSD-2-Clause */
/* profile.db read: headers at open, everything else where it lies when asked for.
 *
 * Every structure is decoded from bytes that were checked to lie in the file; the arrays of a
 * profile are checked as a whole when it is opened, and each {Idx}'s range of values when it is
 * looked at.  That contexts and metrics are sorted is not checked (hpc_check_profile does): in a
 * file where they are not, a search finds something else or nothing.
 *
 * Emptiness is told by counts: hpcprof leaves pointers in empty profiles. */
#include "formats/hpc/profile.h"

#include <errno.h>
#include <inttypes.h>

#include "base/lower_bound.h"
#include "formats/hpc/frame.h"

/* FORMATS.md 4.0, "profile.db Profile Info section"; the released {PI} has
 * flags behind the page's. */
enum { SZ_PI_RELEASED = 0x30 };
enum { SZ_VAL = 10, SZ_IDX = 12, SZ_TUPLE_HDR = 8, SZ_ID = 16 };
enum { PI_IS_SUMMARY = 1u << 0 };

int hpc_profile_db_open(struct hpc_profile_db *ret, const void *bytes, size_t n_bytes,
			const char *name, struct err *err)
{
	struct hpc_profile_db db = {.bytes = bytes, .n_bytes = n_bytes, .name = name};
	struct hpc_list s;
	int rc = hpc_list_open(&hpc_profile_frame, bytes, n_bytes, name, &s, err);

	if (rc < 0)
		return rc;
	db.majorVersion = s.major;
	db.minorVersion = s.minor;
	db.szProfileInfos = s.sz;
	db.pProfileInfos = s.p;
	db.pProfiles = s.array;
	db.nProfiles = s.n;
	db.szProfile = s.elem;
	db.szIdTuples = hpc_le64(db.bytes + 0x20);
	db.pIdTuples = hpc_le64(db.bytes + 0x28);
	if (!hpc_lies_within(n_bytes, db.pIdTuples, db.szIdTuples, 1))
		return hpc_bad(err, name, 0x28, "header", "pIdTuples",
			       "%#" PRIx64 " and %" PRIu64 " bytes do not lie in the file",
			       db.pIdTuples, db.szIdTuples);
	db.layout = db.szProfile < SZ_PI_RELEASED && db.nProfiles ? HPC_PAGE : HPC_RELEASED;
	*ret = db;
	return 0;
}

int hpc_profile_open(struct hpc_profile *ret, const struct hpc_profile_db *db, uint32_t index,
		     struct err *err)
{
	uint64_t at = db->pProfiles + (uint64_t)index * db->szProfile;
	struct hpc_profile p = {.db = db, .index = index};
	const uint8_t *pi;

	if (index >= db->nProfiles)
		return err_set(err, -ENOENT, "%s: there is no profile %u, but %u", db->name, index,
			       db->nProfiles);
	pi = db->bytes + at;
	p.nValues = hpc_le64(pi);
	p.pValues = hpc_le64(pi + 0x08);
	p.nCtxs = hpc_le32(pi + 0x10);
	p.pCtxIndices = hpc_le64(pi + 0x18);
	p.pIdTuple = hpc_le64(pi + 0x20);
	if (db->layout == HPC_RELEASED)
		p.flags = hpc_le32(pi + 0x28);
	/* The page's first profile is the summary whatever else is said of it. */
	p.isSummary =
		db->layout == HPC_RELEASED ? p.flags & PI_IS_SUMMARY : index == HPC_SUMMARY_PROFILE;
	if (p.nValues && !hpc_lies_within(db->n_bytes, p.pValues, p.nValues, SZ_VAL))
		return hpc_bad(err, db->name, at + 0x08, "{PI}", "pValues",
			       "%#" PRIx64 ": %" PRIu64 " values do not lie in the file", p.pValues,
			       p.nValues);
	if (p.nCtxs && !hpc_lies_within(db->n_bytes, p.pCtxIndices, p.nCtxs, SZ_IDX))
		return hpc_bad(err, db->name, at + 0x18, "{PI}", "pCtxIndices",
			       "%#" PRIx64 ": %u contexts do not lie in the file", p.pCtxIndices,
			       p.nCtxs);
	p.values = db->bytes + (p.nValues ? p.pValues : 0);
	p.ctxIndices = db->bytes + (p.nCtxs ? p.pCtxIndices : 0);
	*ret = p;
	return 0;
}

/* FORMATS.md 4.0, "profile.db Hierarchical Identifier Tuple section". */
int hpc_profile_ids(const struct hpc_profile *p, struct hpc_id *ids, size_t max, struct err *err)
{
	const struct hpc_profile_db *db = p->db;
	const uint8_t *t;
	uint16_t n;

	if (!p->pIdTuple)
		return 0;
	if (!hpc_lies_within(db->n_bytes, p->pIdTuple, 1, SZ_TUPLE_HDR))
		return hpc_bad(err, db->name, db->pProfiles + (uint64_t)p->index * db->szProfile,
			       "{PI}", "pIdTuple", "%#" PRIx64 " does not lie in the file",
			       p->pIdTuple);
	t = db->bytes + p->pIdTuple;
	n = hpc_le16(t);
	if (!hpc_lies_within(db->n_bytes, p->pIdTuple + SZ_TUPLE_HDR, n, SZ_ID))
		return hpc_bad(err, db->name, p->pIdTuple, "[HIT]", "nIds",
			       "%u identifications do not lie in the file", n);
	for (size_t i = 0; i < n && i < max; i++) {
		const uint8_t *id = t + SZ_TUPLE_HDR + SZ_ID * i;

		ids[i] = (struct hpc_id){id[0], hpc_le16(id + 2), hpc_le32(id + 4),
					 hpc_le64(id + 8)};
	}
	return n;
}

int hpc_profile_ctx(const struct hpc_profile *p, uint32_t i, struct hpc_ctx_values *ret,
		    struct err *err)
{
	const uint8_t *idx;
	uint64_t start, end;

	if (i >= p->nCtxs)
		return err_set(err, -ENOENT, "%s: profile %u has no context number %u", p->db->name,
			       p->index, i);
	idx = p->ctxIndices + (size_t)SZ_IDX * i;
	start = hpc_le64(idx + 4);
	end = i + 1 < p->nCtxs ? hpc_le64(idx + SZ_IDX + 4) : p->nValues;
	if (start > end || end > p->nValues)
		return hpc_bad(err, p->db->name, p->pCtxIndices + (uint64_t)SZ_IDX * i + 4, "{Idx}",
			       "startIndex",
			       "%" PRIu64 " to %" PRIu64 " is no range of %" PRIu64 " values",
			       start, end, p->nValues);
	*ret = (struct hpc_ctx_values){hpc_le32(idx), end - start, p->values + SZ_VAL * start};
	return 0;
}

uint32_t hpc_profile_ctx_from(const struct hpc_profile *p, uint32_t ctxId)
{
	return lower_bound(i, 0, p->nCtxs, hpc_le32(p->ctxIndices + (size_t)SZ_IDX * i) < ctxId);
}

int hpc_profile_find_ctx(const struct hpc_profile *p, uint32_t ctxId, struct hpc_ctx_values *ret,
			 struct err *err)
{
	uint32_t i = hpc_profile_ctx_from(p, ctxId);

	if (i < p->nCtxs && hpc_le32(p->ctxIndices + (size_t)SZ_IDX * i) == ctxId)
		return hpc_profile_ctx(p, i, ret, err);
	*ret = (struct hpc_ctx_values){ctxId, 0, p->values};
	return 0;
}

double hpc_ctx_values_find(const struct hpc_ctx_values *c, uint16_t metricId)
{
	uint64_t at = lower_bound(i, 0, c->n, hpc_le16(c->values + SZ_VAL * i) < metricId);
	const uint8_t *value = c->values + SZ_VAL * at;

	return at < c->n && hpc_le16(value) == metricId ? hpc_lef64(value + 2) : 0;
}

int hpc_profile_value(const struct hpc_profile *p, uint32_t ctxId, uint16_t metricId,
		      double *ret_value, struct err *err)
{
	struct hpc_ctx_values c;
	int rc = hpc_profile_find_ctx(p, ctxId, &c, err);

	if (rc >= 0)
		*ret_value = hpc_ctx_values_find(&c, metricId);
	return rc;
}
