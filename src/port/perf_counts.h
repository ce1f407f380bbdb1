/* SPDX-License-Identifier: BSD-2-Clause */
/* What `perf stat record` wrote: counts of events, without samples. */
#ifndef PORT_PERF_COUNTS_H
#define PORT_PERF_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"

struct perf_count {
	char *name;
	double value; /* over all CPUs and threads, scaled to the whole time */
	uint64_t enabled_ns, running_ns;
	bool is_clock, known; /* KNOWN: it was counted at all */
};

struct perf_counts {
	VEC(struct perf_count) counts;
	char *command, *cpu; /* "": the file does not tell */
	uint64_t elapsed_ns; /* 0: it was cut short */
};

/* Reads the file PATH.  -EINVAL: it is of perf, and has no counts.  Release RET in any case. */
int perf_counts_load(const char *path, struct perf_counts *ret, struct err *err);
void perf_counts_release(struct perf_counts *c);

#endif
