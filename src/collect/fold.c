/* SPDX-License-Identifier: BSD-2-Clause */
/* See fold.h. */
#include "collect/fold.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "model/fresh.h"

#define FIRST_N_SLOTS 8192u
#define MOST_N_SLOTS  (1u << 16)

/* Half a cache line. */
struct fold_slot {
	struct fold_key key;
	uint32_t count; /* since the last flush */
	uint32_t value; /* number of the profile's value, or VALUE_NONE before its first flush */
};

#define VALUE_NONE UINT32_MAX

/* How many slots before its turn one is fetched. */
#define AHEAD 16

/* What `code` is besides a number in struct images: */
#define CODE_KERNEL UINT32_MAX /* `at` is a kernel address */
#define CODE_IMAGE                                                                                 \
	(1u << 31) /* an image of the profile (generated code, unknown), `at` an address in it */

void fold_init(struct fold *f, struct profile *p, struct procs *procs, struct images *images,
	       struct kernel_map *kernel, const event_id *events)
{
	*f = (struct fold){
		.profile = p, .procs = procs, .images = images, .kernel = kernel, .events = events};
	f->n_slots = FIRST_N_SLOTS;
	f->slots = xcalloc(f->n_slots, sizeof(*f->slots));
}

void fold_release(struct fold *f)
{
	free(f->slots);
	vec_release(&f->counting);
	vec_release(&f->late);
	f->slots = NULL;
	f->n_slots = 0;
}

/* The table. */

static bool key_same(const struct fold_key *a, const struct fold_key *b)
{
	return a->at == b->at && a->code == b->code && a->owner == b->owner &&
	       a->event == b->event && a->caller == b->caller;
}

static uint32_t first_slot(const struct fold *f, const struct fold_key *key)
{
	uint64_t h = hash_u64((key->at ^ (uint64_t)key->code << 32 ^ (uint64_t)key->owner << 20 ^
			       (uint64_t)key->event << 56) +
			      key->caller * 0x9e3779b97f4a7c15ULL);

	return (uint32_t)h & (f->n_slots - 1);
}

/* The slot of KEY, or the free one where it belongs. */
static struct fold_slot *find_slot(const struct fold *f, uint32_t first, const struct fold_key *key)
{
	for (uint32_t i = first;; i = (i + 1) & (f->n_slots - 1)) {
		struct fold_slot *s = &f->slots[i];

		if (!s->key.event || key_same(&s->key, key))
			return s;
	}
}

static void fold_settle(struct fold *f);

/* Settles all and begins with an empty table. */
static void start_over(struct fold *f)
{
	fold_settle(f);
	memset(f->slots, 0, f->n_slots * sizeof(*f->slots));
	f->n_used = 0;
}

/* Makes room for a batch more; a table that has grown enough settles and starts over instead. */
static void fold_reserve(struct fold *f)
{
	struct fold_slot *old = f->slots;
	uint32_t n_old = f->n_slots;

	if (f->n_used + FOLD_BATCH <= n_old / 4 * 3)
		return;
	if (n_old >= MOST_N_SLOTS) {
		start_over(f);
		return;
	}
	f->n_slots = n_old * 2;
	f->slots = xcalloc(f->n_slots, sizeof(*f->slots));
	f->counting.n = 0;
	for (uint32_t i = 0; i < n_old; i++) {
		struct fold_slot *s;

		if (!old[i].key.event)
			continue;
		s = find_slot(f, first_slot(f, &old[i].key), &old[i].key);
		*s = old[i];
		if (s->count)
			vec_push(&f->counting, (uint32_t)(s - f->slots));
	}
	free(old);
}

