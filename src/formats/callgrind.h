/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of "Callgrind Format, version 1" (valgrind.org/docs/manual/cl-format.html).  Positions may
 * be relative to those before, and names may be numbers: struct callgrind_reader remembers both. */
#ifndef FORMATS_CALLGRIND_H
#define FORMATS_CALLGRIND_H

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/vec.h"
#include "formats/text_lines.h"

enum callgrind_kind {
	CALLGRIND_OTHER,  /* a header that is of no matter here, or nothing */
	CALLGRIND_EVENTS, /* NAME: names with blanks between */
	CALLGRIND_COMMAND,
	CALLGRIND_OB, /* NAME of the position's object, file, ... */
	CALLGRIND_FL,
	CALLGRIND_FI, /* fi= and fe= */
	CALLGRIND_FN,
	CALLGRIND_COB,
	CALLGRIND_CFI, /* cfi= and cfl= */
	CALLGRIND_CFN,
	CALLGRIND_JFI, /* NAME of a jump's target */
	CALLGRIND_JFN,
	CALLGRIND_CALLS, /* the next costs are what the call has below it */
	CALLGRIND_COSTS,
	CALLGRIND_TOTAL, /* totals: and summary: */
};

#define CALLGRIND_MOST_EVENTS 32

struct callgrind_line {
	enum callgrind_kind kind;
	const char *name; /* lives as long as the reader */
	uint64_t instr, line;
	uint64_t costs[CALLGRIND_MOST_EVENTS];
	unsigned n_costs;
};

/* Names by number, of one kind. */
struct callgrind_names {
	VEC(struct {
		uint64_t number;
		const char *name;
	})
	v;
	struct index index;
};

struct callgrind_reader {
	struct callgrind_names objects, files, functions;
	uint64_t instr, bb, line; /* the last positions */
	bool has_instr, has_bb, has_line;
	uint64_t n_negative; /* costs below 0, which count 0 */
	uint64_t n_untold;   /* names by a number that no line has told */
	struct arena *arena; /* the caller's: names live in it */
};

void callgrind_begin(struct callgrind_reader *r, struct arena *arena);
void callgrind_end(struct callgrind_reader *r);

/* Parses L.  -EBADMSG: it is no line of this format. */
int callgrind_parse(struct callgrind_reader *r, const struct text_line *l,
		    struct callgrind_line *ret, struct err *err);

bool callgrind_probe(const uint8_t *bytes, size_t n);

#endif
