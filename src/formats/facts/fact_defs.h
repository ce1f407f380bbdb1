/* SPDX-License-Identifier: BSD-2-Clause */
/* Bits and counters that a user adds: fields of what the hardware tells that have no name of their
 * own.  A text, one definition a line (docs/man/dwell-import.1.scd):
 *
 *     line  = [ ("bit" | "counter") name "=" field [ string ] ] [ "#" anything ]
 *     field = word "[" number [ ":" number ] "]"          the highest bit first
 *     word  = "ibs_op." | "ibs_fetch." register; "data_src"; "spe.events" */
#ifndef FORMATS_FACTS_FACT_DEFS_H
#define FORMATS_FACTS_FACT_DEFS_H

#include "base/err.h"
#include "base/vec.h"
#include "model/fact.h"

enum fact_source {
	FACT_SOURCE_IBS_OP,    /* by enum ibs_op_reg */
	FACT_SOURCE_IBS_FETCH, /* by enum ibs_fetch_reg */
	FACT_SOURCE_DATA_SRC,
	FACT_SOURCE_SPE_EVENTS,
};

struct fact_def {
	bool is_counter;
	enum fact_source source;
	uint8_t word, high, low;
	int number; /* fact_defs_name; -1: not yet */
	char *name, *meaning;
};

struct fact_defs {
	VEC(struct fact_def) v;
};

/* Parses the N bytes at TEXT; WHERE is what messages call it.  -EINVAL: with line, column and the
 * line's text; -E2BIG: more than a recording has room for.  Release D, also after a failure. */
int fact_defs_parse(struct fact_defs *d, const char *where, const char *text, size_t n,
		    struct err *err);
void fact_defs_release(struct fact_defs *d);

/* Gives each its number in P.  -E2BIG: P has no room left, for it has other names already. */
int fact_defs_name(struct fact_defs *d, struct profile *p, struct err *err);

/* Adds what the WORDS of SOURCE say to F, which is not settled yet.  D may be NULL. */
void fact_defs_apply(const struct fact_defs *d, enum fact_source source, const uint64_t *words,
		     struct sample_facts *f);

#endif
