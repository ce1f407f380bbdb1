/* SPDX-License-Identifier: BSD-2-Clause */
/* See bind.h.
 *
 * Whether a sample is in a set follows from its vector.  So each set is asked once per event and
 * vector that has samples, and a pass over the values looks up what each adds to which column.
 *
 * In order: the events that are shown; the populations; for each column of the list the plans, one
 * per population (or pair of them) that can tell it; columns for all events in use, then for the
 * sums that the plans need; the shares.
 *
 * Example: `--pm icmiss::retired`, the ratio of two sets, where ibs_fetch (period 500, duty 0.5)
 * and ibs_op (period 1000, duty 1) have samples.
 *     events       ibs_op, ibs_fetch
 *     populations  both: each has vectors with facts.  Only a fetch's know icmiss, only an op's
 *                  know retired.
 *     plan         one, of the pair: .event ibs_fetch for icmiss, .per_event ibs_op for retired
 *     groups       {icmiss, ibs_fetch}, {retired, ibs_op}
 *     columns      the events; SUM_HITS of each group; SUM_OPEN of icmiss, as some fetches were
 *                  given up before they knew
 *     shares       (ibs_fetch, vector "icmiss"): +count to ibs_fetch and to the hits of icmiss
 * main has 30 hits of icmiss and 195 of retired.  Each side is scaled by its period / duty:
 * 30 * 500 / 0.5 = 30,000 and 195 * 1000 / 1 = 195,000.  Shown is 30,000 / 195,000 = 0.154. */
#include "query/sets/bind_impl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "model/fact.h"

/* --- events --- */

static struct query_col event_col(const struct binder *b, event_id event, bool hidden)
{
	const struct event *e = &b->p->events.v[event];

	return (struct query_col){
		.sum = SUM_EVENT,
		.event = event,
		.hidden = hidden,
		.name = profile_str(b->p, e->name),
		.period = e->period,
		.freq_hz = e->freq_hz,
		.duty = event_duty(e),
		.measures = event_measures(b->p, e),
		.n_reached = e->n_reached,
		.n_lost = profile_n_lost(b->p, event),
	};
}

/* The column of EVENT's samples. */
static uint32_t intern_event(struct binder *b, event_id event, bool hidden)
{
	vec_each (c, &b->cols)
		if (c->sum == SUM_EVENT && c->event == event)
			return (uint32_t)(c - b->cols.v);
	vec_push(&b->cols, event_col(b, event, hidden));
	vec_push(&b->measures, (struct measure){.sum = SUM_EVENT});
	return (uint32_t)b->cols.n - 1;
}

/* Gives each event of which periods vary a column of what its samples weigh; that of others is
 * their own. */
static void add_weights(struct binder *b)
{
	for (uint32_t c = 0; c < b->q->n_events; c++) {
		struct query_col col = b->cols.v[c];

		b->cols.v[c].weight = c;
		if (!(b->p->events.v[col.event].flags & EVENT_WEIGHTED))
			continue;
		b->cols.v[c].weight = col.weight = (uint32_t)b->cols.n;
		col.sum = SUM_WEIGHT;
		col.hidden = true;
		vec_push(&b->cols, col);
		vec_push(&b->measures, (struct measure){.sum = SUM_WEIGHT});
	}
}

static char *arena_format(struct arena *a, const char *name, uint64_t period)
{
	size_t size = strlen(name) + 24;
	char *s = arena_alloc(a, size);

	snprintf(s, size, "%s:%" PRIu64, name, period);
	return s;
}

/* Tells events of one name apart. */
static void name_events(struct binder *b)
{
	struct arena *arena = &b->q->arena;
	bool *again = xcalloc(b->cols.n + 1, sizeof(*again));

	for (size_t i = 0; i < b->cols.n; i++)
		for (size_t k = 0; k < b->cols.n; k++)
			if (i != k && strcmp(b->cols.v[i].name, b->cols.v[k].name) == 0)
				again[i] = true;
	vec_each (c, &b->cols) {
		size_t n;
		char *title;

		if (again[c - b->cols.v])
			c->name = arena_format(arena, c->name, c->period);
		c->title = c->name;
		if (!*c->measures)
			continue;
		n = strlen(c->name);
		title = arena_alloc(arena, n + sizeof("(s)"));
		memcpy(title, c->name, n);
		memcpy(title + n, "(s)", sizeof("(s)"));
		c->title = title;
	}
	free(again);
}

