/* SPDX-License-Identifier: BSD-2-Clause */
/* Merging of profiles: profile_merge_dicts and profile_merge of profile.h.
 *
 * Dictionaries come first.  Each of SRC's elements is interned in DST, after what it refers to, and
 * a map tells its number there: strings and events, then images, places, owners, vectors and
 * contexts.  Values follow, with their numbers exchanged for DST's.  For example, SRC's context 7
 * is main, called by context 3: its place is exchanged by `places`, its parent by `ctxs`, where 3
 * is known already, since a parent has a smaller number. */
#include "model/profile.h"

#include <stdlib.h>
#include <string.h>

#include "model/cgroup_parts.h"
#include "model/container.h"
#include "model/fact.h"
#include "model/script.h"
#include "model/trace.h"

static void merge_meta(struct profile *dst, const struct profile *src)
{
	struct profile_meta *to = &dst->meta;
	const struct profile_meta *from = &src->meta;

#define FIRST(field)                                                                               \
	to->field = to->field ? to->field : profile_intern_str(dst, profile_str(src, from->field))
	FIRST(host);
	FIRST(platform);
	FIRST(kernel);
	FIRST(engine);
	FIRST(command);
	FIRST(cpu);
#undef FIRST
	if (from->start_wall_ns && (!to->start_wall_ns || from->start_wall_ns < to->start_wall_ns))
		to->start_wall_ns = from->start_wall_ns;
	if (from->end_wall_ns > to->end_wall_ns)
		to->end_wall_ns = from->end_wall_ns;
	if (from->n_cpus > to->n_cpus)
		to->n_cpus = from->n_cpus;
}

/* Returns where SRC's events went. */
static event_id *merge_facts(struct profile *dst, const struct profile *src)
{
	event_id *events = xcalloc(src->events.n, sizeof(*events));

	for (size_t i = 0; i < src->events.n; i++) {
		struct event e = src->events.v[i];

		e.name = profile_intern_str(dst, profile_str(src, e.name));
		e.unit = profile_intern_str(dst, profile_str(src, e.unit));
		events[i] = profile_intern_event(dst, &e);
	}
	vec_each (l, &src->losses)
		profile_add_loss(dst, profile_str(src, l->name), events[l->event], l->n);
	merge_meta(dst, src);
	return events;
}

/* Where a number that SRC may have named goes in DST: where its name is; without a name it keeps
 * its number, unless DST has named that.  -1: nowhere. */
static int merged_fact(struct profile *dst, const struct profile *src, bool is_counter,
		       unsigned number)
{
	vec_each (u, &src->user_facts)
		if (u->is_counter == is_counter && u->number == number)
			return profile_add_user_fact(dst, is_counter, profile_str(src, u->name),
						     profile_str(src, u->meaning));
	return (is_counter ? fact_counter_name : fact_bit_name)(dst, number) ? -1 : (int)number;
}

/* SRC's vectors in DST, whose names for facts may have other numbers.  A fact for which there is no
 * number left is not known any more; a counter's values are then of a counter that nobody names. */
static void merge_vectors(struct profile *dst, const struct profile *src, vector_id *ret)
{
	const uint64_t fixed = FACT_MASK(FACT_USER_BIT) - 1;
	int bits[N_FACT_BITS], counters[FACT_MAX_COUNTERS];

	vec_each (u, &src->user_facts) /* all names first */
		merged_fact(dst, src, u->is_counter, u->number);
	for (unsigned i = FACT_USER_BIT; i < N_FACT_BITS; i++)
		bits[i] = merged_fact(dst, src, false, i);
	for (unsigned i = FACT_USER_COUNTER; i < FACT_MAX_COUNTERS; i++)
		counters[i] = merged_fact(dst, src, true, i);
	for (size_t i = 0; i < src->vectors.n; i++) {
		struct vector v = src->vectors.v[i];
		const struct vector old = v;
		uint64_t named = (v.known | v.value) & ~fixed;

		v.known &= fixed;
		v.value &= fixed;
		for (; named; named &= named - 1) {
			unsigned bit = (unsigned)__builtin_ctzll(named);

			if (bits[bit] < 0)
				continue;
			v.known |= (old.known >> bit & 1) << bits[bit];
			v.value |= (old.value >> bit & 1) << bits[bit];
		}
		if (v.counter >= FACT_USER_COUNTER && v.counter < FACT_MAX_COUNTERS)
			v.counter = counters[v.counter] >= 0 ? (uint32_t)counters[v.counter]
							     : FACT_MAX_COUNTERS;
		ret[i] = profile_intern_vector(dst, &v);
	}
}

