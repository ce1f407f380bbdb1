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
	VEC(uint64_t) n, untimed; /* by event; untimed as of the last part's end */
	uint64_t n_all, n_untimed;
	uint64_t start_ns, end_ns; /* of this part */
	VEC(struct minute_count) unknown;
};

static void count_value(struct value_sink *s, const struct value *v)
{
	struct counting_sink *c = (struct counting_sink *)s;

	while (c->n.n <= v->event) {
		vec_push(&c->n, 0);
		vec_push(&c->untimed, 0);
	}
	if (!value_is_samples(c->p, v))
		return;
	c->n.v[v->event] += v->count;
	c->n_all += v->count;
}

/* What was counted of the part that ends and has no minute came between the part's edges. */
static void end_part(struct counting_sink *c)
{
	if (c->n_all - c->n_untimed <= c->p->n_timed)
		return; /* most parts: moments need not be gone through */
	for (event_id i = 0; i < c->n.n; i++) {
		const uint64_t known = c->untimed.v[i] + profile_n_timed(c->p, i);
		const uint64_t n = c->n.v[i] > known ? c->n.v[i] - known : 0;

		c->untimed.v[i] += n;
		c->n_untimed += n;
		if (n)
			vec_push(&c->unknown, (struct minute_count){.minute = MINUTE_UNKNOWN,
								    .event = i,
								    .n = n,
								    .start_ns = c->start_ns,
								    .end_ns = c->end_ns});
	}
}

static void begin_part(struct value_sink *s, uint64_t start_ns, uint64_t end_ns)
{
	struct counting_sink *c = (struct counting_sink *)s;

	end_part(c);
	c->start_ns = start_ns;
	c->end_ns = end_ns;
}

static void counting_release(struct counting_sink *c)
{
	vec_release(&c->n);
	vec_release(&c->untimed);
	vec_release(&c->unknown);
}

static int compare_counts(const void *a, const void *b)
{
	const struct minute_count *x = a, *y = b;

	if (x->minute != y->minute)
		return x->minute < y->minute ? -1 : 1;
	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
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

/* Whether W wants what came between the edges of U, or some of it. */
static bool wants_unknown(const struct wanted_moments *w, const struct minute_count *u)
{
	if (w->owners || (w->events && !w->events[u->event]))
		return false;
	if (!u->end_ns)
		return w->from == 0 && w->to == UINT64_MAX;
	return u->end_ns / MINUTE_NS >= w->from && u->start_ns / MINUTE_NS < w->to;
}

/* Adds the rows of EVENT that have no minute, as one where there are more than MOST (0: any
 * number). */
static void add_unknown(struct minutes *m, const struct counting_sink *c,
			const struct wanted_moments *w, event_id event, size_t most)
{
	const size_t first = m->counts.n;
	size_t n = 0;

	vec_each (u, &c->unknown)
		n += u->event == event && wants_unknown(w, u);
	vec_each (u, &c->unknown) {
		struct minute_count *all = &m->counts.v[first];

		if (u->event != event || !wants_unknown(w, u))
			continue;
		if (m->counts.n == first || !most || n <= most) {
			vec_push(&m->counts, *u);
			continue;
		}
		all->n += u->n;
		all->start_ns = u->start_ns < all->start_ns ? u->start_ns : all->start_ns;
		all->end_ns = u->end_ns > all->end_ns ? u->end_ns : all->end_ns;
	}
}

int minutes_open(struct minutes *m, const struct select *s, uint32_t most_steps, struct err *err)
{
	struct profile *p = &m->in.profile;
	struct counting_sink c = {{.put = count_value, .part = begin_part, .moments = true}, p};
	struct select quiet = *s; /* what is cut here is cut at minutes, whatever was read */
	struct wanted_moments w = {.owners = NULL};
	int rc;

	*m = (struct minutes){.counts = {0}};
	quiet.notice = NULL;
	rc = parse_minutes(s, &w.from, &w.to, err);
	if (rc >= 0)
		rc = input_open_into(&m->in, &quiet, &c.sink, err);
	if (rc < 0) {
		counting_release(&c);
		return rc;
	}
	vec_each (v, &p->values) /* of inputs that do not use the sink */
		count_value(&c.sink, v);
	end_part(&c);
	rc = owners_select(p, s->owners, &w.owners, err);
	if (rc >= 0)
		rc = wanted_events(p, s, &w.events, err);
	if (rc >= 0)
		join_moments(m, &w, most_steps);
	for (event_id i = 0; i < c.n.n && rc >= 0; i++)
		add_unknown(m, &c, &w, i, most_steps);
	vec_sort(&m->counts, compare_counts);
	free(w.owners);
	free(w.events);
	counting_release(&c);
	if (rc < 0)
		minutes_close(m);
	return rc;
}

void minutes_close(struct minutes *m)
{
	vec_release(&m->counts);
	input_close(&m->in);
}
