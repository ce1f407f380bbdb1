/* SPDX-License-Identifier: BSD-2-Clause */
/* See trace.h.  Opening reads the headers.  Everything else is decoded where it lies when it is
 * asked for, from bytes that were checked to lie in the file. */
#include "formats/hpc/trace.h"

#include <errno.h>
#include <inttypes.h>

#include "base/lower_bound.h"
#include "formats/hpc/frame.h"

/* FORMATS.md 4.0, "trace.db Trace Headers section".  Its header ends at 0x0d there; files of both
 * layouts have minTimestamp and maxTimestamp at 0x10 and 0x18. */
enum { SZ_HEADERS_HDR_TIMES = 0x20, SZ_ELEM = 12 };

int hpc_trace_db_open(struct hpc_trace_db *ret, const void *bytes, size_t n_bytes, const char *name,
		      struct err *err)
{
	struct hpc_trace_db db = {.bytes = bytes, .n_bytes = n_bytes, .name = name};
	struct hpc_list s;
	int rc = hpc_list_open(&hpc_trace_frame, bytes, n_bytes, name, &s, err);

	if (rc < 0)
		return rc;
	db.majorVersion = s.major;
	db.minorVersion = s.minor;
	db.szHeaders = s.sz;
	db.pHeaders = s.p;
	db.pTraces = s.array;
	db.nTraces = s.n;
	db.szTrace = s.elem;
	if (db.szHeaders >= SZ_HEADERS_HDR_TIMES &&
	    (!db.nTraces || db.pTraces < db.pHeaders ||
	     db.pTraces >= db.pHeaders + SZ_HEADERS_HDR_TIMES)) {
		db.minTimestamp = hpc_le64(db.bytes + db.pHeaders + 0x10);
		db.maxTimestamp = hpc_le64(db.bytes + db.pHeaders + 0x18);
	}
	*ret = db;
	return 0;
}

int hpc_trace_open(struct hpc_trace *ret, const struct hpc_trace_db *db, uint32_t i,
		   struct err *err)
{
	uint64_t at = db->pTraces + (uint64_t)i * db->szTrace;
	struct hpc_trace t = {.elems = db->bytes};
	const uint8_t *th;

	if (i >= db->nTraces)
		return err_set(err, -ENOENT, "%s: there is no line %u, but %u", db->name, i,
			       db->nTraces);
	th = db->bytes + at;
	t.profIndex = hpc_le32(th);
	t.pStart = hpc_le64(th + 0x08);
	t.pEnd = hpc_le64(th + 0x10);
	if (t.pEnd < t.pStart || (t.pEnd - t.pStart) % SZ_ELEM != 0)
		return hpc_bad(err, db->name, at + 0x10, "{TH}", "pEnd",
			       "%#" PRIx64 " is no number of elements behind pStart %#" PRIx64,
			       t.pEnd, t.pStart);
	t.n = (t.pEnd - t.pStart) / SZ_ELEM;
	if (t.n && !hpc_lies_within(db->n_bytes, t.pStart, t.n, SZ_ELEM))
		return hpc_bad(err, db->name, at + 0x08, "{TH}", "pStart",
			       "%#" PRIx64 ": %" PRIu64 " elements do not lie in the file",
			       t.pStart, t.n);
	if (t.n)
		t.elems = db->bytes + t.pStart;
	*ret = t;
	return 0;
}

int hpc_trace_open_profile(struct hpc_trace *t, const struct hpc_trace_db *db, uint32_t profIndex,
			   struct err *err)
{
	uint32_t i = profIndex - 1;

	if (i >= db->nTraces ||
	    hpc_le32(db->bytes + db->pTraces + (uint64_t)i * db->szTrace) != profIndex)
		for (i = 0; i < db->nTraces; i++)
			if (hpc_le32(db->bytes + db->pTraces + (uint64_t)i * db->szTrace) ==
			    profIndex)
				break;
	if (i >= db->nTraces)
		return err_set(err, -ENOENT, "%s: profile %u has no line", db->name, profIndex);
	return hpc_trace_open(t, db, i, err);
}

uint64_t hpc_trace_find(const struct hpc_trace *t, uint64_t timestamp)
{
	return lower_bound(i, 0, t->n, hpc_trace_elem(t, i).timestamp < timestamp);
}
