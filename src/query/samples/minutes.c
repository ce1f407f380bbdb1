/* SPDX-License-Identifier: BSD-2-Clause */
/* See minutes.h. */
#include "query/samples/minutes.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"

#define MINUTE_NS 60000000000ull

/* Counts the samples of each event as they are read, instead of keeping them. */
struct counting_sink {
	struct value_sink sink;
	const struct profile *p;
	VEC(uint64_t) n; /* by event */
};

static void count_value(struct value_sink *s, const struct value *v)
{
	struct counting_sink *c = (struct counting_sink *)s;

	while (c->n.n <= v->event)
		vec_push(&c->n, 0);
	if (value_is_samples(c->p, v))
		c->n.v[v->event] += v->count;
}

static int compare_counts(const void *a, const void *b)
{
	const struct minute_count *x = a, *y = b;

	if (x->minute != y->minute)
		return x->minute < y->minute ? -1 : 1;
	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return x->owner < y->owner ? -1 : x->owner > y->owner;
}

/* The minutes from *RET_FROM up to and without *RET_TO that S's times want. */
static int parse_minutes(const struct select *s, uint64_t *ret_from, uint64_t *ret_to,
			 struct err *err)
{
	uint64_t ns = 0;
	int rc = 0;

	*ret_from = 0;
	*ret_to = UINT64_MAX;
	if (s->since) {
		rc = select_parse_time(s->since, 0, &ns, err);
		*ret_from = ns / MINUTE_NS;
	}
	if (rc >= 0 && s->until) {
		rc = select_parse_time(s->until, 0, &ns, err);
		*ret_to = (ns + MINUTE_NS - 1) / MINUTE_NS;
	}
	return rc;
}

/* The events of P that S wants; NULL: all. */
static int wanted_events(const struct profile *p, const struct select *s, bool **ret,
			 struct err *err)
{
	opt_list names = {0};
	event_ids ids = {0};
	char *text = NULL;
	int rc = 0;

	select_split_events(&s->events, &names, &text);
	for (size_t i = 0; i < names.n && rc >= 0; i++)
		rc = select_find_events(p, names.v[i], &ids, err);
	if (rc >= 0 && ids.n) {
		*ret = xcalloc(p->events.n, sizeof(**ret));
		vec_each (id, &ids)
			(*ret)[*id] = true;
	}
	vec_release(&names);
	vec_release(&ids);
	free(text);
	return rc;
}

/* Which moments are wanted. */
struct wanted_moments {
	bool *owners, *events; /* by number; NULL: all */
	uint64_t from, to;
};

static bool is_wanted(const struct wanted_moments *w, const struct moment *k)
{
	return k->minute >= w->from && k->minute < w->to && (!w->owners || w->owners[k->owner]) &&
	       (!w->events || w->events[k->event]);
}

static bool is_same_count(const void *owner, uint32_t i, const void *key)
{
	const struct minute_count *a = &((const struct minutes *)owner)->counts.v[i], *b = key;

	return a->minute == b->minute && a->event == b->event && a->owner == b->owner;
}

static void add_count(struct minutes *m, struct index *ix, const struct minute_count *c)
{
	const uint64_t h = hash_pair((uint64_t)c->owner << 32 | c->event, c->minute);
	const uint32_t i = index_find(ix, h, is_same_count, m, c);

	if (i != INDEX_NONE) {
		m->counts.v[i].n += c->n;
		return;
	}
	index_add(ix, h, (uint32_t)m->counts.n);
	vec_push(&m->counts, *c);
}

/* Adds the wanted moments of M's profile up.  So many minutes stand together that at most
 * MOST_STEPS different times are left: a month of minutes needs no memory beyond the profile's. */
static void join_moments(struct minutes *m, const struct wanted_moments *w, uint32_t most_steps)
{
	const struct profile *p = &m->in.profile;
	uint32_t first = UINT32_MAX, last = 0;
	struct index ix = {0};

	m->step = 1;
	vec_each (k, &p->moments)
		if (is_wanted(w, k)) {
			first = k->minute < first ? k->minute : first;
			last = k->minute > last ? k->minute : last;
		}
	if (most_steps && first <= last && last - first >= most_steps)
		m->step = (last - first) / most_steps + 1;
	vec_each (k, &p->moments)
		if (is_wanted(w, k))
			add_count(m, &ix,
				  &(struct minute_count){k->minute - (k->minute - first) % m->step,
							 k->event, k->owner, k->count});
	index_release(&ix);
}

int minutes_open(struct minutes *m, const struct select *s, uint32_t most_steps, struct err *err)
{
	struct counting_sink c = {{.put = count_value, .moments = true}, &m->in.profile};
	struct profile *p = &m->in.profile;
	struct select quiet = *s; /* what is cut here is cut at minutes, whatever was read */
	struct wanted_moments w = {.owners = NULL};
	int rc;

	*m = (struct minutes){.counts = {0}};
	quiet.notice = NULL;
	rc = parse_minutes(s, &w.from, &w.to, err);
	if (rc >= 0)
		rc = input_open_into(&m->in, &quiet, &c.sink, err);
	if (rc < 0) {
		vec_release(&c.n);
		return rc;
	}
	vec_each (v, &p->values) /* of inputs that do not use the sink */
		count_value(&c.sink, v);
	rc = owners_select(p, s->owners, &w.owners, err);
	if (rc >= 0)
		rc = wanted_events(p, s, &w.events, err);
	if (rc >= 0)
		join_moments(m, &w, most_steps);
	for (event_id i = 0; i < c.n.n && rc >= 0 && !s->since && !s->until && !w.owners; i++) {
		const uint64_t known = profile_n_timed(p, i);

		if (c.n.v[i] > known && (!w.events || w.events[i]))
			vec_push(&m->counts,
				 (struct minute_count){MINUTE_UNKNOWN, i, 0, c.n.v[i] - known});
	}
	vec_sort(&m->counts, compare_counts);
	free(w.owners);
	free(w.events);
	vec_release(&c.n);
	if (rc < 0)
		minutes_close(m);
	return rc;
}

void minutes_close(struct minutes *m)
{
	vec_release(&m->counts);
	input_close(&m->in);
}