static void count_batch(struct fold *f)
{
	if (!f->n_batch)
		return;
	for (unsigned i = 0; i < f->n_batch; i++) {
		struct fold_slot *s = find_slot(f, f->batch[i].slot, &f->batch[i].key);

		if (!s->key.event) {
			s->key = f->batch[i].key;
			s->value = VALUE_NONE;
			f->n_used++;
		}
		if (!s->count++)
			vec_push(&f->counting, (uint32_t)(s - f->slots));
	}
	f->n_batch = 0;
	fold_reserve(f); /* only between batches: growing moves the slots a batch has fetched */
}

static void fold_count(struct fold *f, const struct fold_key *key)
{
	uint32_t slot = first_slot(f, key);

	__builtin_prefetch(&f->slots[slot], 1);
	f->forgot = false;
	f->batch[f->n_batch].key = *key;
	f->batch[f->n_batch++].slot = slot;
	if (f->n_batch == FOLD_BATCH)
		count_batch(f);
}

/* Samples. */

static void look_up_process(struct fold *f, const struct log_sample *s)
{
	f->last.known = true;
	f->last.tgid = s->tgid;
	f->last.tid = s->tid;
	f->last.generation = s->generation;
	f->last.proc = procs_look_up(f->procs, s->tgid, s->generation);
	f->last.owner = f->last.proc == PROC_NONE ? 0 : procs_owner(f->procs, f->last.proc, s->tid);
	f->last.map = (struct mapping){0};
}

static bool is_last_process(const struct fold *f, const struct log_sample *s)
{
	return f->last.known && f->last.tgid == s->tgid && f->last.generation == s->generation &&
	       (f->procs->split != OWNER_TID || f->last.tid == s->tid);
}

static bool in_mapping(const struct mapping *m, uint64_t ip)
{
	return ip - m->start < m->end - m->start;
}

/* Finds the place of IP in mapping M, which is no file's. */
static void locate_generated(struct fold *f, uint64_t ip, const struct mapping *m,
			     struct fold_key *key)
{
	struct source_place place = {.svma = ip};

	if (f->last.proc == PROC_NONE ||
	    !frame_source_find(f->procs, f->last.proc, ip, m, &place)) {
		place.image = profile_unknown_image(f->profile);
		place.svma = ip >> 63 ? 0 : ip;
		f->n_unknown++;
	}
	key->code = CODE_IMAGE | place.image;
	key->at = place.svma;
}

/* Fills in where user address IP is in the last process. */
static void locate(struct fold *f, uint64_t ip, struct fold_key *key)
{
	const struct mapping *m = &f->last.map;

	key->at = ip;
	if (!in_mapping(m, ip)) {
		m = f->last.proc == PROC_NONE ? NULL
					      : procs_find_mapping(f->procs, f->last.proc, ip);
		if (m)
			f->last.map = *m;
	}
	if (!m || f->images->codes.v[m->code].kind == CODE_ANON) {
		locate_generated(f, ip, m, key);
		return;
	}
	key->code = m->code;
	key->at = ip - m->start + m->off;
}

static place_id place_of(struct fold *f, const struct fold_slot *s);

/* A point of the thread's time line; idle tasks are no threads. */
static void trace(struct fold *f, const struct log_sample *s, const struct fold_key *key)
{
	const struct fold_slot slot = {.key = *key};
	ctx_id ctx;

	if (!s->tgid)
		return;
	ctx = profile_intern_ctx(f->profile, key->caller, place_of(f, &slot));
	tracer_add(f->tracer, s->tgid, s->tid, key->owner, s->time_ns, ctx, f->events[s->event]);
}

/* Where S was and whose it is, without its callers. */
static struct fold_key place_key(struct fold *f, const struct log_sample *s)
{
	struct fold_key key = {.at = s->ip, .code = CODE_KERNEL, .event = s->event + 1};

	if (!is_last_process(f, s))
		look_up_process(f, s);
	key.owner = f->last.owner;
	if ((int64_t)s->ip >= 0)
		locate(f, s->ip, &key);
	return key;
}

