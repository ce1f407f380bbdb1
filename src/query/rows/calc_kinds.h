/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of the table that says where cycles went: what they are called, and their numbers in a
 * tally.  The causes of enum calc_cause are the first of them. */
#ifndef QUERY_ROWS_CALC_KINDS_H
#define QUERY_ROWS_CALC_KINDS_H

#include "query/rows/calc.h"

enum calc_kind {
	CALC_UNEXPLAINED_STALL = CALC_N_CAUSES,
	CALC_ALL_DYNAMIC,
	CALC_FRONT,
	CALC_PORTS,
	CALC_CHAIN,
	CALC_ALL_STATIC,
	CALC_ALL_STALLS,
	CALC_EXECUTION,
	CALC_GAIN,
	CALC_TALLIED,
	CALC_N_KINDS,
};

/* Cycles, at least and at most.  Of gains they are negative. */
struct calc_range {
	double low, high;
};
struct calc_range calc_range_of(const struct calc_tally *t, unsigned kind);

/* What KIND is called, and what it is one of: "dynamic", "static", "subtotal", ... */
const char *calc_kind_name(unsigned kind);
const char *calc_kind_group(unsigned kind);

/* Returns the kind that NAME means: its name, whatever the case, a cause's letter, '?', or what
 * dcpiwhatcg(1) calls it.  -EINVAL: none, with the reason where DCPI had such a row. */
int calc_kind_find(const char *name, struct err *err);

#endif
