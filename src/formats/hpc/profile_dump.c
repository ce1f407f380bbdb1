/* SPDX-License-Identifier: BSD-2-Clause */
/* A profile.db as text: headers, then each profile with its tuple, contexts and values. */
#include <errno.h>
#include <inttypes.h>

#include "base/vec.h"
#include "formats/hpc/dump.h"
#include "formats/hpc/profile.h"

enum { SZ_VAL = 10, SZ_IDX = 12, SZ_TUPLE_HDR = 8, SZ_ID = 16 };

static void dump_header(struct hpc_dump *d, const struct hpc_profile_db *db)
{
	hpc_dump_structure(d, 0, "profile.db", HPC_NONE);
	hpc_dump_field(d, 0, "magic", "%.14s", (const char *)db->bytes);
	hpc_dump_field(d, 0x0e, "majorVersion", "%u", db->majorVersion);
	hpc_dump_field(d, 0x0f, "minorVersion", "%u", db->minorVersion);
	hpc_dump_field(d, 0x10, "szProfileInfos", "%#" PRIx64, db->szProfileInfos);
	hpc_dump_field(d, 0x18, "pProfileInfos", "%#" PRIx64, db->pProfileInfos);
	hpc_dump_field(d, 0x20, "szIdTuples", "%#" PRIx64, db->szIdTuples);
	hpc_dump_field(d, 0x28, "pIdTuples", "%#" PRIx64, db->pIdTuples);
	hpc_dump_structure(d, db->pProfileInfos, "Profile Info", HPC_NONE);
	hpc_dump_field(d, db->pProfileInfos, "pProfiles", "%#" PRIx64, db->pProfiles);
	hpc_dump_field(d, db->pProfileInfos + 0x08, "nProfiles", "%u", db->nProfiles);
	hpc_dump_field(d, db->pProfileInfos + 0x0c, "szProfile", "%u", db->szProfile);
}

static int dump_tuple(struct hpc_dump *d, const struct hpc_profile *p, struct err *err)
{
	struct hpc_id ids[64];
	int n = hpc_profile_ids(p, ids, n_elems(ids), err);

	if (n < 0 || !p->pIdTuple)
		return n;
	hpc_dump_structure(d, p->pIdTuple, "[HIT]", HPC_NONE);
	hpc_dump_field(d, p->pIdTuple, "nIds", "%d", n);
	for (int i = 0; i < n && i < (int)n_elems(ids); i++)
		hpc_dump_field(d, p->pIdTuple + SZ_TUPLE_HDR + SZ_ID * (unsigned)i, "kind",
			       "%u flags %#x logicalId %u physicalId %#" PRIx64, ids[i].kind,
			       ids[i].flags, ids[i].logicalId, ids[i].physicalId);
	return 0;
}

static int dump_values(struct hpc_dump *d, const struct hpc_profile *p, struct err *err)
{
	for (uint32_t i = 0; i < p->nCtxs && d->failed >= 0; i++) {
		uint64_t at = p->pCtxIndices + (uint64_t)SZ_IDX * i;
		struct hpc_ctx_values c;
		int rc = hpc_profile_ctx(p, i, &c, err);

		if (rc < 0)
			return rc;
		hpc_dump_structure(d, at, "{Idx}", i);
		hpc_dump_field(d, at, "ctxId", "%u", c.ctxId);
		hpc_dump_field(d, at + 4, "startIndex", "%" PRIu64,
			       hpc_le64(p->db->bytes + at + 4));
		for (uint64_t k = 0; k < c.n && d->failed >= 0; k++) {
			struct hpc_value v = hpc_ctx_value(&c, k);

			hpc_dump_field(d, (uint64_t)(c.values - p->db->bytes) + SZ_VAL * k,
				       "metricId", "%u value %.17g", v.metricId, v.value);
		}
	}
	return 0;
}

static int dump_profile(struct hpc_dump *d, const struct hpc_profile_db *db, uint32_t i,
			struct err *err)
{
	uint64_t at = db->pProfiles + (uint64_t)i * db->szProfile;
	struct hpc_profile p;
	int rc;

	hpc_dump_structure(d, at, "{PI}", i);
	rc = hpc_profile_open(&p, db, i, err);
	if (rc != 0)
		return rc;
	hpc_dump_field(d, at, "nValues", "%" PRIu64, p.nValues);
	hpc_dump_field(d, at + 0x08, "pValues", "%#" PRIx64, p.pValues);
	hpc_dump_field(d, at + 0x10, "nCtxs", "%u", p.nCtxs);
	hpc_dump_field(d, at + 0x18, "pCtxIndices", "%#" PRIx64, p.pCtxIndices);
	hpc_dump_field(d, at + 0x20, "pIdTuple", "%#" PRIx64, p.pIdTuple);
	if (db->layout == HPC_RELEASED)
		hpc_dump_field(d, at + 0x28, "flags", "%#x", p.flags);
	rc = dump_tuple(d, &p, err);
	return rc < 0 ? rc : dump_values(d, &p, err);
}

int hpc_profile_dump(struct hpc_dump *d, const void *bytes, size_t n_bytes, const char *name,
		     struct err *err)
{
	struct hpc_profile_db db;
	int rc = hpc_profile_db_open(&db, bytes, n_bytes, name, err);

	if (rc != 0)
		return rc;
	dump_header(d, &db);
	for (uint32_t i = 0; i < db.nProfiles && d->failed >= 0; i++) {
		rc = dump_profile(d, &db, i, err);
		if (rc != 0)
			return rc;
	}
	hpc_dump_structure(d, n_bytes - 8, "footer", HPC_NONE);
	return d->failed < 0 ? d->failed : 0;
}