/* Adds the callers of S to KEY; the sample counts from here on. */
static void add_callers(struct fold *f, const struct log_sample *s, struct fold_key *key)
{
	const string_id labels = f->chains ? chains_labels(f->chains, s->chain) : 0;

	if (labels)
		key->owner = procs_owner_labelled(f->procs, key->owner, labels);
	if (f->chains)
		key->caller = chains_count(f->chains, s->chain, s->event);
	f->n_samples[s->event]++;
	if (f->tracer)
		trace(f, s, key);
}

static struct fold_key key_of(struct fold *f, const struct log_sample *s)
{
	struct fold_key key = place_key(f, s);

	add_callers(f, s, &key);
	return key;
}

void fold_add(struct fold *f, const struct log_sample *s)
{
	struct fold_key key = place_key(f, s);

	if (f->chains && chains_awaits(f->chains, s->chain)) {
		vec_push(&f->late, (struct late_sample){*s, key});
		return;
	}
	add_callers(f, s, &key);
	fold_count(f, &key);
}

void fold_take_late(struct fold *f)
{
	size_t n = 0;

	vec_each (l, &f->late) {
		if (chains_awaits(f->chains, l->sample.chain)) {
			f->late.v[n++] = *l;
			continue;
		}
		add_callers(f, &l->sample, &l->key);
		fold_count(f, &l->key);
	}
	f->late.n = n;
}

void fold_pause(struct fold *f)
{
	f->last.known = false;
}

/* Flushing. */

static place_id kernel_place(struct fold *f, uint64_t ip, uint64_t n)
{
	place_id place;

	if (kernel_map_place(f->kernel, ip, &place))
		return place;
	f->n_unknown += n;
	return profile_unknown_kernel_place(f->profile);
}

static uint32_t add_value(struct fold *f, owner_id owner, ctx_id caller, place_id place,
			  unsigned event, uint64_t n)
{
	return profile_add_value(
		f->profile, &(struct value){.owner = owner,
					    .ctx = profile_intern_ctx(f->profile, caller, place),
					    .event = f->events[event],
					    .count = n});
}

static place_id place_of(struct fold *f, const struct fold_slot *s)
{
	if (s->key.code == CODE_KERNEL)
		return kernel_place(f, s->key.at, s->count);
	if (s->key.code & CODE_IMAGE)
		return profile_intern_place(f->profile, s->key.code & ~CODE_IMAGE, s->key.at, 0);
	return images_place(f->images, s->key.code, s->key.at, 0);
}

/* The name a sample was taken in: its mapping's.  A copy with the same content is the same image,
 * but has a name of its own. */
static const char *name_of(const struct fold *f, const struct fold_slot *s, place_id place)
{
	const struct profile *p = f->profile;

	if (s->key.code == CODE_KERNEL || s->key.code & CODE_IMAGE)
		return p->images.v[p->places.v[place].image].path;
	return profile_str(p, f->images->codes.v[s->key.code].path);
}

/* An image is named by the first file of its content.  Where that name is excluded, a sample of a
 * copy gives it the copy's. */
static void name_by_sample(struct fold *f, const struct fold_slot *s, place_id place)
{
	struct image *im = &f->profile->images.v[f->profile->places.v[place].image];

	if (f->procs->excluded && im->build_id.n_bytes &&
	    excludes_image(f->procs->excluded, im->path))
		im->path = name_of(f, s, place);
}

static bool is_excluded(const struct fold *f, const struct fold_slot *s, place_id place)
{
	return f->procs->excluded && (f->profile->owners.v[s->key.owner].flags & OWNER_EXCLUDED ||
				      excludes_image(f->procs->excluded, name_of(f, s, place)));
}

/* Slots look their values up anew where the profile has forgotten these. */
static void follow_values(struct fold *f)
{
	if (f->values_epoch == f->profile->values_epoch)
		return;
	f->values_epoch = f->profile->values_epoch;
	for (uint32_t i = 0; i < f->n_slots; i++)
		f->slots[i].value = VALUE_NONE;
}

