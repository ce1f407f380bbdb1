/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of pprof: one message `Profile` of google/pprof's proto/profile.proto, packed by gzip
 * (docs/formats/pprof.md).  Texts are numbers in the table of strings; what the format calls ids
 * are numbers of elements here, from 0 on. */
#ifndef FORMATS_PPROF_H
#define FORMATS_PPROF_H

#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/str.h"
#include "base/text_table.h"
#include "base/vec.h"
#include "base/wr.h"

#define PPROF_NONE UINT32_MAX

struct pprof_type {
	uint32_t type, unit;
};

struct pprof_mapping {
	uint64_t start, limit, offset;
	uint32_t file, build_id;
	bool has_functions, has_files, has_lines, has_inlines;
};

struct pprof_function {
	uint32_t name, system_name, file;
	int64_t start_line;
};

struct pprof_line {
	uint32_t function; /* PPROF_NONE: not told */
	int64_t line;
};

struct pprof_location {
	uint32_t mapping; /* PPROF_NONE: in none */
	uint64_t address;
	size_t first_line, n_lines; /* innermost first */
};

struct pprof_label {
	uint32_t key, text, unit; /* TEXT 0: a number */
	int64_t number;
};

struct pprof_sample {
	size_t first_location, n_locations; /* of refs: the sampled one first */
	size_t first_label, n_labels;
	/* Sample I has values[I * types.n ...]. */
};

struct pprof_text {
	const char *text; /* not terminated */
	size_t n;
};

/* A profile that was read.  Texts lie in the bytes it was read from. */
struct pprof {
	VEC(struct pprof_text) strings;
	VEC(struct pprof_type) types;
	VEC(struct pprof_mapping) mappings;
	VEC(struct pprof_function) functions;
	VEC(struct pprof_line) lines;
	VEC(struct pprof_location) locations;
	VEC(struct pprof_sample) samples;
	VEC(uint32_t) refs; /* numbers of locations */
	VEC(struct pprof_label) labels;
	VEC(int64_t) values;
	struct pprof_type period_type;
	int64_t period, time_ns, duration_ns;
	uint32_t default_type; /* a string; 0: not told */
	uint64_t n_unknown;    /* fields that no version of the format known here has */
};

/* Parses the N bytes of an unpacked message, which must outlive RET.  Every number in RET is in
 * range.  -EBADMSG, -E2BIG.  Release RET in any case. */
int pprof_parse(const void *bytes, size_t n, struct pprof *ret, struct err *err);
void pprof_release(struct pprof *p);

/* Writes a profile part by part: types first, then the rest in any order; what refers to an element
 * may come before it. */
struct pprof_writer {
	struct wr out, message, inner;
	struct text_table strings;
	size_t n_types, n_mappings, n_functions, n_locations;
};

void pprof_writer_init(struct pprof_writer *w);

/* Returns the number of TEXT, which must live until pprof_writer_finish. */
uint32_t pprof_put_string(struct pprof_writer *w, const char *text);

void pprof_put_type(struct pprof_writer *w, const struct pprof_type *t);
uint32_t pprof_put_mapping(struct pprof_writer *w, const struct pprof_mapping *m);
uint32_t pprof_put_function(struct pprof_writer *w, const struct pprof_function *f);
uint32_t pprof_put_location(struct pprof_writer *w, uint32_t mapping, uint64_t address,
			    const struct pprof_line *lines, size_t n_lines);
void pprof_put_sample(struct pprof_writer *w, const uint32_t *locations, size_t n_locations,
		      const int64_t *values, const struct pprof_label *labels, size_t n_labels);
void pprof_put_times(struct pprof_writer *w, uint64_t time_ns, uint64_t duration_ns);
void pprof_put_period(struct pprof_writer *w, const struct pprof_type *t, uint64_t period);
void pprof_put_default_type(struct pprof_writer *w, uint32_t type);
void pprof_put_comment(struct pprof_writer *w, const char *text);

/* Appends the packed file to OUT and frees what W holds. */
void pprof_writer_finish(struct pprof_writer *w, struct str *out);

#endif
