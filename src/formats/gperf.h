/* SPDX-License-Identifier: BSD-2-Clause */
/* CPU profiles of gperftools, as its libprofiler and Go before 1.9 write them
 * (docs/formats/gperf.md; gperftools' docs/cpuprofile-fileformat.html): words of the machine that
 * wrote them, of 4 or 8 bytes, then the text of /proc/PID/maps. */
#ifndef FORMATS_GPERF_H
#define FORMATS_GPERF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"

/* N samples of one call path: addresses as the process saw them, the sampled one first. */
struct gperf_sample {
	uint64_t n;
	size_t first, n_pcs;
};

/* A file's code in the process, at [START, END). */
struct gperf_map {
	uint64_t start, end, off;
	const char *path; /* N_PATH bytes of the file's, not terminated */
	size_t n_path;
};

struct gperf {
	uint64_t period_us;
	VEC(struct gperf_sample) samples;
	VEC(uint64_t) pcs;
	VEC(struct gperf_map) maps; /* as the text has them */
};

bool gperf_probe(const uint8_t *bytes, size_t n);

/* Parses the N bytes, which must outlive RET.  -EBADMSG, -ENODATA when it was cut off,
 * -EPROTONOSUPPORT.  Release RET in any case. */
int gperf_parse(const uint8_t *bytes, size_t n, struct gperf *ret, struct err *err);
void gperf_release(struct gperf *g);

#endif
