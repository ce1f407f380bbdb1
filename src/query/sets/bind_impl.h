/* SPDX-License-Identifier: BSD-2-Clause */
/* Between bind.c and bind_plans.c: what is known while a query is bound. */
#ifndef QUERY_SETS_BIND_IMPL_H
#define QUERY_SETS_BIND_IMPL_H

#include "base/vec.h"
#include "model/fact.h"
#include "query/sets/bind.h"

/* An event and a vector that some of its values have. */
struct pair {
	event_id event;
	vector_id vector;
};

/* How samples that were killed early count in a set (dcpiprofileme(1), LIMITATIONS). */
enum killed_rule {
	KILLED_RELIABLE, /* the set asks only what is reliable of them: as all others */
	KILLED_AS_SAID,	 /* as far as their bits say; where they do not say, they are left out */
	KILLED_OUT,	 /* left out */
};

/* A set in a population. */
struct group {
	const struct pm_set *set;
	event_id event;
	enum killed_rule killed_rule;
	uint32_t counters; /* with KILLED_AS_SAID: what is left out unless it knows these */
	uint32_t hits, open, killed, doubtful;
};

/* What a column sums: of one group, or for SUM_BOTH of two. */
struct measure {
	enum query_sum sum;
	uint32_t group, other;
	unsigned counter, other_counter;
};

/* A column of the list in its population. */
struct column_plan {
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
	VEC(struct column_plan) plans;
	size_t n_asked; /* columns of -pm; behind them is that of -sp */
	VEC(struct query_col) cols;
	VEC(struct measure) measures; /* by column; of events nothing */
	VEC(struct group) groups;
	bool all_events; /* by the word "all" */
};

enum answer { ANSWER_NO, ANSWER_YES, ANSWER_OPEN, ANSWER_KILLED };

/* Whether a sample of vector W is in S; ANSWER_KILLED: RULE leaves it out. */
enum answer bind_ask(const struct pm_set *s, enum killed_rule rule, const struct vector *w);

/* The rule for column C. */
enum killed_rule bind_killed_rule(const struct binder *b, const struct pm_column *c);

static inline bool is_killed(const struct vector *w)
{
	return w->known & w->value & FACT_MASK(FACT_EARLY_KILL);
}

/* Which events have samples of which vectors. */
void bind_find_pairs(struct binder *b);

/* Finds the pairs, and the populations: the events whose samples carry facts, out of those shown if
 * any of them does, else out of all.  -ENOENT: none. */
int bind_find_populations(struct binder *b, struct err *err);

/* All that is shown, in its order; *RET_SORT is the plan that is sorted by, if a set is. */
void bind_make_plans(struct binder *b, size_t *ret_sort);

#endif
