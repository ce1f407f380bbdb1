/* SPDX-License-Identifier: BSD-2-Clause */
/* trace.db of an HPCToolkit database: a line for each profile (docs/formats/hpctoolkit.md).  A
 * line's elements are times, each with the context that the thread was in from then on.
 *
 * Reading decodes nothing ahead:
 *
 *     hpc_trace_open(&t, &db, i, &err);
 *     for (uint64_t k = hpc_trace_find(&t, from); k < t.n; k++)
 *             struct hpc_trace_elem e = hpc_trace_elem(&t, k); */
#ifndef FORMATS_HPC_TRACE_H
#define FORMATS_HPC_TRACE_H

#include "base/err.h"
#include "formats/hpc/hpc.h"
#include "formats/hpc/le.h"

/* An open trace.db. */
struct hpc_trace_db {
	const uint8_t *bytes;
	size_t n_bytes;
	const char *name; /* for errors */
	uint8_t majorVersion, minorVersion;
	uint64_t szHeaders, pHeaders;
	uint64_t pTraces;		     /* {TH}[nTraces], szTrace bytes each */
	uint64_t minTimestamp, maxTimestamp; /* not tight in all files; both 0 in one without */
	uint32_t nTraces;
	uint8_t szTrace;
};

/* One line of an open file; it lies within the file. */
struct hpc_trace {
	uint32_t profIndex;
	uint64_t pStart, pEnd;
	uint64_t n; /* elements */
	const uint8_t *elems;
};

/* Opens the N_BYTES of a trace.db.  The bytes must stay as they are while DB and what was opened
 * from it are used.  NAME is the file's, for errors, and must live as long.  -EBADMSG when the
 * bytes are no trace.db, or its headers or footer are damaged; -ENODATA when it is too short;
 * -EPROTONOSUPPORT when its major version is larger.  Nothing is to be released. */
int hpc_trace_db_open(struct hpc_trace_db *db, const void *bytes, size_t n_bytes, const char *name,
		      struct err *err);

/* Opens line I (below nTraces).  -ENOENT when there is no such line, -EBADMSG when its {TH} is
 * damaged or it does not lie in the file. */
int hpc_trace_open(struct hpc_trace *t, const struct hpc_trace_db *db, uint32_t i, struct err *err);

/* Opens the line of profile PROFINDEX; -ENOENT when it has none.  HPCToolkit makes line I that of
 * profile I + 1: there it is found at once.  In other files all headers are looked at. */
int hpc_trace_open_profile(struct hpc_trace *t, const struct hpc_trace_db *db, uint32_t profIndex,
			   struct err *err);

/* The I-th element of a line. */
static inline struct hpc_trace_elem hpc_trace_elem(const struct hpc_trace *t, uint64_t i)
{
	const uint8_t *e = t->elems + 12 * i;

	return (struct hpc_trace_elem){hpc_le64(e), hpc_le32(e + 8)};
}

/* Returns the number of the first element at or after TIMESTAMP; n when there is none. */
uint64_t hpc_trace_find(const struct hpc_trace *t, uint64_t timestamp);

#endif
