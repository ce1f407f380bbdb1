/* SPDX-License-Identifier: BSD-2-Clause */
/* Arithmetic only; see spread.h. */
#include "inproc/spread.h"

static uint64_t n_sharing(const struct time_spread *s)
{
	return s->n_signals < SPREAD_SIGNALS ? s->n_signals : SPREAD_SIGNALS;
}

static void give(struct time_spread *s, uint64_t n_parts)
{
	const uint64_t part = s->held_ns / n_parts;

	s->held_ns -= part;
	s->given_ns += part;
}

void spread_add(struct time_spread *s, uint64_t pc, uint64_t ns)
{
	s->last_pcs[s->n_signals++ % SPREAD_SIGNALS] = pc;
	s->held_ns += ns;
	give(s, n_sharing(s));
}

void spread_end(struct time_spread *s, uint64_t all_ns)
{
	if (all_ns > s->given_ns + s->held_ns)
		s->held_ns = all_ns - s->given_ns;
	s->n_left = n_sharing(s);
}

bool spread_next(struct time_spread *s, uint64_t *ret_pc)
{
	if (!s->n_left)
		return false;
	give(s, s->n_left);
	*ret_pc = s->last_pcs[(s->n_signals - s->n_left--) % SPREAD_SIGNALS];
	return true;
}
