/* SPDX-License-Identifier: BSD-2-Clause */
/* The dictionaries and values of profile.h.
 *
 * Each dictionary is a plain array with a u32 open-addressing index beside it (base/hash.h), or
 * with lists.  Events and losses are few: they are searched.  A context's parent always has a
 * smaller id. */
#include "model/cgroup_parts.h"
#include "model/container.h"
#include "model/profile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "model/fact.h"
#include "model/fresh.h"
#include "model/script.h"
#include "model/trace.h"

/* Strings. */

struct text {
	const char *s;
	size_t n;
};

static bool string_same(const void *owner, uint32_t i, const void *key)
{
	const struct profile *p = owner;
	const struct text *t = key;

	return strncmp(p->strings.v[i], t->s, t->n) == 0 && p->strings.v[i][t->n] == '\0';
}

string_id profile_intern_strn(struct profile *p, const char *s, size_t n)
{
	const struct text key = {s, strnlen(s, n)};
	uint64_t h = hash_bytes(s, key.n);
	uint32_t i = index_find(&p->string_ix, h, string_same, p, &key);

	if (i != INDEX_NONE)
		return i;
	vec_push(&p->strings, arena_strndup(&p->arena, s, key.n));
	index_add(&p->string_ix, h, (uint32_t)p->strings.n - 1);
	return (string_id)p->strings.n - 1;
}

string_id profile_intern_str(struct profile *p, const char *s)
{
	return profile_intern_strn(p, s, strlen(s));
}

static size_t indexes_bytes(const struct profile *p)
{
	return index_bytes(&p->string_ix) + index_bytes(&p->image_ix) + index_bytes(&p->place_ix) +
	       index_bytes(&p->script_ix) + index_bytes(&p->container_ix) +
	       index_bytes(&p->owner_ix) + index_bytes(&p->vector_ix) + index_bytes(&p->branch_ix) +
	       index_bytes(&p->access_ix) + index_bytes(&p->moment_ix) + index_bytes(&p->ctx_ix) +
	       index_bytes(&p->value_ix);
}

size_t profile_bytes(const struct profile *p)
{
	return p->arena.n_bytes + vec_bytes(&p->strings) + vec_bytes(&p->images) +
	       vec_bytes(&p->places) + vec_bytes(&p->scripts) + vec_bytes(&p->containers) +
	       vec_bytes(&p->owners) + vec_bytes(&p->vectors) + vec_bytes(&p->ctxs) +
	       vec_bytes(&p->ctx_kin) + vec_bytes(&p->flats) + vec_bytes(&p->values) +
	       vec_bytes(&p->value_kin) + vec_bytes(&p->moments) + vec_bytes(&p->branches) +
	       vec_bytes(&p->accesses) + indexes_bytes(p) + (p->fresh ? fresh_bytes(p->fresh) : 0);
}

const char *profile_str(const struct profile *p, string_id id)
{
	assert(id < p->strings.n);
	return p->strings.v[id];
}

/* Events. */

static void add_event_sums(struct event *to, const struct event *from)
{
	to->enabled_ns += from->enabled_ns;
	to->running_ns += from->running_ns;
	to->total += from->total;
	to->n_reached += from->n_reached;
	to->flags |= from->flags;
	to->weight_squares += from->weight_squares;
}

/* The period of an event whose frequency was fixed instead: what its samples stood for on average.
 * Where no sums tell, the larger one: merging must not depend on the order. */
static uint64_t mean_period(const struct event *sums, uint64_t other)
{
	if (sums->n_reached && sums->total >= sums->n_reached)
		return sums->total / sums->n_reached;
	return sums->period > other ? sums->period : other;
}

event_id profile_intern_event(struct profile *p, const struct event *e)
{
	vec_each (old, &p->events) {
		if (old->name != e->name || old->unit != e->unit || old->freq_hz != e->freq_hz ||
		    (!e->freq_hz && old->period != e->period))
			continue;
		add_event_sums(old, e);
		if (e->freq_hz)
			old->period = mean_period(old, e->period);
		return (event_id)(old - p->events.v);
	}
	vec_push(&p->events, *e);
	if (e->freq_hz)
		p->events.v[p->events.n - 1].period = mean_period(e, e->period);
	return (event_id)p->events.n - 1;
}

