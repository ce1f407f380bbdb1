/* SPDX-License-Identifier: BSD-2-Clause */
/* See frame_source.h. */
#include "machine/frame_source.h"

#include "machine/procs.h"

void frame_source_add(struct procs *ps, struct frame_source *s)
{
	s->next = ps->sources;
	ps->sources = s;
}

bool frame_source_find(struct procs *ps, uint32_t proc, uint64_t avma, const struct mapping *map,
		       struct source_place *ret)
{
	const struct frame_query q = {
		.procs = ps, .proc = proc, .avma = avma, .map = map, .time_ns = ps->time_ns};

	for (struct frame_source *s = ps->sources; s; s = s->next)
		if (s->find(s, &q, ret))
			return true;
	return false;
}
