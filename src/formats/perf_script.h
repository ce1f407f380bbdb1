/* SPDX-License-Identifier: BSD-2-Clause */
/* The text that `perf script` prints of samples (docs/formats/perf-script.md): a line that begins a
 * block, lines of frames, an empty line. */
#ifndef FORMATS_PERF_SCRIPT_H
#define FORMATS_PERF_SCRIPT_H

#include "formats/text_lines.h"

/* "make 10/11 [003] 12.345678: 250000 cpu-clock:u: " */
struct perf_script_head {
	struct text_line comm, event; /* EVENT empty: it is not printed */
	uint64_t pid, tid;	      /* PID 0: not printed */
	uint64_t period;	      /* 0: not printed */
	bool has_time;
};

/* "  401035 hot+0x15 (/tmp/prog)" */
struct perf_script_frame {
	uint64_t ip;
	struct text_line symbol, image;
	bool is_inlined;
};

/* Parses a line that does not begin with a blank; false: it begins no block. */
bool perf_script_parse_head(const struct text_line *l, struct perf_script_head *ret);

/* Parses a line that begins with a blank. */
bool perf_script_parse_frame(const struct text_line *l, struct perf_script_frame *ret);

bool perf_script_probe(const uint8_t *bytes, size_t n);

#endif