/* Events that most people mean, the best one first. */
static const char *const time_events[] = {"wall", "cycles", "cpu_core/cycles/", "cpu-clock",
					  "task-clock"};

/* Adds the one event that is shown where none is named: the one to sort by, else that of time, else
 * the first with samples. */
static int find_one_event(struct binder *b, event_ids *ret, struct err *err)
{
	const struct profile *p = b->p;

	b->q->is_one_event = true;
	if (b->s->sort)
		return select_find_events(p, b->s->sort, ret, err);
	for (size_t i = 0; i < n_elems(time_events); i++)
		for (event_id e = 0; e < p->events.n; e++) {
			const char *name = profile_str(p, p->events.v[e].name);

			if (str_starts(name, time_events[i]) && profile_n_samples(p, e))
				return select_find_events(p, name, ret, err);
		}
	for (event_id e = 0; e < p->events.n; e++)
		if (profile_n_samples(p, e) || e + 1 == p->events.n) {
			vec_push(ret, e);
			break;
		}
	return 0;
}

static void find_all_events(const struct binder *b, event_ids *ret)
{
	for (event_id e = 0; e < b->p->events.n; e++)
		vec_push(ret, e);
}

/* The events named by --event; none named: all, or the one that counts. */
static int find_events(struct binder *b, struct err *err)
{
	_vec_ opt_list names = {0};
	_mem_ char *text = NULL;
	event_ids found = {0};
	int rc = 0;

	select_split_events(&b->s->events, &names, &text);
	vec_each (name, &names) {
		struct err why;

		rc = select_find_events(b->p, *name, &found, &why);
		if (rc < 0 && strcmp(*name, "all") == 0) {
			find_all_events(b, &found);
			b->all_events = true;
			rc = 0;
		}
		if (rc < 0) {
			if (err)
				*err = why;
			break;
		}
	}
	if (!names.n && b->s->one_event && !b->s->columns.n && !b->s->sort_set &&
	    b->p->events.n > 1)
		rc = find_one_event(b, &found, err);
	else if (!names.n)
		find_all_events(b, &found);
	vec_each (e, &found) {
		bool again = false;

		vec_each (have, &b->events)
			again |= *have == *e;
		if (!again)
			vec_push(&b->events, *e);
	}
	vec_release(&found);
	return rc;
}

/* --- columns of sums --- */

static uint32_t add_col(struct binder *b, struct measure m)
{
	event_id event = b->groups.v[m.group].event;
	struct query_col c = event_col(b, event, true);

	for (uint32_t i = 0; i < b->measures.n; i++) {
		const struct measure *have = &b->measures.v[i];

		if (have->sum == m.sum && have->group == m.group && have->other == m.other &&
		    have->counter == m.counter && have->other_counter == m.other_counter)
			return i;
	}
	c.sum = m.sum;
	c.title = c.name;
	vec_push(&b->cols, c);
	vec_push(&b->measures, m);
	return (uint32_t)b->cols.n - 1;
}

/* Whether samples of EVENT with the bits of W know COUNTER. */
static bool knows(const struct binder *b, event_id event, const struct vector *w, unsigned counter)
{
	vec_each (pair, &b->pairs) {
		const struct vector *x = &b->p->vectors.v[pair->vector];

		if (pair->event == event && x->counter == counter && x->known == w->known &&
		    x->value == w->value)
			return true;
	}
	return false;
}

/* Whether a sample of vector W is in G's set. */
static enum answer sets_bind_ask(const struct binder *b, const struct group *g,
				 const struct vector *w)
{
	enum answer a = bind_ask(g->set, g->killed_rule, w);

	for (uint32_t left = g->counters; left && is_killed(w) && a == ANSWER_YES; left &= left - 1)
		if (!knows(b, g->event, w, (unsigned)__builtin_ctz(left)))
			a = ANSWER_KILLED;
	return a;
}

static uint32_t counters_of(const struct pm_column *c)
{
	uint32_t all = 1u << c->item.counter | (c->is_ratio ? 1u << c->per_item.counter : 0);

	return all & ~1u;
}

static uint32_t intern_group(struct binder *b, const struct pm_set *s, event_id event,
			     enum killed_rule rule, uint32_t counters)
{
	struct group g = {s, event, rule, counters, NO_COL, NO_COL, NO_COL, NO_COL};
	bool open = false, killed = false, doubtful = false;
	uint32_t i;

