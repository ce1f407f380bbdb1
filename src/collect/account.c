/* SPDX-License-Identifier: BSD-2-Clause */
/* See account.h.  Everything is summed up since the beginning and compared with what was told
 * before, so that nothing is told twice and rounding does not add up. */
#include "collect/account.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "collect/collector_impl.h"

/* Idle and waiting time of all CPUs since boot: proc(5), /proc/stat, "cpu" line, 4th and 5th field,
 * in clock ticks. */
static uint64_t machine_idle_ns(void)
{
	unsigned long long idle = 0, iowait = 0;
	char *text;

	if (file_load("/proc/stat", 1 << 24, &text, NULL, NULL) < 0)
		return 0;
	if (sscanf(text, "cpu %*u %*u %*u %llu %llu", &idle, &iowait) != 2)
		idle = iowait = 0;
	free(text);
	return (idle + iowait) * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
}

void account_begin(struct collector *c)
{
	c->idle_start_ns = machine_idle_ns();
	c->start_ns = c->account_ns = clock_mono_ns();
	account_store(c);
}

/* Events in the log count on when the recorder is dead, those of the slot that has its turn. */
void account_store(struct collector *c)
{
	struct log_account a = {.time_ns = c->account_ns};

	for (uint32_t i = 0; i < c->opts.n_events; i++)
		if (c->in_log[i] && (!c->opts.slot || c->opts.slot[i] == c->slot))
			a.counting |= 1ull << i;
	if (c->log)
		log_set_account(c->log, &a);
}

void account_end_idle(struct collector *c)
{
	c->idle_ns = machine_idle_ns() - c->idle_start_ns;
}

/* The events' own counts: reads every descriptor.  An event on one thread and one CPU counts as
 * enabled while its thread runs on any CPU, so of each thread one CPU's
 * descriptor tells that time. */
static void read_counts(const struct collector *c, struct account *now)
{
	bool tasks = c->opts.target.kind == TARGET_PIDS || c->opts.target.kind == TARGET_COMMAND;

	vec_each (o, &c->samplers) {
		struct account *a = &now[o->event];
		struct opened_count n;

		if (!opened_read(o, &n))
			continue;
		a->total += n.value;
		if (!tasks || collector_watches(c, o->event) || o->cpu < 0 ||
		    o->cpu == c->cpus.v[0])
			a->enabled_ns += n.enabled_ns;
		a->running_ns += n.running_ns;
		a->ring_lost += n.lost;
	}
}

/* A - B where A may have fallen a little behind: idle time is counted in ticks. */
static uint64_t above(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* A clock's count goes on while a CPU idles, but its samples do not come reliably then; and it goes
 * on in code the event excludes, so that it promises nothing there.  Where a command is watched it
 * goes on in others. */
static void leave_out_idle(const struct collector *c, uint32_t i, struct account *a)
{
	const struct event_spec *spec = &c->specs[i];
	uint64_t idle = c->idle_ns;

	if (!spec->is_clock)
		return;
	if (a->running_ns < a->enabled_ns) /* of the time it counted */
		idle = (uint64_t)((double)idle * (double)a->running_ns / (double)a->enabled_ns);
	if (spec->attr.exclude_kernel || spec->attr.exclude_user)
		a->total = 0;
	else if (c->opts.target.kind == TARGET_ALL || collector_watches(c, i))
		a->total = above(a->total, idle);
	if (collector_watches(c, i))
		a->total = above(a->total, log_others(c->log, i) * spec->attr.sample_period);
}

static void tell_loss(struct collector *c, uint32_t i, const char *name, uint64_t now,
		      uint64_t *told)
{
	profile_add_loss(c->profile, name, c->events[i], now - *told);
	*told = now;
}

static void settle_event(struct collector *c, uint32_t i, struct account *now, bool final)
{
	struct event *e = &c->profile->events.v[c->events[i]];
	struct account *told = &c->told[i];
	struct log_counts k = {0};
	uint64_t kept = c->fold.n_samples[i];

	c->n_ring_lost[i] = now->ring_lost;
	if (c->in_log[i])
		k = log_counts(c->log, i);
	else
		k.reached = c->n_ring_samples[i] + now->ring_lost;
	now->dropped = k.dropped;
	kept += now->dropped + now->ring_lost;
	/* Nothing should be left over; if something is, it has a name too. */
	now->unaccounted = final ? above(k.reached, kept) : told->unaccounted;
	now->reached = kept + now->unaccounted;
	e->n_reached += now->reached - told->reached;
	told->reached = now->reached;
	tell_loss(c, i, "spill_full", now->dropped, &told->dropped);
	tell_loss(c, i, "ring_full", now->ring_lost, &told->ring_lost);
	tell_loss(c, i, "unaccounted", now->unaccounted, &told->unaccounted);
	leave_out_idle(c, i, now);
	e->total += above(now->total, told->total);
	e->enabled_ns += now->enabled_ns - told->enabled_ns;
	e->running_ns += now->running_ns - told->running_ns;
	told->total += above(now->total, told->total);
	told->enabled_ns = now->enabled_ns;
	told->running_ns = now->running_ns;
	if (e->freq_hz && e->n_reached && e->total >= e->n_reached)
		e->period = e->total / e->n_reached;
}

void account_settle(struct collector *c, bool final)
{
	struct account now[LOG_MAX_EVENTS] = {0};

	if (!final)
		account_end_idle(c);
	read_counts(c, now);
	c->account_ns = clock_mono_ns();
	if (c->opts.slot) /* an event counts as wanted even while it is not its slot's turn */
		for (uint32_t i = 0; i < c->opts.n_events; i++)
			now[i].enabled_ns = (clock_mono_ns() - c->start_ns) * c->cpus.n;
	for (uint32_t i = 0; i < c->opts.n_events; i++)
		settle_event(c, i, &now[i], final);
}
