/* SPDX-License-Identifier: BSD-2-Clause */
/* When a perf.data file was recorded: what the file says, else when it was written, as long as
 * nothing speaks for its being a copy. */
#ifndef PORT_PERF_DATE_H
#define PORT_PERF_DATE_H

#include "formats/perfdata.h"

struct perf_date {
	bool is_file;	     /* else it came through a pipe */
	uint64_t written_ns; /* the file's times, since 1970; 0: not known */
	uint64_t made_ns;
};

/* When the file or pipe at FD was recorded. */
struct perf_date perf_date_of(int fd);

/* The time since 1970 at which the samples' clock was 0, into RET_NS; false when it is not known.
 * Samples that were read until now are of FIRST_NS to LAST_NS. */
bool perf_date_offset(const struct perf_date *d, const struct perfdata *pd, uint64_t first_ns,
		      uint64_t last_ns, int64_t *ret_ns);

#endif
