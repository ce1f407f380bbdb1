/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the slots of a pipeline went: the first level of the top-down method.
 *
 * A core can start so many operations a cycle; each such slot is used by one that retires or by one
 * that is thrown away, or it stays empty because the front end delivered nothing or because the
 * back end took nothing.  Which events tell that, and how, is a formula of its vendor's (topdown.c
 * has them with their sources).
 *
 * Example: of slots 71,229,087, topdown-bad-spec 5,066,320, topdown-be-bound 35,080,387,
 * topdown-fe-bound 22,769,750 and topdown-retiring 8,336,760 are 11.7 % retiring, 7.1 % bad
 * speculation, 32.0 % front end and 49.2 % back end. */
#ifndef EVENTS_TOPDOWN_H
#define EVENTS_TOPDOWN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

enum topdown_part {
	TOPDOWN_RETIRING,
	TOPDOWN_BAD_SPECULATION,
	TOPDOWN_FRONTEND,
	TOPDOWN_BACKEND,
	TOPDOWN_SMT, /* granted to the core's other thread */
	TOPDOWN_N_PARTS,
};

/* For people ("Front end"), and as a key ("frontend"). */
extern const char *const topdown_names[TOPDOWN_N_PARTS];
extern const char *const topdown_keys[TOPDOWN_N_PARTS];

#define TOPDOWN_MOST_EVENTS 6

struct topdown {
	double slots;
	double share[TOPDOWN_N_PARTS]; /* of the slots; 0 to 1, but for what counters disagree on */
};

struct topdown_events {
	size_t at[TOPDOWN_MOST_EVENTS]; /* numbers of the events of the formula */
	unsigned formula, width;	/* slots a cycle */
};

/* Finds the events of a formula among the N called NAMES, as perf or libpfm4 names them; all must
 * have the same modifiers (":u").  CPU is the recorded name of the CPU (machine/cpu_id.h), or "".
 * -ENODATA: some of them are there, -ENOENT: none; WHY gets one sentence that says what is
 * missing. */
int topdown_find(const char *const *names, size_t n, const char *cpu, struct topdown_events *ret,
		 struct str *why);

/* What the formula of T is called: "Intel's slots". */
const char *topdown_formula(const struct topdown_events *t);

/* Whether the formula of T tells PART. */
bool topdown_tells(const struct topdown_events *t, enum topdown_part part);

/* Works out RET of COUNTS, one for each name; false when there were no slots. */
bool topdown_of(const struct topdown_events *t, const double *counts, struct topdown *ret);

#endif
