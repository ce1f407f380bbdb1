/* SPDX-License-Identifier: BSD-2-Clause */
/* Which populations can tell each column that was asked for.
 *
 * A population is an event whose samples carry facts.  A set is told by a population if some sample
 * of it is certainly in the set or certainly not; where several can, each gets a column. */
#include "query/sets/bind_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- populations --- */

void bind_find_pairs(struct binder *b)
{
	const size_t n_vectors = b->p->vectors.n;
	bool *seen = xcalloc(b->p->events.n * n_vectors + 1, sizeof(*seen));

	/* Where there are only plain samples, they are of the plain vector. */
	if (n_vectors == 1)
		memset(seen, true, b->p->events.n);
	for (size_t i = 0; n_vectors > 1 && i < b->p->values.n; i++) {
		const struct value *v = &b->p->values.v[i];

		if (value_counts(v))
			seen[v->event * n_vectors + v->vector] = true;
	}
	for (event_id e = 0; e < b->p->events.n; e++)
		for (vector_id w = 0; w < n_vectors; w++)
			if (seen[e * n_vectors + w])
				vec_push(&b->pairs, (struct pair){e, w});
	free(seen);
}

static void add_populations(struct binder *b, const event_ids *among)
{
	vec_each (e, among) {
		bool carries = false;

		vec_each (pair, &b->pairs) {
			const struct vector *w = &b->p->vectors.v[pair->vector];

			carries |= pair->event == *e && (w->known || w->counter);
		}
		if (carries)
			vec_push(&b->populations, *e);
	}
}

int bind_find_populations(struct binder *b, struct err *err)
{
	event_ids all = {0};

	bind_find_pairs(b);
	if (b->s->events.n)
		add_populations(b, &b->events);
	for (event_id e = 0; e < b->p->events.n; e++)
		vec_push(&all, e);
	if (!b->populations.n)
		add_populations(b, &all);
	vec_release(&all);
	if (b->populations.n)
		return 0;
	return err_set(err, -ENOENT,
		       "no sample here tells more than its address; sample sets are of events such "
		       "as those of ProfileMe, IBS, PEBS and SPE (`dwell record -e pm`)");
}

/* --- telling sets --- */

enum answer bind_ask(const struct pm_set *s, enum killed_rule rule, const struct vector *w)
{
	if (rule == KILLED_OUT && is_killed(w))
		return ANSWER_KILLED;
	switch (pm_set_truth(s, w->known, w->value)) {
	case TRUTH_NO:
		return ANSWER_NO;
	case TRUTH_YES:
		return ANSWER_YES;
	default:
		return rule == KILLED_AS_SAID && is_killed(w) ? ANSWER_KILLED : ANSWER_OPEN;
	}
}

/* dcpiprofileme(1), LIMITATIONS: of what was killed early all is unreliable but these. */
static bool asks_for_unreliable(const struct pm_item *i)
{
	return i->counter || (i->set.bits & ~(FACT_MASK(FACT_VALID) | FACT_MASK(FACT_EARLY_KILL) |
					      FACT_MASK(FACT_NOTRAP) | FACT_MASK(FACT_MAP_STALL)));
}

enum killed_rule bind_killed_rule(const struct binder *b, const struct pm_column *c)
{
	const uint64_t bits = c->item.set.bits | c->per_item.set.bits;

	if ((bits & FACT_MASK(FACT_EARLY_KILL)) ||
	    (!asks_for_unreliable(&c->item) &&
	     (!c->is_ratio || !asks_for_unreliable(&c->per_item))))
		return KILLED_RELIABLE;
	return b->s->no_killed ? KILLED_OUT : KILLED_AS_SAID;
}

/* Whether some sample of EVENT tells the set of I, and whether some has its counter. */
static bool can_tell(const struct binder *b, const struct pm_item *i, enum killed_rule rule,
		     event_id event, bool *ret_has_counter)
{
	bool tells = false;

	*ret_has_counter = !i->counter;
	vec_each (pair, &b->pairs) {
		const struct vector *w = &b->p->vectors.v[pair->vector];

		if (pair->event != event)
			continue;
		if (w->counter)
			*ret_has_counter |= w->counter == i->counter;
		else if (!tells)
			tells = bind_ask(&i->set, rule, w) != ANSWER_OPEN;
	}
	return tells;
}

/* The populations that tell I, those that have its counter if there are any; false: none does, and
 * RET is the first. */
static bool find_tellers(const struct binder *b, const struct pm_item *i, enum killed_rule rule,
			 event_ids *ret)
{
	event_ids without = {0};
	bool told;

	vec_each (e, &b->populations) {
		bool has_counter;

		if (!can_tell(b, i, rule, *e, &has_counter))
			continue;
		if (has_counter)
			vec_push(ret, *e);
		else
			vec_push(&without, *e);
	}
	if (!ret->n)
		vec_each (e, &without)
			vec_push(ret, *e);
	vec_release(&without);
	told = ret->n != 0;
	if (!told)
		vec_push(ret, b->populations.v[0]);
	return told;
}

/* --- plans --- */

static void plan_ratio(struct binder *b, const struct pm_column *c, enum killed_rule rule)
{
	struct column_plan plan = {.column = c};
	event_ids of = {0}, per = {0};
	size_t n = b->plans.n;

	plan.never = !find_tellers(b, &c->item, rule, &of);
	plan.per_never = !find_tellers(b, &c->per_item, rule, &per);
	for (int shared = 1; shared >= 0 && b->plans.n == n; shared--)
		vec_each (x, &of)
			vec_each (y, &per) {
				if (shared && *x != *y)
					continue;
				plan.event = *x;
				plan.per_event = *y;
				vec_push(&b->plans, plan);
			}
	for (size_t i = n; i < b->plans.n; i++)
		b->plans.v[i].named = b->plans.n > n + 1;
	vec_release(&of);
	vec_release(&per);
}

static void plan_column(struct binder *b, const struct pm_column *c)
{
	const enum killed_rule rule = bind_killed_rule(b, c);
	bool told;
	event_ids of = {0};

	if (c->is_ratio) {
		plan_ratio(b, c, rule);
		return;
	}
	told = find_tellers(b, &c->item, rule, &of);
	vec_each (e, &of)
		vec_push(&b->plans,
			 (struct column_plan){
				 .column = c, .event = *e, .never = !told, .named = of.n > 1});
	vec_release(&of);
}

static void plan_events(struct binder *b)
{
	vec_each (e, &b->events)
		vec_push(&b->plans, (struct column_plan){.event = *e});
}

void bind_make_plans(struct binder *b, size_t *ret_sort)
{
	const pm_columns *columns = &b->q->columns;
	bool has_default = false;

	for (size_t i = 0; i < b->n_asked; i++)
		has_default |= columns->v[i].is_default;
	if (!has_default && (b->s->events.n || !b->n_asked))
		plan_events(b);
	for (size_t i = 0; i < b->n_asked; i++) {
		if (columns->v[i].is_default)
			plan_events(b);
		else
			plan_column(b, &columns->v[i]);
	}
	*ret_sort = b->plans.n;
	if (columns->n > b->n_asked)
		plan_column(b, &columns->v[b->n_asked]);
}
