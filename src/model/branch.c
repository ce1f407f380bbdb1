/* SPDX-License-Identifier: BSD-2-Clause */
/* Branches: found by all that they are of (owner, event, from, to), added up. */
#include <assert.h>

#include "model/profile.h"

static uint64_t hash_of(const struct branch *k)
{
	return hash_pair((uint64_t)k->from << 32 | k->to, (uint64_t)k->owner << 32 | k->event);
}

static bool is_same(const void *owner, uint32_t i, const void *key)
{
	const struct branch *a = &((const struct profile *)owner)->branches.v[i], *b = key;

	return a->from == b->from && a->to == b->to && a->owner == b->owner && a->event == b->event;
}

uint32_t profile_add_branch(struct profile *p, const struct branch *b)
{
	uint64_t h = hash_of(b);
	uint32_t i = index_find(&p->branch_ix, h, is_same, p, b);
	struct branch *to;

	assert(b->owner < p->owners.n && b->event < p->events.n && b->from < p->places.n &&
	       b->to < p->places.n);
	if (i == INDEX_NONE) {
		vec_push(&p->branches, *b);
		index_add(&p->branch_ix, h, (uint32_t)p->branches.n - 1);
		return (uint32_t)p->branches.n - 1;
	}
	to = &p->branches.v[i];
	to->count += b->count;
	to->n_predicted += b->n_predicted;
	to->n_mispredicted += b->n_mispredicted;
	to->cycles += b->cycles;
	to->n_cycles += b->n_cycles;
	to->n_newest += b->n_newest;
	to->n_oldest += b->n_oldest;
	to->n_again += b->n_again;
	return i;
}

void profile_merge_branches(struct profile *dst, const struct profile *src,
			    const struct profile_map *m)
{
	vec_each (b, &src->branches) {
		struct branch k = *b;

		k.owner = m->owners[b->owner];
		k.event = m->events[b->event];
		k.from = m->places[b->from];
		k.to = m->places[b->to];
		profile_add_branch(dst, &k);
	}
}