	vec_each (have, &b->groups)
		if (have->event == event && have->killed_rule == rule &&
		    have->counters == counters && pm_set_same(have->set, s))
			return (uint32_t)(have - b->groups.v);
	vec_each (pair, &b->pairs) {
		const struct vector *w = &b->p->vectors.v[pair->vector];
		enum answer a;

		if (pair->event != event || w->counter)
			continue;
		a = sets_bind_ask(b, &g, w);
		open |= a == ANSWER_OPEN;
		killed |= a == ANSWER_KILLED;
		doubtful |= a == ANSWER_YES && rule == KILLED_AS_SAID && is_killed(w);
	}
	i = (uint32_t)b->groups.n;
	vec_push(&b->groups, g);
	g.hits = add_col(b, (struct measure){SUM_HITS, i, 0, 0, 0});
	if (open)
		g.open = add_col(b, (struct measure){SUM_OPEN, i, 0, 0, 0});
	if (killed)
		g.killed = add_col(b, (struct measure){SUM_KILLED, i, 0, 0, 0});
	if (doubtful)
		g.doubtful = add_col(b, (struct measure){SUM_DOUBTFUL, i, 0, 0, 0});
	b->groups.v[i] = g;
	return i;
}

static struct estimate_part make_part(struct binder *b, const struct pm_item *item, event_id event,
				      enum killed_rule rule, uint32_t counters, bool never,
				      uint32_t *ret_group)
{
	uint32_t at = intern_group(b, &item->set, event, rule, counters), col;
	const struct group *g = &b->groups.v[at];
	struct estimate_part part = {
		.hits = g->hits,
		.open = g->open,
		.killed = g->killed,
		.doubtful = g->doubtful,
		.total = NO_COL,
		.measured = NO_COL,
		.squares = NO_COL,
		.never = never,
	};

	col = intern_event(b, event, true);
	part.event = col;
	part.unit = (double)(b->cols.v[col].period ? b->cols.v[col].period : 1) /
		    (b->cols.v[col].duty > 0 ? b->cols.v[col].duty : 1);
	*ret_group = at;
	if (!item->counter)
		return part;
	part.total = add_col(b, (struct measure){SUM_TOTAL, at, 0, item->counter, 0});
	part.measured = add_col(b, (struct measure){SUM_MEASURED, at, 0, item->counter, 0});
	if (b->q->errors)
		part.squares = add_col(b, (struct measure){SUM_SQUARES, at, 0, item->counter, 0});
	return part;
}

/* "TEXT@EVENT", where several populations have such a column. */
static const char *name_in(struct binder *b, const struct column_plan *plan)
{
	const struct pm_column *c = plan->column;
	const char *event = b->cols.v[intern_event(b, plan->event, true)].name, *kept;
	_str_ struct str s = {0};

	if (!plan->named)
		return arena_strdup(&b->q->arena, c->text);
	if (plan->event == plan->per_event || !c->is_ratio)
		str_addf(&s, "%s@%s", c->text, event);
	else
		str_addf(&s, "%s@%s::%s@%s", c->item.text, event, c->per_item.text,
			 b->cols.v[intern_event(b, plan->per_event, true)].name);
	kept = arena_strdup(&b->q->arena, str_get(&s));
	return kept;
}

static struct estimate make_estimate(struct binder *b, const struct column_plan *plan)
{
	const struct pm_column *c = plan->column;
	struct estimate e = {.kind = ESTIMATE_EVENT, .both = NO_COL};
	uint32_t group, per_group;
	enum killed_rule rule;
	uint32_t counters;

	if (!c) {
		e.part.event = intern_event(b, plan->event, false);
		e.name = b->cols.v[e.part.event].name;
		return e;
	}
	rule = bind_killed_rule(b, c);
	counters = rule == KILLED_AS_SAID ? counters_of(c) : 0;
	e.kind = c->is_ratio ? ESTIMATE_RATIO : c->item.counter ? ESTIMATE_TOTAL : ESTIMATE_COUNT;
	e.name = name_in(b, plan);
	e.part = make_part(b, &c->item, plan->event, rule, counters, plan->never, &group);
	if (!c->is_ratio)
		return e;
	e.per = make_part(b, &c->per_item, plan->per_event, rule, counters, plan->per_never,
			  &per_group);
	if (b->q->errors && plan->event == plan->per_event &&
	    (!c->item.counter || !c->per_item.counter || c->item.counter == c->per_item.counter))
		e.both = add_col(b, (struct measure){SUM_BOTH, group, per_group, c->item.counter,
						     c->per_item.counter});
	return e;
}

