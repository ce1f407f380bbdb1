/* SPDX-License-Identifier: BSD-2-Clause */
/* See minutes.h. */
#include "query/samples/minutes.h"

#include <errno.h>
#include <stdlib.h>

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

static int compare_owners(const void *a, const void *b)
{
	const struct minute_count *x = a, *y = b;

	if (x->minute != y->minute)
		return x->minute < y->minute ? -1 : 1;
	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	return x->owner < y->owner ? -1 : x->owner > y->owner;
}

/* Joins so many minutes that at most MOST_STEPS different times are left. */
static void join_minutes(struct minutes *m, uint32_t most_steps)
{
	uint32_t first = UINT32_MAX, last = 0;
	size_t n = 0;

	m->step = 1;
	vec_each (c, &m->counts)
		if (c->minute != MINUTE_UNKNOWN) {
			first = c->minute < first ? c->minute : first;
			last = c->minute > last ? c->minute : last;
		}
	if (!most_steps || first > last || last - first < most_steps)
		return;
	m->step = (last - first) / most_steps + 1;
	vec_each (c, &m->counts)
		if (c->minute != MINUTE_UNKNOWN)
			c->minute -= (c->minute - first) % m->step;
	vec_sort(&m->counts, compare_owners);
	vec_each (c, &m->counts) {
		if (n && compare_owners(&m->counts.v[n - 1], c) == 0)
			m->counts.v[n - 1].n += c->n;
		else
			m->counts.v[n++] = *c;
	}
	m->counts.n = n;
}

int minutes_open(struct minutes *m, const struct select *s, uint32_t most_steps, struct err *err)
{
	struct counting_sink c = {{.put = count_value, .moments = true}, &m->in.profile};
	struct profile *p = &m->in.profile;
	struct select quiet = *s; /* what is cut here is cut at minutes, whatever was read */
	bool *owners = NULL, *events = NULL;
	uint64_t from, to;
	int rc;

	*m = (struct minutes){.counts = {0}};
	quiet.notice = NULL;
	rc = parse_minutes(s, &from, &to, err);
	if (rc >= 0)
		rc = input_open_into(&m->in, &quiet, &c.sink, err);
	if (rc < 0) {
		vec_release(&c.n);
		return rc;
	}
	vec_each (v, &p->values) /* of inputs that do not use the sink */
		count_value(&c.sink, v);
	rc = owners_select(p, s->owners, &owners, err);
	if (rc >= 0)
		rc = wanted_events(p, s, &events, err);
	vec_each (k, &p->moments)
		if (rc >= 0 && k->minute >= from && k->minute < to &&
		    (!owners || owners[k->owner]) && (!events || events[k->event]))
			vec_push(&m->counts,
				 (struct minute_count){k->minute, k->event, k->owner, k->count});
	for (event_id i = 0; i < c.n.n && rc >= 0 && !s->since && !s->until && !owners; i++) {
		const uint64_t known = profile_n_timed(p, i);

		if (c.n.v[i] > known && (!events || events[i]))
			vec_push(&m->counts,
				 (struct minute_count){MINUTE_UNKNOWN, i, 0, c.n.v[i] - known});
	}
	join_minutes(m, most_steps);
	vec_sort(&m->counts, compare_counts);
	free(owners);
	free(events);
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