const char *event_measures(const struct profile *p, const struct event *e)
{
	const char *unit = profile_str(p, e->unit);

	return e->period == 1 && !e->freq_hz && strcmp(unit, "ns") == 0 ? unit : "";
}

uint64_t value_amount(const struct profile *p, const struct value *v)
{
	return *event_measures(p, &p->events.v[v->event]) ? v->sum : v->count;
}

bool event_has_weights(const struct profile *p, const struct event *e)
{
	return e->flags & EVENT_WEIGHTED || *event_measures(p, e);
}

uint64_t value_weight(const struct profile *p, const struct value *v)
{
	const struct event *e = &p->events.v[v->event];

	return v->sum && event_has_weights(p, e) ? v->sum : v->count * e->period;
}

double event_duty(const struct event *e)
{
	if (!e->enabled_ns || e->running_ns >= e->enabled_ns)
		return 1;
	return (double)e->running_ns / (double)e->enabled_ns;
}

uint64_t event_not_delivered(const struct event *e, uint64_t n_idle)
{
	uint64_t expected = e->total / e->period;
	uint64_t busy = e->n_reached > n_idle ? e->n_reached - n_idle : 0;

	return expected > busy ? expected - busy : 0;
}

/* Images. */

static bool image_same(const void *owner, uint32_t i, const void *key)
{
	const struct profile *p = owner;
	const struct image *a = &p->images.v[i], *b = key;

	if (a->kind != b->kind || (a->flags ^ b->flags) & IMAGE_OFFSETS ||
	    !build_id_same(&a->build_id, &b->build_id) || !image_digest_same(a->digest, b->digest))
		return false;
	return a->build_id.n_bytes || strcmp(a->path, b->path) == 0;
}

static uint64_t image_hash_of(const struct image *i)
{
	return i->build_id.n_bytes ? hash_bytes(i->build_id.bytes, i->build_id.n_bytes) + i->kind
				   : hash_str(i->path) + i->kind;
}

image_id profile_intern_image(struct profile *p, const struct image *im)
{
	uint64_t h = image_hash_of(im);
	uint32_t i = index_find(&p->image_ix, h, image_same, p, im);
	struct image *to;

	assert(im->kind < N_IMAGE_KINDS);
	if (i != INDEX_NONE) {
		to = &p->images.v[i];
		to->flags |= im->flags;
		if (!to->text_bytes) {
			to->text_start = im->text_start;
			to->text_bytes = im->text_bytes;
		}
		return i;
	}
	vec_push(&p->images, *im);
	to = &p->images.v[p->images.n - 1];
	to->path = profile_str(p, profile_intern_str(p, im->path));
	index_add(&p->image_ix, h, (uint32_t)p->images.n - 1);
	return (image_id)p->images.n - 1;
}

/* Places, owners and vectors: fixed-size keys, all alike.  DICT generates the index callbacks and
 * the find-or-add of one of them. */

static uint64_t place_hash_of(const struct place *k)
{
	return hash_pair(k->svma, (uint64_t)k->image << 32 | k->flags);
}

static bool place_eq(const struct place *a, const struct place *b)
{
	return a->svma == b->svma && a->image == b->image && a->flags == b->flags;
}

static uint64_t owner_hash_of(const struct owner *k)
{
	uint64_t h =
		hash_pair((uint64_t)k->exe << 32 | k->comm, (uint64_t)k->cgroup << 32 | k->label);

	return hash_pair(h + k->flags + ((uint64_t)k->host << 32),
			 hash_pair((uint64_t)k->uid << 32 | k->pid,
				   (uint64_t)k->thread_name << 32 | k->tid));
}

static bool owner_eq(const struct owner *a, const struct owner *b)
{
	return a->exe == b->exe && a->comm == b->comm && a->cgroup == b->cgroup &&
	       a->label == b->label && a->uid == b->uid && a->pid == b->pid && a->tid == b->tid &&
	       a->thread_name == b->thread_name && a->host == b->host && a->flags == b->flags;
}

static uint64_t vector_hash_of(const struct vector *k)
{
	return hash_pair(k->known + k->counter, k->value);
}

static bool vector_eq(const struct vector *a, const struct vector *b)
{
	return a->known == b->known && a->value == b->value && a->counter == b->counter;
}

