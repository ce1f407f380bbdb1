/* SPDX-License-Identifier: BSD-2-Clause */
/* Between bind.c and bind_plans.c: what is known while a query is bound. */
#ifndef QUERY_BIND_IMPL_H
#define QUERY_BIND_IMPL_H

#include "base/vec.h"
#include "model/fact.h"
#include "query/bind.h"

/* An event and a vector that some of its values have. */
struct pair {
	event_id event;
	vector_id vector;
};

/* A set in a population. */
struct group {
	const struct pm_set *set;
	event_id event;
	bool no_killed;
	uint32_t hits, open, killed;
};

/* What a column sums: of one group, or for SUM_BOTH of two. */
struct measure {
	enum query_sum sum;
	uint32_t group, other;
	unsigned counter, other_counter;
};

/* A column of the list in its population. */
struct plan {
	const struct pm_column *column; /* NULL: an event itself */
	event_id event, per_event;
	bool never, per_never;
	bool named; /* after its populations: there are several */
};

struct binder {
	struct query *q;
	const struct profile *p;
	const struct select *s;
	event_ids events;      /* shown */
	event_ids populations; /* that sets are looked for in */
	VEC(struct pair) pairs;
	VEC(struct plan) plans;
	size_t n_asked; /* columns of -pm; behind them is that of -sp */
	VEC(struct query_col) cols;
	VEC(struct measure) measures; /* by column; of events nothing */
	VEC(struct group) groups;
};

enum answer { ANSWER_NO, ANSWER_YES, ANSWER_OPEN, ANSWER_KILLED };

/* Whether a sample of vector W is in S; with NO_KILLED those killed early have an answer of their
 * own. */
enum answer bind_ask(const struct pm_set *s, bool no_killed, const struct vector *w);

/* Whether what C asks for cannot be relied on in samples that were killed early. */
bool bind_leaves_out_killed(const struct pm_column *c);

/* Which events have samples of which vectors. */
void bind_find_pairs(struct binder *b);

/* That, and the events whose samples carry facts: those shown if any does, else all; -ENOENT: none.
 */
int bind_find_populations(struct binder *b, struct err *err);

/* All that is shown, in its order; *RET_SORT is the plan that is sorted by, if a set is. */
void bind_make_plans(struct binder *b, size_t *ret_sort);

#endif
