/* SPDX-License-Identifier: BSD-2-Clause */
/* See maps.h. */
#include "collect/maps.h"

void maps_unref(struct maps *m)
{
	if (!m || --m->n_refs)
		return;
	vec_release(&m->v);
	free(m);
}

struct maps *maps_ref(struct maps *m)
{
	if (m)
		m->n_refs++;
	return m;
}

struct maps *maps_own(struct maps **maps)
{
	struct maps *m = *maps, *copy;

	if (m && m->n_refs == 1)
		return m;
	copy = xcalloc(1, sizeof(*copy));
	copy->n_refs = 1;
	if (m) {
		vec_reserve(&copy->v, m->v.n + 1);
		memcpy(copy->v.v, m->v.v, m->v.n * sizeof(*m->v.v));
		copy->v.n = m->v.n;
		m->n_refs--;
	}
	return *maps = copy;
}

/* Number of mappings that end at or before AVMA. */
static size_t maps_lower(const struct maps *m, uint64_t avma)
{
	size_t lo = 0, hi = m->v.n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (m->v.v[mid].end <= avma)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

void maps_add(struct maps *m, const struct mapping *map)
{
	size_t first = maps_lower(m, map->start), last = first, n_new = 0;
	struct mapping new[3];

	while (last < m->v.n && m->v.v[last].start < map->end)
		last++;
	if (first < last && m->v.v[first].start < map->start) {
		new[n_new] = m->v.v[first];
		new[n_new++].end = map->start;
	}
	new[n_new++] = *map;
	if (first < last && m->v.v[last - 1].end > map->end) {
		new[n_new] = m->v.v[last - 1];
		new[n_new].off += map->end - new[n_new].start;
		new[n_new++].start = map->end;
	}
	vec_reserve(&m->v, n_new);
	memmove(&m->v.v[first + n_new], &m->v.v[last], (m->v.n - last) * sizeof(*m->v.v));
	memcpy(&m->v.v[first], new, n_new * sizeof(*new));
	m->v.n = m->v.n - (last - first) + n_new;
}

const struct mapping *maps_find(const struct maps *m, uint64_t avma)
{
	size_t i;

	if (!m)
		return NULL;
	i = maps_lower(m, avma);
	return i < m->v.n && m->v.v[i].start <= avma ? &m->v.v[i] : NULL;
}