#define DICT(noun)                                                                                 \
	static bool noun##_same(const void *owner, uint32_t i, const void *key)                    \
	{                                                                                          \
		return noun##_eq(&((const struct profile *)owner)->noun##s.v[i], key);             \
	}                                                                                          \
	/* Returns the element equal to KEY, added when *RET_NEW. */                               \
	static uint32_t noun##_intern(struct profile *p, const struct noun *key, bool *ret_new)    \
	{                                                                                          \
		uint64_t h = noun##_hash_of(key);                                                  \
		uint32_t i = index_find(&p->noun##_ix, h, noun##_same, p, key);                    \
                                                                                                   \
		*ret_new = i == INDEX_NONE;                                                        \
		if (!*ret_new)                                                                     \
			return i;                                                                  \
		vec_push(&p->noun##s, *key);                                                       \
		index_add(&p->noun##_ix, h, (uint32_t)p->noun##s.n - 1);                           \
		return (uint32_t)p->noun##s.n - 1;                                                 \
	}

DICT(place)
DICT(owner)
DICT(vector)

place_id profile_intern_place(struct profile *p, image_id image, uint64_t svma, uint32_t flags)
{
	bool new;

	assert(image < p->images.n);
	return place_intern(p, &(struct place){.svma = svma, .image = image, .flags = flags}, &new);
}

uint64_t profile_place_hash(const struct place *key)
{
	return place_hash_of(key);
}

void profile_prefetch_place(const struct profile *p, uint64_t hash)
{
	const uint32_t i = index_guess(&p->place_ix, hash);

	if (i != INDEX_NONE)
		__builtin_prefetch(&p->places.v[i]);
}

owner_id profile_intern_owner(struct profile *p, const struct owner *o)
{
	bool new;

	return owner_intern(p, o, &new);
}

vector_id profile_intern_vector(struct profile *p, const struct vector *v)
{
	bool new;

	return vector_intern(p, v, &new);
}

int profile_add_user_fact(struct profile *p, bool is_counter, const char *name, const char *meaning)
{
	int number = (is_counter ? fact_find_counter : fact_find_bit)(p, name, strlen(name));
	unsigned first = is_counter ? FACT_USER_COUNTER : FACT_USER_BIT;
	unsigned end = is_counter ? FACT_MAX_COUNTERS : N_FACT_BITS;

	if (number >= 0)
		return number;
	while (first < end && (is_counter ? fact_counter_name : fact_bit_name)(p, first))
		first++;
	if (first == end)
		return -1;
	vec_push(&p->user_facts, (struct user_fact){.name = profile_intern_str(p, name),
						    .meaning = profile_intern_str(p, meaning),
						    .number = (uint8_t)first,
						    .is_counter = is_counter});
	return (int)first;
}

/* Contexts and values.  Most contexts have one callee and one value or none, and the recorder adds
 * hundreds of thousands: an index of all would be a cache miss or two for each.  So each context
 * has short lists of them, found next to it; one that grows beyond LISTED is put into an index. */

#define LISTED 6

static uint64_t ctx_hash_of(const struct ctx *k)
{
	return hash_u64((uint64_t)k->parent << 32 | k->place);
}

static bool ctx_eq(const struct ctx *a, const struct ctx *b)
{
	return a->parent == b->parent && a->place == b->place;
}

static uint64_t value_hash_of(const struct value *k)
{
	return hash_pair((uint64_t)k->ctx << 32 | k->owner, (uint64_t)k->vector << 32 | k->event);
}

static bool value_eq(const struct value *a, const struct value *b)
{
	return a->ctx == b->ctx && a->owner == b->owner && a->vector == b->vector &&
	       a->event == b->event;
}

static bool ctx_same(const void *owner, uint32_t i, const void *key)
{
	return ctx_eq(&((const struct profile *)owner)->ctxs.v[i], key);
}

static bool value_same(const void *owner, uint32_t i, const void *key)
{
	return value_eq(&((const struct profile *)owner)->values.v[i], key);
}

/* The kin of CTX, good until the next context. */
static struct ctx_kin *kin_of(struct profile *p, ctx_id ctx)
{
	for (size_t i = p->ctx_kin.n; i < p->ctxs.n; i++)
		vec_push(&p->ctx_kin, (struct ctx_kin){.place = p->ctxs.v[i].place});
	return &p->ctx_kin.v[ctx];
}

static ctx_id add_child(struct profile *p, const struct ctx *key, unsigned n_listed)
{
	ctx_id new = (ctx_id)p->ctxs.n, *first;

	vec_push(&p->ctxs, *key);
	first = &kin_of(p, key->parent)->child;
	if (*first != KIN_MANY && n_listed < LISTED) {
		p->ctx_kin.v[new].next = *first;
		*first = new;
		return new;
	}
	for (ctx_id i = *first; i != KIN_MANY && i; i = p->ctx_kin.v[i].next)
		index_add(&p->ctx_ix, ctx_hash_of(&p->ctxs.v[i]), i);
	index_add(&p->ctx_ix, ctx_hash_of(key), new);
	*first = KIN_MANY;
	return new;
}

ctx_id profile_intern_ctx(struct profile *p, ctx_id parent, place_id place)
{
	const struct ctx key = {.parent = parent, .place = place};
	unsigned n = 0;
	ctx_id i;

	assert(parent < p->ctxs.n && place < p->places.n);
	if (parent == 0)
		return profile_flat_ctx(p, place);
	i = kin_of(p, parent)->child;
	if (i == KIN_MANY) {
		i = index_find(&p->ctx_ix, ctx_hash_of(&key), ctx_same, p, &key);
		return i != INDEX_NONE ? i : add_child(p, &key, 0);
	}
	for (; i; i = p->ctx_kin.v[i].next, n++)
		if (p->ctx_kin.v[i].place == place)
			return i;
	return add_child(p, &key, n);
}

ctx_id profile_flat_ctx(struct profile *p, place_id place)
{
	ctx_id *flat;

	assert(place < p->places.n);
	flat = vec_at(&p->flats, place);
	if (!*flat) {
		vec_push(&p->ctxs, (struct ctx){.place = place});
		*flat = (ctx_id)p->ctxs.n - 1;
	}
	return *flat;
}

image_id profile_unknown_image(struct profile *p)
{
	return profile_intern_image(p, &(struct image){.kind = IMAGE_UNKNOWN, .path = "[unknown]"});
}

place_id profile_unknown_place(struct profile *p, uint64_t avma, uint32_t flags)
{
	return profile_intern_place(p, profile_unknown_image(p), avma, flags);
}

place_id profile_unknown_kernel_place(struct profile *p)
{
	return profile_unknown_place(p, 0, 0);
}

ctx_id profile_mark_ctx(struct profile *p, const char *text)
{
	image_id image = profile_intern_image(p, &(struct image){.kind = IMAGE_MARK, .path = text});

	return profile_flat_ctx(p, profile_intern_place(p, image, 0, 0));
}

const struct place *profile_leaf(const struct profile *p, ctx_id ctx)
{
	assert(ctx && ctx < p->ctxs.n);
	return &p->places.v[p->ctxs.v[ctx].place];
}

/* Values and losses. */

static uint32_t value_new(struct profile *p, const struct value *v, unsigned n_listed)
{
	uint32_t *first = &kin_of(p, v->ctx)->value, new = (uint32_t)p->values.n;

	vec_push(&p->values, *v);
	vec_at(&p->value_kin, new); /* values of who reads a profile are nobody's kin */
	if (*first != KIN_MANY && n_listed < LISTED) {
		p->value_kin.v[new] = *first;
		*first = new + 1;
		return new;
	}
	for (uint32_t i = *first; i != KIN_MANY && i; i = p->value_kin.v[i - 1])
		index_add(&p->value_ix, value_hash_of(&p->values.v[i - 1]), i - 1);
	index_add(&p->value_ix, value_hash_of(v), new);
	*first = KIN_MANY;
	return new;
}

/* The value with V's key, added as it is when there was none. */
static uint32_t value_intern(struct profile *p, const struct value *v, bool *ret_new)
{
	uint32_t i = kin_of(p, v->ctx)->value;
	unsigned n = 0;

	*ret_new = false;
	if (i == KIN_MANY) {
		i = index_find(&p->value_ix, value_hash_of(v), value_same, p, v);
		if (i != INDEX_NONE)
			return i;
	} else {
		for (; i; i = p->value_kin.v[i - 1], n++)
			if (value_eq(&p->values.v[i - 1], v))
				return i - 1;
	}
	*ret_new = true;
	return value_new(p, v, n);
}

uint32_t profile_add_value(struct profile *p, const struct value *v)
{
	bool new;
	uint32_t i;

	assert(v->owner < p->owners.n && v->ctx < p->ctxs.n && v->vector < p->vectors.n &&
	       v->event < p->events.n);
	i = value_intern(p, v, &new);
	if (p->fresh)
		fresh_add(p->fresh, i);
	if (!new) {
		p->values.v[i].count += v->count;
		p->values.v[i].sum += v->sum;
	}
	return i;
}

void profile_add_loss(struct profile *p, const char *name, event_id event, uint64_t n)
{
	string_id id;

	if (!n)
		return;
	id = profile_intern_str(p, name);
	vec_each (l, &p->losses) {
		if (l->name == id && l->event == event) {
			l->n += n;
			return;
		}
	}
	vec_push(&p->losses, (struct loss){.name = id, .event = event, .n = n});
}

uint64_t profile_n_samples(const struct profile *p, event_id event)
{
	uint64_t n = 0;

	profile_each_used (p, i) {
		const struct value *v = &p->values.v[i];

		n += v->event == event && value_is_samples(p, v) ? v->count : 0;
	}
	return n;
}

uint64_t profile_n_lost(const struct profile *p, event_id event)
{
	uint64_t n = 0;

	vec_each (l, &p->losses)
		n += l->event == event ? l->n : 0;
	return n;
}

/* So many values, and as many as are in use, may rest without being used.  It is cheap to add one
 * again, but with call paths most of them never come again. */
#define MOST_RESTING 16384

/* Forgets all values; their counts are 0. */
static void forget_values(struct profile *p)
{
	p->values.n = p->value_kin.n = 0;
	index_release(&p->value_ix);
	vec_each (k, &p->ctx_kin)
		k->value = 0;
	p->values_epoch++;
}

void profile_reset_values(struct profile *p)
{
	size_t n_used = 0;

	profile_each_used (p, i) {
		n_used += p->values.v[i].count != 0;
		p->values.v[i].count = p->values.v[i].sum = 0;
	}
	p->losses.n = p->branches.n = p->accesses.n = p->moments.n = 0;
	p->n_timed = 0;
	index_release(&p->branch_ix);
	index_release(&p->access_ix);
	index_release(&p->moment_ix);
	vec_each (e, &p->events)
		e->enabled_ns = e->running_ns = e->total = e->n_reached = 0;
	trace_reset(p);
	if (p->fresh)
		fresh_reset(p);
	if (p->values.n > 2 * n_used + MOST_RESTING)
		forget_values(p);
}

/* Life cycle. */

void profile_init(struct profile *p)
{
	memset(p, 0, sizeof(*p));
	profile_intern_str(p, "");
	profile_intern_owner(p, &(struct owner){.uid = OWNER_UID_UNKNOWN});
	profile_intern_vector(p, &(struct vector){0});
	vec_push(&p->ctxs, (struct ctx){0}); /* the root is in no index: nothing equals it */
	trace_reset(p);
}

void profile_seal(struct profile *p)
{
	vec_release(&p->flats);
	vec_release(&p->ctx_kin);
	vec_release(&p->value_kin);
	index_release(&p->ctx_ix);
	index_release(&p->value_ix);
	index_release(&p->place_ix);
}

void profile_release(struct profile *p)
{
	arena_release(&p->arena);
	vec_release(&p->strings);
	vec_release(&p->events);
	vec_release(&p->images);
	vec_release(&p->places);
	vec_release(&p->scripts);
	vec_release(&p->containers);
	vec_release(&p->owners);
	vec_release(&p->vectors);
	vec_release(&p->user_facts);
	vec_release(&p->ctxs);
	vec_release(&p->values);
	vec_release(&p->losses);
	vec_release(&p->branches);
	index_release(&p->branch_ix);
	vec_release(&p->accesses);
	index_release(&p->access_ix);
	vec_release(&p->moments);
	index_release(&p->moment_ix);
	index_release(&p->string_ix);
	index_release(&p->image_ix);
	index_release(&p->place_ix);
	index_release(&p->script_ix);
	index_release(&p->container_ix);
	index_release(&p->owner_ix);
	index_release(&p->vector_ix);
	vec_release(&p->flats);
	vec_release(&p->ctx_kin);
	vec_release(&p->value_kin);
	index_release(&p->ctx_ix);
	index_release(&p->value_ix);
	trace_release(p);
	fresh_release(p);
	memset(p, 0, sizeof(*p));
}
