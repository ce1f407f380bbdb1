/* SPDX-License-Identifier: BSD-2-Clause */
/* Which events count when, and how far apart their samples are: what changes while a collector
 * runs.
 */
#include "collect/schedule.h"

#include "base/clock.h"
#include "base/hash.h"
#include "collect/collector_impl.h"

/* A period is drawn from the one asked for plus and minus this part of it: within a second at 100
 * Hz the phase of a loop of the same length wanders through three of its rounds. */
#define VARY_PART 32

void schedule_start(struct collector *c)
{
	if (c->opts.slot)
		collector_run_slot(c, 0);
	else
		opened_enable(&c->samplers);
}

void collector_run_slot(struct collector *c, uint32_t slot)
{
	c->slot = slot;
	vec_each (o, &c->samplers)
		if (c->opts.slot[o->event] != slot)
			opened_disable_one(o);
	vec_each (o, &c->samplers)
		if (c->opts.slot[o->event] == slot)
			opened_enable_one(o);
}

void collector_vary_periods(struct collector *c)
{
	vec_each (o, &c->samplers) {
		const struct perf_event_attr *a = &c->specs[o->event].attr;
		uint64_t part = a->freq ? 0 : a->sample_period / VARY_PART;

		if (!part)
			continue;
		c->draws = hash_u64(c->draws + clock_mono_ns());
		opened_set_period(o, a->sample_period - part + c->draws % (2 * part + 1));
	}
}
