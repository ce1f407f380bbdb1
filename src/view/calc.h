/* SPDX-License-Identifier: BSD-2-Clause */
/* What calc, stalls and why print. */
#ifndef VIEW_CALC_H
#define VIEW_CALC_H

#include "query/rows/calc.h"
#include "query/source.h"
#include "view/emit.h"

struct calc_view {
	bool no_header;
	double cutoff_pct; /* blocks below this share of the procedure's cycles are left out */
};

/* Emits C, of listing L of S: blocks, instructions, and where the cycles went. */
void calc_emit(struct emit *e, struct source *s, const struct listing *l, const struct calc *c,
	       const struct calc_view *v);

/* Appends a page that draws C, of listing L of S: its blocks and the ways between them. */
void calc_page(struct str *out, struct source *s, const struct listing *l, const struct calc *c);

/* Emits where the cycles of T went, as the table KEY.  UNIT is that of cycles. */
void calc_emit_tally(struct emit *e, const char *key, const struct calc_tally *t, const char *unit);

/* The letters of CAUSES, those that were measured first and in capitals of their own; "?" for
 * none. They live in ARENA. */
const char *calc_letters(const struct calc_insn *in, struct arena *arena);

#endif