struct profile_map profile_merge_dicts(struct profile *dst, const struct profile *src)
{
	struct profile_map m = {
		.strings = xcalloc(src->strings.n, sizeof(string_id)),
		.images = xcalloc(src->images.n, sizeof(image_id)),
		.places = xcalloc(src->places.n, sizeof(place_id)),
		.owners = xcalloc(src->owners.n, sizeof(owner_id)),
		.vectors = xcalloc(src->vectors.n, sizeof(vector_id)),
		.ctxs = xcalloc(src->ctxs.n, sizeof(ctx_id)),
	};

	for (size_t i = 0; i < src->strings.n; i++)
		m.strings[i] = profile_intern_str(dst, src->strings.v[i]);
	m.events = merge_facts(dst, src);
	for (size_t i = 0; i < src->images.n; i++)
		m.images[i] = profile_intern_image(dst, &src->images.v[i]);
	for (size_t i = 0; i < src->places.n; i++) {
		const struct place *k = &src->places.v[i];

		m.places[i] = profile_intern_place(dst, m.images[k->image], k->svma, k->flags);
	}
	vec_each (s, &src->scripts)
		profile_add_script(dst, &(struct script){.place = m.places[s->place],
							 .language = m.strings[s->language],
							 .name = m.strings[s->name],
							 .line = s->line});
	vec_each (c, &src->containers) {
		struct container new;

		for (size_t i = 0; i < CONTAINER_N_TEXTS; i++)
			new.text[i] = m.strings[c->text[i]];
		profile_add_container(dst, &new);
	}
	for (size_t i = 0; i < src->owners.n; i++) {
		struct owner o = src->owners.v[i];

		o.exe = m.strings[o.exe];
		o.comm = m.strings[o.comm];
		o.cgroup = m.strings[o.cgroup];
		o.label = m.strings[o.label];
		o.thread_name = m.strings[o.thread_name];
		o.host = m.strings[o.host];
		owner_forget_parts(&o);
		m.owners[i] = profile_intern_owner(dst, &o);
	}
	merge_vectors(dst, src, m.vectors);
	for (size_t i = 1; i < src->ctxs.n; i++) {
		const struct ctx *c = &src->ctxs.v[i];

		m.ctxs[i] = profile_intern_ctx(dst, m.ctxs[c->parent], m.places[c->place]);
	}
	return m;
}

void profile_name_parts(struct profile *p)
{
	struct str text = {0};

	vec_each (o, &p->owners) {
		const struct container *c = profile_container_of(p, o->cgroup);

		str_reset(&text);
		cgroup_add_unit(&text, profile_str(p, o->cgroup));
		o->unit = profile_intern_str(p, str_get(&text));
		o->container = c ? *c : (struct container){{0}};
		if (o->container.text[CONTAINER_NAME])
			continue;
		str_reset(&text);
		cgroup_add_container(&text, profile_str(p, o->cgroup));
		o->container.text[CONTAINER_NAME] = profile_intern_str(p, str_get(&text));
	}
	str_release(&text);
}

void profile_map_release(struct profile_map *m)
{
	free(m->strings);
	free(m->events);
	free(m->images);
	free(m->places);
	free(m->owners);
	free(m->vectors);
	free(m->ctxs);
	memset(m, 0, sizeof(*m));
}

void profile_forget_kernel_addresses(struct profile *p)
{
	struct profile merged;
	bool any = false;

	vec_each (pl, &p->places) {
		if (p->images.v[pl->image].kind != IMAGE_UNKNOWN || pl->svma >> 63 == 0)
			continue;
		pl->svma = 0;
		any = true;
	}
	if (!any)
		return;
	/* Several places are one now, and so are their contexts and values. */
	profile_init(&merged);
	merged.trace_bytes_max = p->trace_bytes_max;
	profile_merge(&merged, p);
	profile_release(p);
	*p = merged;
}

void profile_merge(struct profile *dst, const struct profile *src)
{
	struct profile_map m = profile_merge_dicts(dst, src);

	vec_each (v, &src->values) {
		struct value w = *v;

		if (!value_counts(v))
			continue;
		w.owner = m.owners[v->owner];
		w.ctx = m.ctxs[v->ctx];
		w.vector = m.vectors[v->vector];
		w.event = m.events[v->event];
		profile_add_value(dst, &w);
	}
	profile_merge_branches(dst, src, &m);
	profile_merge_accesses(dst, src, &m);
	profile_merge_moments(dst, src, &m);
	trace_merge(dst, src, &m);
	profile_map_release(&m);
}
