/* SPDX-License-Identifier: BSD-2-Clause */
/* See excerpt.h.  Ids are looked for in a table of SRC's to DST's that only has those that were
 * needed, so that nothing is as long as SRC's dictionaries. */
#include "model/excerpt.h"

#include "base/hash.h"
#include "model/container.h"
#include "model/fresh.h"
#include "model/script.h"

/* What an id of SRC is in DST, of one dictionary. */
struct excerpt_id {
	uint32_t from, to;
};

struct excerpt_ids {
	VEC(struct excerpt_id) ids;
	struct index index;
};

struct excerpt {
	struct profile *dst;
	const struct profile *src;
	struct excerpt_ids images, places, owners, vectors, ctxs;
	event_id *events;
};

static bool excerpt_same(const void *owner, uint32_t i, const void *key)
{
	const struct excerpt_ids *t = owner;

	return t->ids.v[i].from == *(const uint32_t *)key;
}

/* Returns what FROM became; INDEX_NONE: it is not in DST yet. */
static uint32_t excerpt_find(const struct excerpt_ids *t, uint32_t from)
{
	const uint32_t i = index_find(&t->index, hash_u64(from), excerpt_same, t, &from);

	return i == INDEX_NONE ? INDEX_NONE : t->ids.v[i].to;
}

static uint32_t excerpt_note(struct excerpt_ids *t, uint32_t from, uint32_t to)
{
	vec_push(&t->ids, (struct excerpt_id){from, to});
	index_add(&t->index, hash_u64(from), (uint32_t)t->ids.n - 1);
	return to;
}

static void excerpt_ids_release(struct excerpt_ids *t)
{
	vec_release(&t->ids);
	index_release(&t->index);
}

static string_id excerpt_str(struct excerpt *x, string_id id)
{
	return profile_intern_str(x->dst, profile_str(x->src, id));
}

static image_id excerpt_image(struct excerpt *x, image_id id)
{
	const uint32_t known = excerpt_find(&x->images, id);

	return known != INDEX_NONE
		       ? known
		       : excerpt_note(&x->images, id,
				      profile_intern_image(x->dst, &x->src->images.v[id]));
}

static place_id excerpt_place(struct excerpt *x, place_id id)
{
	const struct place *k = &x->src->places.v[id];
	const struct script *s = profile_find_script(x->src, id);
	const uint32_t known = excerpt_find(&x->places, id);
	place_id to;

	if (known != INDEX_NONE)
		return known;
	to = profile_intern_place(x->dst, excerpt_image(x, k->image), k->svma, k->flags);
	if (s)
		profile_add_script(x->dst, &(struct script){.place = to,
							    .language = excerpt_str(x, s->language),
							    .name = excerpt_str(x, s->name),
							    .line = s->line});
	return excerpt_note(&x->places, id, to);
}

static void excerpt_container(struct excerpt *x, string_id cgroup)
{
	const struct container *c = profile_container_of(x->src, cgroup);
	struct container new;

	if (!c)
		return;
	for (size_t i = 0; i < CONTAINER_N_TEXTS; i++)
		new.text[i] = excerpt_str(x, c->text[i]);
	profile_add_container(x->dst, &new);
}

static owner_id excerpt_owner(struct excerpt *x, owner_id id)
{
	const uint32_t known = excerpt_find(&x->owners, id);
	struct owner o = x->src->owners.v[id];

	if (known != INDEX_NONE)
		return known;
	o.exe = excerpt_str(x, o.exe);
	o.comm = excerpt_str(x, o.comm);
	o.label = excerpt_str(x, o.label);
	o.thread_name = excerpt_str(x, o.thread_name);
	o.host = excerpt_str(x, o.host);
	excerpt_container(x, o.cgroup);
	o.cgroup = excerpt_str(x, o.cgroup);
	owner_forget_parts(&o);
	return excerpt_note(&x->owners, id, profile_intern_owner(x->dst, &o));
}

static vector_id excerpt_vector(struct excerpt *x, vector_id id)
{
	const uint32_t known = excerpt_find(&x->vectors, id);

	return known != INDEX_NONE
		       ? known
		       : excerpt_note(&x->vectors, id,
				      profile_intern_vector(x->dst, &x->src->vectors.v[id]));
}

/* Callers come first, down from the outermost that is new. */
static ctx_id excerpt_ctx(struct excerpt *x, ctx_id id)
{
	VEC(ctx_id) path = {0};
	uint32_t known = 0;
	ctx_id up = id;

	while (up && (known = excerpt_find(&x->ctxs, up)) == INDEX_NONE) {
		vec_push(&path, up);
		up = x->src->ctxs.v[up].parent;
	}
	known = up ? known : 0;
	for (size_t i = path.n; i-- > 0;) {
		const place_id place = excerpt_place(x, x->src->ctxs.v[path.v[i]].place);

		known = excerpt_note(&x->ctxs, path.v[i], profile_intern_ctx(x->dst, known, place));
	}
	vec_release(&path);
	return known;
}

/* Bits and counters that have their numbers in SRC have the same in DST. */
static void excerpt_facts(struct excerpt *x)
{
	vec_each (f, &x->src->user_facts)
		profile_add_user_fact(x->dst, f->is_counter, profile_str(x->src, f->name),
				      profile_str(x->src, f->meaning));
}

static void excerpt_meta(struct excerpt *x)
{
	const struct profile_meta *from = &x->src->meta;
	struct profile_meta *to = &x->dst->meta;

	*to = *from;
	to->host = excerpt_str(x, from->host);
	to->platform = excerpt_str(x, from->platform);
	to->kernel = excerpt_str(x, from->kernel);
	to->engine = excerpt_str(x, from->engine);
	to->command = excerpt_str(x, from->command);
}

void profile_excerpt(struct profile *dst, const struct profile *src)
{
	struct excerpt x = {.dst = dst, .src = src};

	excerpt_meta(&x);
	excerpt_facts(&x);
	x.events = xcalloc(src->events.n + 1, sizeof(*x.events));
	for (event_id i = 0; i < src->events.n; i++) {
		struct event e = src->events.v[i];

		e.name = excerpt_str(&x, e.name);
		e.unit = excerpt_str(&x, e.unit);
		x.events[i] = profile_intern_event(dst, &e);
	}
	profile_each_used (src, i) {
		struct value v = src->values.v[i];

		if (!value_counts(&v))
			continue;
		v.owner = excerpt_owner(&x, v.owner);
		v.ctx = excerpt_ctx(&x, v.ctx);
		v.vector = excerpt_vector(&x, v.vector);
		v.event = x.events[v.event];
		profile_add_value(dst, &v);
	}
	vec_each (l, &src->losses)
		profile_add_loss(dst, profile_str(src, l->name), x.events[l->event], l->n);
	excerpt_ids_release(&x.images);
	excerpt_ids_release(&x.places);
	excerpt_ids_release(&x.owners);
	excerpt_ids_release(&x.vectors);
	excerpt_ids_release(&x.ctxs);
	free(x.events);
}
