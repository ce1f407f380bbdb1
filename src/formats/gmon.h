/* SPDX-License-Identifier: BSD-2-Clause */
/* gmon.out, what programs compiled with -pg leave and gprof reads (docs/formats/gmon.md; gprof's
 * gmon_out.h), of 64-bit little-endian machines. */
#ifndef FORMATS_GMON_H
#define FORMATS_GMON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"

struct gmon_arc {
	uint64_t from, to; /* where the call is, where what is called begins */
	uint32_t n;
};

/* A histogram: N bins of equal size over [LOW, HIGH). */
struct gmon_histogram {
	uint64_t low, high;
	uint32_t rate; /* counts in a second */
	char unit[16];
	size_t first, n; /* of bins */
};

struct gmon {
	VEC(struct gmon_histogram) histograms;
	VEC(uint16_t) bins;
	VEC(struct gmon_arc) arcs;
};

bool gmon_probe(const uint8_t *bytes, size_t n);

/* Parses the N bytes.  -EBADMSG, -ENODATA, -EPROTONOSUPPORT.  Release RET in any case. */
int gmon_parse(const uint8_t *bytes, size_t n, struct gmon *ret, struct err *err);
void gmon_release(struct gmon *g);

void gmon_put_header(struct str *out);
void gmon_put_histogram(struct str *out, const struct gmon_histogram *h, const uint16_t *bins);
void gmon_put_arc(struct str *out, const struct gmon_arc *a);

#endif
