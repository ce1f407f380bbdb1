/* SPDX-License-Identifier: BSD-2-Clause */
/* See maps.h.  The kernel hands out addresses downwards, /proc tells them upwards: so there is room
 * on both sides, and whichever side of a new mapping is shorter makes way. */
#include "machine/maps.h"
#include "base/lower_bound.h"

void maps_unref(struct maps *m)
{
	if (!m || --m->n_refs)
		return;
	if (m->v.v)
		free(m->v.v - m->n_before);
	free(m);
}

struct maps *maps_ref(struct maps *m)
{
	if (m)
		m->n_refs++;
	return m;
}

/* Gives M new memory with FROM's mappings and a hole of MORE at AT. */
static void move_to_new(struct maps *m, const struct maps *from, size_t at, size_t more)
{
	size_t n = from->v.n, room = n / 4 + 2;
	struct mapping *v = xcalloc(n + more + 2 * room, sizeof(*v));

	if (at)
		memcpy(v + room, from->v.v, at * sizeof(*v));
	if (n > at)
		memcpy(v + room + at + more, from->v.v + at, (n - at) * sizeof(*v));
	m->v.v = v + room;
	m->v.n = n;
	m->v.cap = n + more + room;
	m->n_before = room;
}

/* Makes a hole of MORE mappings at AT. */
static void make_room(struct maps *m, size_t at, size_t more)
{
	struct mapping *old = m->v.v ? m->v.v - m->n_before : NULL;
	bool up = at >= m->v.n - at;

	if ((up ? m->v.cap - m->v.n : m->n_before) < more) {
		move_to_new(m, m, at, more);
		free(old);
	} else if (up) {
		memmove(m->v.v + at + more, m->v.v + at, (m->v.n - at) * sizeof(*m->v.v));
	} else {
		memmove(m->v.v - more, m->v.v, at * sizeof(*m->v.v));
		m->v.v -= more;
		m->v.cap += more;
		m->n_before -= more;
	}
	m->v.n += more;
}

struct maps *maps_own(struct maps **maps)
{
	struct maps *m = *maps, *copy;

	if (m && m->n_refs == 1)
		return m;
	copy = xcalloc(1, sizeof(*copy));
	copy->n_refs = 1;
	if (m) {
		move_to_new(copy, m, m->v.n, 1);
		m->n_refs--;
	}
	return *maps = copy;
}

/* Number of mappings that end at or before AVMA. */
static size_t maps_lower(const struct maps *m, uint64_t avma)
{
	return lower_bound(k, 0, m->v.n, m->v.v[k].end <= avma);
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
	if (n_new > last - first) {
		make_room(m, last, n_new - (last - first));
	} else if (n_new < last - first) {
		memmove(&m->v.v[first + n_new], &m->v.v[last], (m->v.n - last) * sizeof(*m->v.v));
		m->v.n -= last - first - n_new;
	}
	memcpy(&m->v.v[first], new, n_new * sizeof(*new));
}

const struct mapping *maps_find(const struct maps *m, uint64_t avma)
{
	size_t i;

	if (!m)
		return NULL;
	i = maps_lower(m, avma);
	return i < m->v.n && m->v.v[i].start <= avma ? &m->v.v[i] : NULL;
}

const struct mapping *maps_around(const struct maps *m, uint64_t start, uint64_t end)
{
	const struct mapping *before = start ? maps_find(m, start - 1) : NULL;
	const struct mapping *behind = maps_find(m, end);

	return before && behind && before->code == behind->code &&
			       before->start - before->off == behind->start - behind->off
		       ? before
		       : NULL;
}
