/* SPDX-License-Identifier: BSD-2-Clause */
/* What stalls and why print of many procedures. */
#ifndef VIEW_STALLS_H
#define VIEW_STALLS_H

#include "query/rows/stalls.h"
#include "query/rows/topdown_rows.h"
#include "query/source.h"
#include "view/emit.h"

struct stalls_view {
	bool no_header;
	enum count_confidence conf;
	double length;	  /* only stalls of so many cycles an execution */
	int kind;	  /* list the procedures that have cycles of it (calc_kinds.h); -1: none */
	size_t n_refused; /* procedures that could not be analysed */
	double refused_pct;		    /* of the samples that were looked at */
	const char *refusal;		    /* of the first of them */
	const struct topdown_rows *topdown; /* for why */
};

/* Emits the stalled instructions that S keeps, as dcpitopstalls does. */
void stalls_emit(struct emit *e, struct source *of, const struct stalls *s,
		 const struct stalls_view *v);

/* Emits where the cycles of all procedures of S went, as dcpiwhatcg does, and the pipeline's slots
 * where that is known.  Without procedures that were analysed the slots are all there is. */
void why_emit(struct emit *e, struct source *of, const struct stalls *s,
	      const struct stalls_view *v);

#endif
