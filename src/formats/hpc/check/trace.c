/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks a trace.db: FORMATS.md 4.0, "trace.db version 4.0", all that it says of the file by
 * itself, and the times of the whole that all files have.  As profile.c. */
#include <inttypes.h>
#include <stdlib.h>

#include "formats/hpc/check/file.h"
#include "formats/hpc/trace.h"

enum { SZ_HEADERS_HDR = 0x0d, SZ_TH = 0x18, SZ_ELEM = 12 };

/* Times rise within a line and lie between those of the whole. */
static void check_line(struct hpc_file_check *x, const struct hpc_trace_db *db,
		       const struct hpc_trace *t)
{
	bool bounded = db->minTimestamp || db->maxTimestamp;
	uint64_t last = 0;

	for (uint64_t i = 0; i < t->n; i++) {
		struct hpc_trace_elem e = hpc_trace_elem(t, i);
		uint64_t at = t->pStart + SZ_ELEM * i;

		if (e.timestamp < last) {
			hpc_file_problem(x, at, "{Elem}", "timestamp",
					 "%" PRIu64 " comes after %" PRIu64, e.timestamp, last);
			return;
		}
		if (bounded && (e.timestamp < db->minTimestamp || e.timestamp > db->maxTimestamp)) {
			hpc_file_problem(x, at, "{Elem}", "timestamp",
					 "%" PRIu64 " is not from minTimestamp %" PRIu64
					 " to maxTimestamp %" PRIu64,
					 e.timestamp, db->minTimestamp, db->maxTimestamp);
			return;
		}
		last = e.timestamp;
	}
}

static void check_trace(struct hpc_file_check *x, const struct hpc_trace_db *db, uint32_t i)
{
	uint64_t at = db->pTraces + (uint64_t)i * db->szTrace;
	uint64_t pStart = hpc_le64(x->bytes + at + 0x08), pEnd = hpc_le64(x->bytes + at + 0x10);
	struct hpc_trace t;

	if (pEnd < pStart || (pEnd - pStart) % SZ_ELEM != 0) {
		hpc_file_problem(x, at + 0x10, "{TH}", "pEnd",
				 "%#" PRIx64 " is no number of elements behind pStart %#" PRIx64,
				 pEnd, pStart);
		return;
	}
	if (hpc_file_check_block(x, at + 0x08, (pEnd - pStart) / SZ_ELEM, SZ_ELEM, 8, "{TH}",
				 "pStart") &&
	    hpc_trace_open(&t, db, i, NULL) >= 0)
		check_line(x, db, &t);
}

struct line_of {
	uint32_t profIndex, i;
};

static int by_profile(const void *a, const void *b)
{
	const struct line_of *x = a, *y = b;

	if (x->profIndex != y->profIndex)
		return x->profIndex < y->profIndex ? -1 : 1;
	return x->i < y->i ? -1 : x->i > y->i;
}

static void check_profiles(struct hpc_file_check *x, const struct hpc_trace_db *db)
{
	_vec_ VEC(struct line_of) lines = {0};

	for (uint32_t i = 0; i < db->nTraces; i++) {
		uint64_t at = db->pTraces + (uint64_t)i * db->szTrace;

		vec_push(&lines, (struct line_of){hpc_le32(x->bytes + at), i});
	}
	vec_sort(&lines, by_profile);
	for (size_t k = 1; k < lines.n; k++)
		if (lines.v[k].profIndex == lines.v[k - 1].profIndex)
			hpc_file_problem(x, db->pTraces + (uint64_t)lines.v[k].i * db->szTrace,
					 "{TH}", "profIndex", "%u has another line, number %u",
					 lines.v[k].profIndex, lines.v[k - 1].i);
}

void hpc_check_trace(struct hpc_check *c, const void *bytes, size_t n_bytes, const char *name)
{
	struct hpc_file_check x;
	struct hpc_trace_db db;
	struct err err;

	if (!hpc_file_check_begin(&x, &hpc_trace_frame, c, bytes, n_bytes, name))
		return;
	if (hpc_file_check_section(&x, 0x10, "szHeaders", "pHeaders", SZ_HEADERS_HDR)) {
		uint32_t n = hpc_file_check_table(&x, "Trace Headers", "szTrace", "pTraces", SZ_TH);

		if (n && hpc_trace_db_open(&db, bytes, n_bytes, name, &err) >= 0) {
			for (uint32_t i = 0; i < n; i++)
				check_trace(&x, &db, i);
			check_profiles(&x, &db);
		}
	}
	hpc_file_check_end(&x);
}