/* Where E is among those shown; their number when it is not. */
static unsigned find_shown(const struct query *q, const struct estimate *e)
{
	unsigned i = 0;

	vec_each (have, &q->shown) {
		if (strcmp(have->name, e->name) == 0 && have->kind == e->kind &&
		    have->part.event == e->part.event)
			break;
		i++;
	}
	return i;
}

static void make_cols(struct binder *b, size_t sort)
{
	struct query *q = b->q;

	vec_each (plan, &b->plans) {
		if (!plan->column)
			intern_event(b, plan->event, false);
	}
	vec_each (plan, &b->plans) {
		intern_event(b, plan->event, true);
		if (plan->column && plan->column->is_ratio)
			intern_event(b, plan->per_event, true);
	}
	name_events(b);
	q->n_events = (unsigned)b->cols.n;
	add_weights(b);
	vec_each (plan, &b->plans) {
		struct estimate e = make_estimate(b, plan);
		unsigned at = find_shown(q, &e);

		if (at == q->shown.n) {
			vec_push(&q->shown, e);
			q->has_sets |= e.kind != ESTIMATE_EVENT;
		}
		if (plan == b->plans.v + sort)
			q->sort_shown = at;
	}
	q->cols = b->cols.v;
	q->n_cols = (unsigned)b->cols.n;
}

/* --- shares --- */

static enum answer ask_group(const struct binder *b, uint32_t group, const struct pair *pair)
{
	const struct group *g = &b->groups.v[group];

	if (g->event != pair->event)
		return ANSWER_NO;
	return sets_bind_ask(b, g, &b->p->vectors.v[pair->vector]);
}

/* What a value of PAIR adds to column C; false: nothing. */
static bool share_in(const struct binder *b, uint32_t c, const struct pair *pair,
		     const enum answer *answers, enum share_of *ret)
{
	const struct measure *m = &b->measures.v[c];
	const unsigned counter = b->p->vectors.v[pair->vector].counter;
	const bool of_set = m->sum != SUM_EVENT && m->sum != SUM_WEIGHT;
	const enum answer a = of_set ? answers[m->group] : ANSWER_NO;

	*ret = SHARE_COUNT;
	if (of_set && b->groups.v[m->group].event != pair->event)
		return false;
	switch (m->sum) {
	case SUM_EVENT:
		*ret = *b->cols.v[c].measures ? SHARE_SUM : SHARE_COUNT;
		return b->cols.v[c].event == pair->event && !counter;
	case SUM_WEIGHT:
		*ret = SHARE_WEIGHT;
		return b->cols.v[c].event == pair->event && !counter;
	case SUM_HITS:
		return a == ANSWER_YES && !counter;
	case SUM_OPEN:
		return a == ANSWER_OPEN && !counter;
	case SUM_KILLED:
		return a == ANSWER_KILLED && !counter;
	case SUM_DOUBTFUL:
		return a == ANSWER_YES && !counter && is_killed(&b->p->vectors.v[pair->vector]);
	case SUM_TOTAL:
		*ret = SHARE_SUM;
		return a == ANSWER_YES && counter == m->counter;
	case SUM_MEASURED:
		return a == ANSWER_YES && counter == m->counter;
	case SUM_SQUARES:
		*ret = SHARE_SQUARES;
		return a == ANSWER_YES && counter == m->counter;
	case SUM_BOTH:
		*ret = m->counter && m->other_counter ? SHARE_SQUARES
		       : counter		      ? SHARE_SUM
						      : SHARE_COUNT;
		return a == ANSWER_YES && answers[m->other] == ANSWER_YES &&
		       counter == (m->counter ? m->counter : m->other_counter);
	}
	return false;
}

static void make_shares(struct binder *b)
{
	struct query *q = b->q;
	enum answer *answers = xcalloc(b->groups.n + 1, sizeof(*answers));
	uint32_t n_rows = 0;

	q->row_of = xcalloc(b->p->events.n + 1, sizeof(*q->row_of));
	for (event_id e = 0; e < b->p->events.n; e++)
		q->row_of[e] = NO_COL;
	for (unsigned c = 0; c < q->n_events; c++)
		q->row_of[q->cols[c].event] = n_rows++;
	q->spans = xcalloc(n_rows * b->p->vectors.n + 1, sizeof(*q->spans));
	vec_each (pair, &b->pairs) {
		struct share_span *span;

		if (q->row_of[pair->event] == NO_COL)
			continue;
		span = &q->spans[q->row_of[pair->event] * b->p->vectors.n + pair->vector];
		span->first = (uint32_t)q->shares.n;
		for (uint32_t g = 0; g < b->groups.n; g++)
			answers[g] = ask_group(b, g, pair);
		for (uint32_t c = 0; c < q->n_cols; c++) {
			struct share s = {.col = c, .period = q->cols[c].period};

			if (share_in(b, c, pair, answers, &s.of))
				vec_push(&q->shares, s);
		}
		span->n = (uint32_t)q->shares.n - span->first;
	}
	free(answers);
}

