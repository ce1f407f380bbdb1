/* SPDX-License-Identifier: BSD-2-Clause */
/* Which events count when, and how far apart their samples are: what changes while a collector
 * runs.
 *
 * A fixed period is in step with something: the kernel's tick, a program's own timer, a loop.  So
 * each descriptor samples with a period of its own near the one asked for, first P + D, then P - D,
 * then with a new D, so that their mean is P.  Setting a period begins the one under way anew: half
 * a period is lost each time on average, for which clocks make up with slightly shorter periods. */
#include "collect/schedule.h"

#include <time.h>

#include "base/clock.h"
#include "base/hash.h"
#include "collect/collector_impl.h"
#include "base/drift.h"

/* How long periods stay as they are: about so long, and about so many samples. */
#define STAY_NS	     1000000000ull
#define STAY_SAMPLES 64

/* Descriptors that get new periods in one go. */
#define MAX_REDRAWN 256

/* The clocks of a machine's CPUs begin one after the other, within one period and this. */
#define MAX_STAGGER_NS 20000000ull

/* Events of a fixed period other than clocks: P +- 1/32. */
#define COUNT_PART 32

/* A command's own events begin with its exec. */
static bool begins_now(const struct collector *c, const struct opened *o)
{
	return c->opts.target.kind != TARGET_COMMAND || collector_watches(c, o->event);
}

static uint64_t fixed_period(const struct collector *c, const struct opened *o)
{
	const struct perf_event_attr *a = &c->specs[o->event].attr;

	return a->freq ? 0 : a->sample_period;
}

/* How long, on average, a clock of PERIOD_NS keeps one. */
static uint64_t stay_ns(uint64_t period_ns)
{
	uint64_t ns = period_ns * STAY_SAMPLES;

	return ns > STAY_NS ? ns : STAY_NS;
}

static void draw_clock(struct collector *c, struct opened *o, uint64_t period)
{
	/* n samples a stay where n + 1/2 were to come, see above */
	double p = (double)period / (1 + (double)period / 2 / (double)stay_ns(period));
	uint64_t mean = (uint64_t)p;

	o->period = o->mirrored ? 2 * mean - o->period : drift_draw(mean, &c->draws);
	o->mirrored = !o->mirrored;
	opened_set_period(o, o->period);
}

/* How far the periods of a counter may be apart at least: IBS wants sixteens. */
static int64_t count_grid(uint64_t period)
{
	return period % 16 ? 1 : 16;
}

/* Only when it has taken samples: an event that is rarer than new periods would never take one. */
static void draw_count(struct collector *c, struct opened *o, uint64_t period)
{
	int64_t part = (int64_t)(period / COUNT_PART), by;
	int64_t grid = count_grid(period);
	struct opened_count n;

	if (part < grid || !opened_read(o, &n) ||
	    n.value - o->drawn_at < period * (uint64_t)STAY_SAMPLES)
		return;
	c->draws = hash_u64(c->draws + clock_mono_ns());
	o->drawn_at = n.value;
	by = (int64_t)(c->draws % (2 * (uint64_t)part + 1)) - part;
	o->period = (uint64_t)((int64_t)period + by / grid * grid);
	opened_set_period(o, o->period);
}

static void draw_period(struct collector *c, struct opened *o)
{
	uint64_t period = fixed_period(c, o);

	if (period && c->specs[o->event].is_clock)
		draw_clock(c, o, period);
	else if (period > 1)
		draw_count(c, o, period);
}

uint32_t collector_drawn_part(const struct collector *c, event_id event)
{
	for (uint32_t i = 0; i < c->opts.n_events; i++) {
		const struct event_spec *s = &c->specs[i];
		const uint64_t period = s->attr.freq ? 0 : s->attr.sample_period;

		if (c->events[i] != event || !period)
			continue;
		if (s->is_clock)
			return DRIFT_PART;
		return (int64_t)(period / COUNT_PART) < count_grid(period) ? 0 : COUNT_PART;
	}
	return 0;
}

/* When each clock has had its period for as long as it stays, give or take a quarter. */
static void schedule_next_draw(struct collector *c, uint64_t now)
{
	uint64_t stay = STAY_NS;

	for (uint32_t i = 0; i < c->opts.n_events; i++) {
		const struct event_spec *s = &c->specs[i];

		if (s->is_clock && stay_ns(s->attr.sample_period) > stay)
			stay = stay_ns(s->attr.sample_period);
	}
	c->draws = hash_u64(c->draws + now);
	c->draw_due_ns = now + stay * 3 / 4 + c->draws % (stay / 2);
}

/* Samples of all CPUs at one instant are not as many samples of a parallel program. */
static void wait_for_turn(const struct collector *c, const struct opened *o)
{
	uint64_t period = fixed_period(c, o), part;

	if (!c->specs[o->event].is_clock || o->cpu < 0 || !c->cpus.n)
		return;
	part = (period < MAX_STAGGER_NS ? period : MAX_STAGGER_NS) / c->cpus.n;
	nanosleep(&(struct timespec){.tv_nsec = (long)part}, NULL);
}

void schedule_start(struct collector *c)
{
	uint64_t now = clock_mono_ns();
	const struct opened *left = NULL;

	c->draws = hash_u64(now);
	vec_each (o, &c->samplers) {
		if (!c->specs[o->event].is_clock)
			continue;
		if (left && left->event == o->event && left->mirrored) {
			o->period = left->period; /* each second CPU begins with P - D */
			o->mirrored = true;
		}
		draw_period(c, o);
		left = o;
	}
	schedule_next_draw(c, now);
	if (c->opts.slot) {
		collector_run_slot(c, 0);
		return;
	}
	vec_each (o, &c->samplers) {
		if (!begins_now(c, o))
			continue;
		opened_enable_one(o);
		wait_for_turn(c, o);
	}
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

void schedule_vary(struct collector *c)
{
	uint64_t now = clock_mono_ns();
	size_t n = c->samplers.n < MAX_REDRAWN ? c->samplers.n : MAX_REDRAWN;

	if (now < c->draw_due_ns)
		return;
	for (size_t i = 0; i < n; i++)
		draw_period(c, &c->samplers.v[(c->n_drawn + i) % c->samplers.n]);
	c->n_drawn += n;
	schedule_next_draw(c, now);
}
