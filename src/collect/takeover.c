/* SPDX-License-Identifier: BSD-2-Clause */
/* Folding the log of a dead recorder: with the events its note tells, and the processes as they are
 * now.  A process that has ended meanwhile is unknown, and so are the addresses in it; what was
 * counted in the spill table names its image by itself.  Callers are found in the old rings of
 * chains; those that are not there any more are a lost chain, as if its ring had been full. */
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

static void takeover_settle(struct collector *c, const struct takeover *t, uint32_t i, event_id id,
			    uint64_t n_folded)
{
	const struct log_account a = log_get_account(t->log);
	struct event *e = &c->profile->events.v[id];
	struct log_counts k = log_counts(t->log, i);
	/* The log knows nothing of an event whose samples came through a ring. */
	uint64_t reached = k.reached > t->reached[i] ? k.reached - t->reached[i] : 0;
	uint64_t dropped = k.dropped > t->dropped[i] ? k.dropped - t->dropped[i] : 0;
	uint64_t kept = n_folded + dropped;

	profile_add_loss(c->profile, "spill_full", id, dropped);
	if (reached > kept)
		profile_add_loss(c->profile, "unaccounted", id, reached - kept);
	e->n_reached += reached > kept ? reached : kept;
	/* The event's own count is gone with its descriptor: it promises what came. */
	e->total += (reached > kept ? reached : kept) * e->period;
	/* So is its time.  On which CPUs a slot's turn was cut short nobody knows any more. */
	if (a.time_ns && a.time_ns < t->stopped_ns) {
		uint64_t ns = (t->stopped_ns - a.time_ns) * c->cpus.n;

		e->enabled_ns += ns;
		e->running_ns += a.counting >> i & 1 ? ns : 0;
	}
}

/* Calls FN for each sample that is not stored, with the hash of its callers. */
static void each_sample(const struct takeover *t, void (*fn)(void *ctx, const struct log_sample *s),
			void *ctx)
{
	for (uint32_t cpu = 0; cpu < log_n_cpus(t->log); cpu++) {
		uint64_t head = log_head(t->log, cpu);

		for (uint64_t at = first_of(t, cpu, head); at != head; at++) {
			struct log_sample s = log_get(t->log, cpu, at);

			if (s.event >= t->note->n_events)
				continue;
			if (t->note->calls)
				s.chain = t->chains ? old_chains_hash(t->chains, cpu, at)
						    : CHAIN_LOST;
			fn(ctx, &s);
		}
	}
}

static void add_sample(void *ctx, const struct log_sample *s)
{
	fold_add(ctx, s);
}

struct old_paths {
	struct chains chains;
	struct images *images;
	const struct takeover *t;
	VEC(uint64_t) wanted;
};

static void want_chain(void *ctx, const struct log_sample *s)
{
	struct old_paths *o = ctx;

	if (s->chain && s->chain != CHAIN_LOST)
		vec_push(&o->wanted, s->chain);
}

static void learn_chain(void *ctx, const struct log_chain *c)
{
	struct old_paths *o = ctx;

	chains_add(&o->chains, c);
}

/* Where the dead recorder's image NUMBER is now. */
static place_id find_old_place(void *ctx, uint32_t number, uint64_t off, uint32_t flags)
{
	struct old_paths *o = ctx;
	struct build_id id;
	uint32_t code;

	if (number == IMAGE_NUMBER_VDSO)
		return images_place(o->images, images_numbered(o->images, number), off, flags);
	if (!old_chains_image(o->t->chains, number, &id))
		return profile_unknown_place(o->images->profile, off, flags);
	code = images_find_build_id(o->images, &id);
	return code == INDEX_NONE ? images_unmapped_place(o->images, &id, off, flags)
				  : images_place(o->images, code, off, flags);
}

static void learn_paths(struct collector *c, const struct takeover *t, struct old_paths *o)
{
	o->t = t;
	o->images = &c->images;
	chains_init(&o->chains, c->profile, &c->procs, &c->images, &c->kernel);
	o->chains.find_place = find_old_place;
	o->chains.find_ctx = o;
	if (!t->chains)
		return;
	each_sample(t, want_chain, o);
	old_chains_each(t->chains, o->wanted.v, o->wanted.n, learn_chain, o);
	vec_release(&o->wanted);
}

uint64_t collector_take_over(struct collector *c, const struct takeover *t)
{
	struct old_paths *paths = t->note->calls ? xcalloc(1, sizeof(*paths)) : NULL;
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
	collector_await_layouts(c); /* images are looked for by build-id */
	fold_init(&fold, c->profile, &c->procs, &c->images, &c->kernel, events);
	if (paths) {
		learn_paths(c, t, paths);
		fold.chains = &paths->chains;
	}
	each_sample(t, add_sample, &fold);
	log_each_spilled(t->log, take_spilled, &fold);
	fold_flush(&fold);
	for (uint32_t i = 0; i < t->note->n_events; i++) {
		takeover_settle(c, t, i, events[i], fold.n_samples[i]);
		n += fold.n_samples[i];
	}
	c->fold.n_unknown += fold.n_unknown;
	fold_release(&fold);
	if (paths)
		chains_release(&paths->chains);
	free(paths);
	fold_pause(&c->fold);
	return n;
}