/* --- order --- */

/* The column of time, which most people mean; else the first shown. */
static unsigned time_shown(const struct query *q)
{
	for (size_t e = 0; e < n_elems(time_events); e++)
		for (unsigned i = 0; i < q->shown.n; i++)
			if (q->shown.v[i].kind == ESTIMATE_EVENT &&
			    str_starts(q->cols[q->shown.v[i].part.event].name, time_events[e]))
				return i;
	return 0;
}

/* The estimate that --sort names: an event's, or a column as it was written. */
static int find_sort(struct query *q, const char *name, struct err *err)
{
	event_ids events = {0};
	int rc;

	for (unsigned i = 0; i < q->shown.n; i++)
		if (strcmp(q->shown.v[i].name, name) == 0) {
			q->sort_shown = i;
			return 0;
		}
	rc = select_find_events(q->profile, name, &events, err);
	if (rc >= 0) {
		rc = -ENOENT;
		for (unsigned i = 0; i < q->shown.n && rc < 0; i++)
			if (q->shown.v[i].kind == ESTIMATE_EVENT &&
			    q->cols[q->shown.v[i].part.event].event == events.v[0]) {
				q->sort_shown = i;
				rc = 0;
			}
		if (rc < 0)
			err_set(err, rc, "cannot sort by '%s', which is not among the %s", name,
				q->has_sets ? "columns" : "events chosen");
	}
	vec_release(&events);
	return rc;
}

/* The column of sums that rows of E are sorted, kept and added up by. */
static unsigned main_col(const struct query *q, const struct estimate *e)
{
	if (e->kind == ESTIMATE_EVENT)
		return q->cols[e->part.event].weight;
	return e->part.total != NO_COL ? e->part.total : e->part.hits;
}

static int choose_sort(struct binder *b, struct err *err)
{
	const struct select *s = b->s;
	struct query *q = b->q;
	int rc = 0;

	q->is_by_set = s->sort_set != NULL;
	if (!s->sort_set && s->sort)
		rc = find_sort(q, s->sort, err);
	else if (!s->sort_set)
		q->sort_shown = s->events.n && !b->all_events ? 0 : time_shown(q);
	if (rc >= 0 && q->shown.n)
		q->sort = main_col(q, &q->shown.v[q->sort_shown]);
	return rc;
}

/* --- all --- */

static int parse_columns(struct binder *b, struct err *err)
{
	pm_columns *columns = &b->q->columns;
	int rc = 0;

	vec_each (text, &b->s->columns) {
		rc = pm_columns_parse(columns, "--pm", *text, b->p, err);
		if (rc < 0)
			return rc;
	}
	b->n_asked = columns->n;
	if (!b->s->sort_set)
		return 0;
	rc = pm_columns_parse(columns, "--sp", b->s->sort_set, b->p, err);
	if (rc >= 0 && (columns->n != b->n_asked + 1 || columns->v[b->n_asked].is_default))
		rc = err_set(err, -EINVAL, "--sp %s: rows are sorted by one sample set or ratio",
			     b->s->sort_set);
	return rc;
}

static bool needs_populations(const pm_columns *columns)
{
	vec_each (c, columns)
		if (!c->is_default)
			return true;
	return false;
}

int query_bind(struct query *q, const struct select *s, struct err *err)
{
	struct binder b = {.q = q, .p = q->profile, .s = s};
	size_t sort = SIZE_MAX;
	int rc = find_events(&b, err);

	q->errors = s->errors;
	if (rc >= 0)
		rc = parse_columns(&b, err);
	if (rc >= 0 && needs_populations(&q->columns))
		rc = bind_find_populations(&b, err);
	else if (rc >= 0)
		bind_find_pairs(&b);
	if (rc >= 0) {
		bind_make_plans(&b, &sort);
		make_cols(&b, sort);
		make_shares(&b);
		rc = choose_sort(&b, err);
	}
	vec_release(&b.events);
	vec_release(&b.populations);
	vec_release(&b.pairs);
	vec_release(&b.plans);
	vec_release(&b.measures);
	vec_release(&b.groups);
	return rc;
}
