/* SPDX-License-Identifier: BSD-2-Clause */
/* See edges.h.
 *
 * Readers cut time at the edges of segments.  For a day they are those of flushes, but a minute
 * apart at least; for 30 days those of hours; then a recording is one segment:
 *
 *     now 2 Jan 12:07    flushed 1 Jan 11:00, 11:05 ... 11:55 | 12:00 | 12:05 ...
 *     becomes            1 Jan 11 o'clock                     | 12:00 | 12:05 ...
 *
 * An hour becomes one segment when all of it is a day old, and days join the whole when all of them
 * are 30 days old: so each sample is merged a few times, however long a recording goes on.  Only
 * segments behind one another in the MANIFEST become one. */
#include "store/edges.h"

#define MINUTE_NS (60ull * 1000000000)
#define HOUR_NS	  (60 * MINUTE_NS)
#define DAY_NS	  (24 * HOUR_NS)

/* Whether the whole DAY or HOUR that holds T_NS ended AGE_NS ago. */
static bool is_past(uint64_t t_ns, uint64_t unit_ns, uint64_t age_ns, uint64_t now_ns)
{
	return (t_ns / unit_ns + 1) * unit_ns + age_ns <= now_ns;
}

bool edges_same(uint64_t a_ns, uint64_t b_ns, uint64_t now_ns)
{
	uint64_t unit_ns = MINUTE_NS;

	if (is_past(a_ns, DAY_NS, EDGES_HOUR_NS, now_ns) &&
	    is_past(b_ns, DAY_NS, EDGES_HOUR_NS, now_ns))
		return true;
	if (is_past(a_ns, HOUR_NS, EDGES_FLUSH_NS, now_ns) &&
	    is_past(b_ns, HOUR_NS, EDGES_FLUSH_NS, now_ns))
		unit_ns = HOUR_NS;
	return a_ns / unit_ns == b_ns / unit_ns;
}

void edges_runs(const struct manifest *m, uint64_t now_ns, segment_runs *ret)
{
	for (size_t i = 0; i < m->segments.n; i++) {
		const struct manifest_segment *s = &m->segments.v[i];

		if (i && edges_same(s[-1].start_wall_ns, s->start_wall_ns, now_ns))
			ret->v[ret->n - 1].n++;
		else
			vec_push(ret, (struct segment_run){i, 1});
	}
}

bool edges_any(const struct manifest *m, uint64_t now_ns)
{
	for (size_t i = 1; i < m->segments.n; i++)
		if (edges_same(m->segments.v[i - 1].start_wall_ns, m->segments.v[i].start_wall_ns,
			       now_ns))
			return true;
	return false;
}
