/* SPDX-License-Identifier: BSD-2-Clause */
/* Folding the log of a dead recorder: with the events its note tells, and the processes as they are
 * now.  A process that has ended meanwhile is unknown, and so are the addresses in it; what was
 * counted in the spill table names its image by itself.  Callers are not known: chains go with
 * their recorder. */
#include <stdlib.h>

#include "collect/collector_impl.h"

static void take_spilled(void *ctx, const struct spill_slot *s)
{
	if (s->event_used <= LOG_MAX_EVENTS)
		fold_add_spilled(ctx, s);
}

/* Where CPU's unstored samples begin: not before what the log still holds. */
static uint64_t first_of(const struct takeover *t, uint32_t cpu, uint64_t head)
{
	uint64_t tail = log_tail(t->log, cpu), since = t->since[cpu];

	if (since < tail || since > head)
		since = tail;
	return head - since > log_n_slots(t->log) ? head - log_n_slots(t->log) : since;
}

static void settle(struct collector *c, const struct takeover *t, uint32_t i, event_id id,
		   uint64_t n_folded)
{
	struct event *e = &c->profile->events.v[id];
	struct log_counts k = log_counts(t->log, i);
	uint64_t kept = n_folded + k.dropped - t->dropped[i];
	uint64_t reached = k.reached - t->reached[i];

	profile_add_loss(c->profile, "spill_full", id, k.dropped - t->dropped[i]);
	if (reached > kept)
		profile_add_loss(c->profile, "unaccounted", id, reached - kept);
	e->n_reached += reached > kept ? reached : kept;
	/* The event's own count is gone with its descriptor: it promises what came. */
	e->total += (reached > kept ? reached : kept) * e->period;
}

uint64_t collector_take_over(struct collector *c, const struct takeover *t)
{
	event_id events[LOG_MAX_EVENTS] = {0};
	struct fold fold;
	uint64_t n = 0;

	for (uint32_t i = 0; i < t->note->n_events; i++) {
		const struct pinned_event *e = &t->note->events[i];

		events[i] = profile_intern_event(
			c->profile, &(struct event){.name = profile_intern_str(c->profile, e->name),
						    .unit = profile_intern_str(c->profile, e->unit),
						    .period = e->period,
						    .freq_hz = e->freq_hz});
	}
	fold_init(&fold, c->profile, &c->procs, &c->images, &c->kernel, events);
	for (uint32_t cpu = 0; cpu < log_n_cpus(t->log); cpu++) {
		uint64_t head = log_head(t->log, cpu);

		for (uint64_t at = first_of(t, cpu, head); at != head; at++) {
			struct log_sample s = log_get(t->log, cpu, at);

			if (s.event < t->note->n_events)
				fold_add(&fold, &s);
		}
	}
	log_each_spilled(t->log, take_spilled, &fold);
	fold_flush(&fold);
	for (uint32_t i = 0; i < t->note->n_events; i++) {
		settle(c, t, i, events[i], fold.n_samples[i]);
		n += fold.n_samples[i];
	}
	c->fold.n_unknown += fold.n_unknown;
	fold_release(&fold);
	fold_pause(&c->fold);
	return n;
}
