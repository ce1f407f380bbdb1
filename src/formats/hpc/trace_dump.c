/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace.db as text: headers, then each line with its elements. */
#include <errno.h>
#include <inttypes.h>

#include "formats/hpc/dump.h"
#include "formats/hpc/trace.h"

enum { SZ_ELEM = 12 };

static void dump_header(struct hpc_dump *d, const struct hpc_trace_db *db)
{
	hpc_dump_structure(d, 0, "trace.db", HPC_NONE);
	hpc_dump_field(d, 0, "magic", "%.14s", (const char *)db->bytes);
	hpc_dump_field(d, 0x0e, "majorVersion", "%u", db->majorVersion);
	hpc_dump_field(d, 0x0f, "minorVersion", "%u", db->minorVersion);
	hpc_dump_field(d, 0x10, "szHeaders", "%#" PRIx64, db->szHeaders);
	hpc_dump_field(d, 0x18, "pHeaders", "%#" PRIx64, db->pHeaders);
	hpc_dump_structure(d, db->pHeaders, "Trace Headers", HPC_NONE);
	hpc_dump_field(d, db->pHeaders, "pTraces", "%#" PRIx64, db->pTraces);
	hpc_dump_field(d, db->pHeaders + 0x08, "nTraces", "%u", db->nTraces);
	hpc_dump_field(d, db->pHeaders + 0x0c, "szTrace", "%u", db->szTrace);
	if (db->minTimestamp || db->maxTimestamp) {
		hpc_dump_field(d, db->pHeaders + 0x10, "minTimestamp", "%" PRIu64,
			       db->minTimestamp);
		hpc_dump_field(d, db->pHeaders + 0x18, "maxTimestamp", "%" PRIu64,
			       db->maxTimestamp);
	}
}

static int dump_line(struct hpc_dump *d, const struct hpc_trace_db *db, uint32_t i, struct err *err)
{
	uint64_t at = db->pTraces + (uint64_t)i * db->szTrace;
	struct hpc_trace t;
	int rc;

	hpc_dump_structure(d, at, "{TH}", i);
	rc = hpc_trace_open(&t, db, i, err);
	if (rc < 0)
		return rc;
	hpc_dump_field(d, at, "profIndex", "%u", t.profIndex);
	hpc_dump_field(d, at + 0x08, "pStart", "%#" PRIx64, t.pStart);
	hpc_dump_field(d, at + 0x10, "pEnd", "%#" PRIx64, t.pEnd);
	for (uint64_t k = 0; k < t.n && d->failed >= 0; k++) {
		struct hpc_trace_elem e = hpc_trace_elem(&t, k);

		hpc_dump_field(d, t.pStart + SZ_ELEM * k, "timestamp", "%" PRIu64 " ctxId %u",
			       e.timestamp, e.ctxId);
	}
	return 0;
}

int hpc_trace_dump(struct hpc_dump *d, const void *bytes, size_t n_bytes, const char *name,
		   struct err *err)
{
	struct hpc_trace_db db;
	int rc = hpc_trace_db_open(&db, bytes, n_bytes, name, err);

	if (rc < 0)
		return rc;
	dump_header(d, &db);
	for (uint32_t i = 0; i < db.nTraces && d->failed >= 0; i++) {
		rc = dump_line(d, &db, i, err);
		if (rc < 0)
			return rc;
	}
	hpc_dump_structure(d, n_bytes - 8, "footer", HPC_NONE);
	return d->failed < 0 ? d->failed : 0;
}
