/* SPDX-License-Identifier: BSD-2-Clause */
/* When samples came: how many of each owner and event in each minute.
 *
 * A recorder does not count samples by minute as they come.  It says profile_note_minute at the end
 * of each minute, and before it stores: what its values grew by since the last time came in that
 * minute. */
#include <assert.h>

#include "model/fresh.h"

static uint64_t moment_hash(const struct moment *k)
{
	return hash_pair((uint64_t)k->minute << 32 | k->owner, k->event);
}

static bool is_same_moment(const void *owner, uint32_t i, const void *key)
{
	const struct moment *a = &((const struct profile *)owner)->moments.v[i], *b = key;

	return a->minute == b->minute && a->owner == b->owner && a->event == b->event;
}

void profile_add_moment(struct profile *p, const struct moment *m)
{
	uint64_t h = moment_hash(m);
	uint32_t i = index_find(&p->moment_ix, h, is_same_moment, p, m);

	assert(m->owner < p->owners.n && m->event < p->events.n);
	p->n_timed += m->count;
	if (i == INDEX_NONE) {
		vec_push(&p->moments, *m);
		index_add(&p->moment_ix, h, (uint32_t)p->moments.n - 1);
		return;
	}
	p->moments.v[i].count += m->count;
}

void profile_merge_moments(struct profile *dst, const struct profile *src,
			   const struct profile_map *m)
{
	vec_each (from, &src->moments) {
		struct moment k = *from;

		k.owner = m->owners[from->owner];
		k.event = m->events[from->event];
		profile_add_moment(dst, &k);
	}
}

void profile_note_minute(struct profile *p, uint32_t minute)
{
	struct freshness *f = p->fresh;

	assert(f);
	profile_each_fresh (p, i) {
		const struct value *v = &p->values.v[i];

		while (f->noted.n <= i)
			vec_push(&f->noted, 0);
		if (value_is_samples(p, v) && v->count > f->noted.v[i])
			profile_add_moment(p, &(struct moment){.minute = minute,
							       .owner = v->owner,
							       .event = v->event,
							       .count = v->count - f->noted.v[i]});
		f->noted.v[i] = v->count;
	}
}

void fresh_move_noted(struct freshness *f, uint32_t i, uint32_t to)
{
	while (f->noted.n <= (i > to ? i : to))
		vec_push(&f->noted, 0);
	f->noted.v[to] += f->noted.v[i];
	f->noted.v[i] = 0;
}

void profile_forget_moments(struct profile *p)
{
	p->moments.n = 0;
	p->n_timed = 0;
	index_release(&p->moment_ix);
}

uint64_t profile_n_timed(const struct profile *p, event_id event)
{
	uint64_t n = 0;

	vec_each (m, &p->moments)
		n += m->event == event ? m->count : 0;
	return n;
}
