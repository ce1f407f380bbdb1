/* SPDX-License-Identifier: BSD-2-Clause */
/* Accesses to memory.  Those that are equal in all but their sums are one. */
#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "model/profile.h"

/* The first bytes of struct access are its key. */
#define KEY_BYTES (offsetof(struct access, source) + sizeof(uint32_t))

uint64_t profile_access_hash(const struct access *a)
{
	const uint64_t words[] = {
		(uint64_t)a->place << 32 | a->data,    (uint64_t)a->owner << 32 | a->event,
		(uint64_t)a->pid << 32 | a->tid,       (uint64_t)a->node << 32 | a->cpu_node,
		(uint64_t)a->vector << 32 | a->source, a->latency_of,
	};
	uint64_t h = 0;

	for (size_t i = 0; i < n_elems(words); i++)
		h = (h ^ words[i]) * 0x9e3779b97f4a7c15ULL + (h >> 29);
	return hash_u64(h);
}

static bool is_same(const void *owner, uint32_t i, const void *key)
{
	return memcmp(&((const struct profile *)owner)->accesses.v[i], key, KEY_BYTES) == 0;
}

void profile_prefetch_access(const struct profile *p, uint64_t hash)
{
	const uint32_t i = index_guess(&p->access_ix, hash);

	if (i != INDEX_NONE)
		__builtin_prefetch(&p->accesses.v[i]);
}

void profile_add_access_hashed(struct profile *p, const struct access *a, uint64_t hash)
{
	const uint32_t i = index_find(&p->access_ix, hash, is_same, p, a);

	assert(a->owner < p->owners.n && a->event < p->events.n && a->place < p->places.n &&
	       a->data < p->places.n && a->vector < p->vectors.n);
	if (i == INDEX_NONE) {
		vec_push(&p->accesses, *a);
		index_add(&p->access_ix, hash, (uint32_t)p->accesses.n - 1);
		return;
	}
	p->accesses.v[i].count += a->count;
	p->accesses.v[i].latency += a->latency;
}

void profile_add_access(struct profile *p, const struct access *a)
{
	profile_add_access_hashed(p, a, profile_access_hash(a));
}

void profile_merge_accesses(struct profile *dst, const struct profile *src,
			    const struct profile_map *m)
{
	vec_each (a, &src->accesses) {
		struct access k = *a;

		k.owner = m->owners[a->owner];
		k.event = m->events[a->event];
		k.place = m->places[a->place];
		k.data = m->places[a->data];
		k.vector = m->vectors[a->vector];
		profile_add_access(dst, &k);
	}
}
