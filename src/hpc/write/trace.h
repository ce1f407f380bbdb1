/* SPDX-License-Identifier: BSD-2-Clause */
/* Writing a trace.db, line by line. */
#ifndef HPC_WRITE_TRACE_H
#define HPC_WRITE_TRACE_H

#include "formats/hpc/trace.h"
#include "hpc/write/profile.h"

/* A trace.db being written. */
struct hpc_trace_writer;

/* Creates NAME in directory DIRFD with a line for each of the profiles 1 to N_TRACES.  A file of
 * that name is truncated.  The writer keeps a fixed amount of memory. */
int hpc_trace_create(struct hpc_trace_writer **ret, int dirfd, const char *name,
		     enum hpc_layout layout, uint32_t n_traces, struct err *err);

/* Puts the line of profile PROFINDEX: N ELEMS by growing timestamp, which may be none.  Each is put
 * once, in any number of threads that take the indices in growing order, as with
 * hpc_profile_put. */
int hpc_trace_put(struct hpc_trace_writer *w, uint32_t profIndex,
		  const struct hpc_trace_elem *elems, size_t n, struct err *err);

/* Cancel: all puts that wait or follow fail with -ECANCELED.  Finish: writes the rest, then the
 * footer, and closes the file.  Abandon: closes the file as it is.  Details as for
 * hpc_profile_cancel, _finish and _abandon. */
void hpc_trace_cancel(struct hpc_trace_writer *w);
int hpc_trace_finish(struct hpc_trace_writer *w, struct err *err);
void hpc_trace_abandon(struct hpc_trace_writer *w);

#endif
