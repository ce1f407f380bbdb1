/* SPDX-License-Identifier: BSD-2-Clause */
/* See wall.h.
 *
 * Shares are rounded so that nothing is lost: after each sample the owner has been given the whole
 * nanoseconds that all its samples so far stand for. */
#include "query/samples/wall.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"

static event_id find_time(const struct profile *p, const char *name)
{
	for (event_id e = 0; e < p->events.n; e++)
		if (*event_measures(p, &p->events.v[e]) &&
		    strcmp(profile_str(p, p->events.v[e].name), name) == 0)
			return e;
	return p->events.n;
}

/* The event whose samples say best where threads ran. */
static event_id find_clock(const struct profile *p)
{
	static const char *const names[] = {"cpu-clock", "task-clock", "cycles",
					    "cpu_core/cycles/"};

	for (size_t i = 0; i < n_elems(names); i++)
		for (event_id e = 0; e < p->events.n; e++)
			if (str_starts(profile_str(p, p->events.v[e].name), names[i]))
				return e;
	return p->events.n;
}

/* What one owner's samples share out. */
struct share {
	uint64_t running_ns, n_samples; /* all */
	uint64_t given_ns, n_done;	/* so far */
};

static uint64_t next_share(struct share *s, uint64_t n_samples)
{
	uint64_t due;

	s->n_done += n_samples;
	due = (uint64_t)((unsigned __int128)s->running_ns * s->n_done / s->n_samples);
	due -= s->given_ns;
	s->given_ns += due;
	return due;
}

void wall_add(struct profile *p, bool split)
{
	event_id running = find_time(p, "running"), runnable = find_time(p, "runnable"),
		 blocked = find_time(p, "blocked"), clock = find_clock(p), wall;
	size_t n = p->values.n;
	struct share *shares;
	struct event e;

	if (running == p->events.n)
		return;
	e = p->events.v[running];
	e.name = profile_intern_str(p, WALL_EVENT);
	wall = profile_intern_event(p, &e);
	shares = xcalloc(p->owners.n, sizeof(*shares));
	vec_each (v, &p->values) {
		if (v->event == running)
			shares[v->owner].running_ns += v->sum;
		if (v->event == clock)
			shares[v->owner].n_samples += v->count;
	}
	for (size_t i = 0; i < n; i++) {
		struct value v = p->values.v[i];
		struct share *s = &shares[v.owner];

		if (v.event == clock && s->running_ns && v.count) {
			v.sum = next_share(s, v.count);
		} else if (v.event != runnable && v.event != blocked &&
			   !(v.event == running && !s->n_samples)) {
			continue;
		}
		if (split && v.event == clock) {
			v.event = running;
			vec_push(&p->values, v);
		}
		v.event = wall;
		vec_push(&p->values, v);
	}
	/* What was given to samples is nowhere else. */
	for (size_t i = 0; split && i < n; i++)
		if (p->values.v[i].event == running && shares[p->values.v[i].owner].n_samples)
			p->values.v[i].count = p->values.v[i].sum = 0;
	free(shares);
}