static void settle_slot(struct fold *f, struct fold_slot *s)
{
	place_id place;
	uint32_t value;

	if (s->value != VALUE_NONE) {
		profile_grow(f->profile, s->value, s->count);
	} else {
		place = place_of(f, s);
		if (is_excluded(f, s, place)) {
			profile_add_loss(f->profile, "excluded", f->events[s->key.event - 1],
					 s->count);
			s->count = 0;
			return;
		}
		name_by_sample(f, s, place);
		value = add_value(f, s->key.owner, s->key.caller, place, s->key.event - 1,
				  s->count);
		/* What is unknown is looked for again. */
		if (f->profile->images.v[f->profile->places.v[place].image].kind != IMAGE_UNKNOWN)
			s->value = value;
	}
	s->count = 0;
}

void fold_add_facts(struct fold *f, const struct log_sample *s, const struct sample_facts *facts)
{
	const struct fold_slot one = {.key = key_of(f, s), .count = 1};
	place_id place = place_of(f, &one);

	if (is_excluded(f, &one, place)) {
		profile_add_loss(f->profile, "excluded", f->events[s->event], 1);
		return;
	}
	name_by_sample(f, &one, place);
	facts_add(f->profile, one.key.owner, profile_intern_ctx(f->profile, one.key.caller, place),
		  f->events[s->event], facts, 1);
}

/* Prefetches the memory that settle_slot will change. */
static void fetch_value(const struct fold *f, const struct fold_slot *s)
{
	if (s->value == VALUE_NONE)
		profile_prefetch_ctx(f->profile, s->key.caller);
	else
		__builtin_prefetch(&f->profile->values.v[s->value], 1);
}

static void fold_settle(struct fold *f)
{
	const uint32_t *v = f->counting.v;

	follow_values(f);
	for (size_t i = 0; i < f->counting.n; i++) {
		if (i + 2 * AHEAD < f->counting.n)
			__builtin_prefetch(&f->slots[v[i + 2 * AHEAD]], 1);
		if (i + AHEAD < f->counting.n)
			fetch_value(f, &f->slots[v[i + AHEAD]]);
		if (f->slots[v[i]].count)
			settle_slot(f, &f->slots[v[i]]);
	}
	f->counting.n = 0;
}

void fold_forget_places(struct fold *f)
{
	count_batch(f);
	start_over(f);
}

void fold_flush(struct fold *f)
{
	count_batch(f);
	fold_settle(f);
}

void fold_forget(struct fold *f)
{
	if (f->forgot)
		return;
	count_batch(f);
	f->forgot = true;
	follow_values(f);
	for (uint32_t i = 0; i < f->n_slots; i++) {
		struct fold_slot *s = &f->slots[i];

		if (s->key.code != CODE_KERNEL)
			continue;
		if (s->count)
			settle_slot(f, s);
		s->value = VALUE_NONE;
	}
}

void fold_add_spilled(struct fold *f, const struct spill_slot *s)
{
	struct build_id id = {.n_bytes = BUILD_ID_MAX};
	unsigned event = s->event_used - 1;
	ctx_id caller = 0;
	place_id place;
	uint32_t code;

	memcpy(id.bytes, s->build_id, BUILD_ID_MAX);
	code = images_find_build_id(f->images, &id);
	if (code != INDEX_NONE) {
		place = images_place(f->images, code, s->off, 0);
	} else if ((int64_t)s->off < 0) {
		place = kernel_place(f, s->off, s->count);
	} else if (memcmp(id.bytes, (const uint8_t[BUILD_ID_MAX]){0}, BUILD_ID_MAX) != 0) {
		place = images_unmapped_place(f->images, &id, s->off, 0);
	} else {
		f->n_unknown += s->count;
		place = profile_unknown_place(f->profile, s->off, 0);
	}
	if (f->chains)
		caller = chains_count_spilled(f->chains, event, s->count);
	add_value(f, 0, caller, place, event, s->count);
	f->n_samples[event] += s->count;
}
