/* SPDX-License-Identifier: BSD-2-Clause */
/* See fold.h. */
#include "collect/fold.h"

#include <string.h>

#define FOLD_SLOTS (1u << 14)

struct fold_slot {
	uint64_t ip;
	uint32_t tgid, generation; /* generation | event << 24 */
	uint32_t tid;              /* only when threads are kept apart */
	uint32_t count;            /* 0: free */
};

/* An entry of the cache: where a sample was and whose, and the number of the value that counts it. */
struct fold_known {
	uint64_t at;        /* file offset, or kernel address */
	uint32_t code;      /* in struct images, or CODE_KERNEL */
	uint32_t owner;
	uint32_t event;     /* event + 1; 0: free */
	uint32_t value;
};

#define CODE_KERNEL   UINT32_MAX
#define FIRST_N_KNOWN 4096
#define MOST_N_KNOWN  (1u << 17)

void fold_init(struct fold *f, struct profile *p, struct procs *procs, struct images *images,
	       struct kernel_map *kernel, const event_id *events)
{
	*f = (struct fold){.profile = p, .procs = procs, .images = images, .kernel = kernel,
			   .events = events};
	f->slots = xcalloc(FOLD_SLOTS, sizeof(*f->slots));
	f->n_known_slots = FIRST_N_KNOWN;
	f->known = xcalloc(f->n_known_slots, sizeof(*f->known));
}

void fold_release(struct fold *f)
{
	free(f->slots);
	free(f->known);
	f->slots = NULL;
	f->known = NULL;
}

void fold_forget(struct fold *f)
{
	memset(f->known, 0, f->n_known_slots * sizeof(*f->known));
	f->n_known = 0;
}

static struct fold_known *known_slot(const struct fold *f, const struct fold_known *key)
{
	uint64_t h = hash_u64(key->at ^ (uint64_t)key->code << 32 ^ (uint64_t)key->owner << 20 ^
			      (uint64_t)key->event << 56);
	uint32_t mask = f->n_known_slots - 1;

	for (uint32_t i = (uint32_t)h & mask;; i = (i + 1) & mask) {
		struct fold_known *k = &f->known[i];

		if (!k->event || (k->at == key->at && k->code == key->code &&
				  k->owner == key->owner && k->event == key->event))
			return k;
	}
}

/* Makes room for one more; a cache that has grown enough starts over instead. */
static void known_reserve(struct fold *f)
{
	struct fold_known *old = f->known;
	uint32_t n_old = f->n_known_slots;

	if (f->n_known < n_old / 2)
		return;
	if (n_old >= MOST_N_KNOWN) {
		fold_forget(f);
		return;
	}
	f->n_known_slots = n_old * 2;
	f->known = xcalloc(f->n_known_slots, sizeof(*f->known));
	for (uint32_t i = 0; i < n_old; i++)
		if (old[i].event)
			*known_slot(f, &old[i]) = old[i];
	free(old);
}

static uint32_t add_value(struct fold *f, owner_id owner, place_id place, unsigned event,
			  uint64_t count)
{
	return profile_add_value(f->profile,
				 &(struct value){.owner = owner,
						 .ctx = profile_flat_ctx(f->profile, place),
						 .event = f->events[event],
						 .count = count});
}

/* The place of an address nobody could attribute. */
static place_id unknown_place(struct fold *f, uint64_t ip, uint64_t count)
{
	if (!f->has_unknown) {
		f->unknown = profile_intern_image(
			f->profile, &(struct image){.kind = IMAGE_UNKNOWN, .path = "[unknown]"});
		f->has_unknown = true;
	}
	f->n_unknown += count;
	return profile_intern_place(f->profile, f->unknown, ip, 0);
}

static place_id kernel_place(struct fold *f, uint64_t ip, uint64_t count)
{
	place_id place;

	return kernel_map_place(f->kernel, ip, &place) ? place : unknown_place(f, ip, count);
}

static uint32_t find_proc(struct fold *f, uint32_t tgid, uint32_t generation)
{
	uint32_t proc = procs_find(f->procs, tgid, generation);

	/* Nobody told of this process: a lost record, or it started while the list was being read. */
	if (proc == PROC_NONE && procs_current(f->procs, tgid) == PROC_NONE &&
	    procs_scan_one(f->procs, tgid))
		proc = procs_find(f->procs, tgid, generation);
	return proc;
}

static void attribute(struct fold *f, const struct fold_slot *s)
{
	uint32_t proc = find_proc(f, s->tgid, s->generation & 0xffffff), event = s->generation >> 24;
	owner_id owner = proc == PROC_NONE ? 0 : procs_owner(f->procs, proc, s->tid);
	bool kernel = (int64_t)s->ip < 0;
	const struct mapping *m =
		kernel || proc == PROC_NONE ? NULL : procs_find_mapping(f->procs, proc, s->ip);
	struct fold_known key = {.owner = owner, .event = event + 1}, *known;

	f->n_samples[event] += s->count;
	if (kernel) {
		key.code = CODE_KERNEL;
		key.at = s->ip;
	} else if (m && f->images->codes.v[m->code].kind != CODE_ANON) {
		key.code = m->code;
		key.at = s->ip - m->start + m->off;
	} else { /* an image of the process's own, or none: not worth remembering */
		place_id place = m ? profile_intern_place(f->profile,
							  procs_anon_image(f->procs, proc), s->ip, 0)
				   : unknown_place(f, s->ip, s->count);

		add_value(f, owner, place, event, s->count);
		return;
	}
	known = known_slot(f, &key);
	if (known->event) {
		f->profile->values.v[known->value].count += s->count;
		return;
	}
	key.value = add_value(f, owner, kernel ? kernel_place(f, s->ip, s->count)
					       : images_place(f->images, key.code, key.at),
			      event, s->count);
	*known = key;
	f->n_known++;
	known_reserve(f);
}

void fold_flush(struct fold *f)
{
	if (!f->n_used)
		return;
	if (f->n_resets != f->profile->n_resets) {
		fold_forget(f);
		f->n_resets = f->profile->n_resets;
	}
	for (uint32_t i = 0; i < FOLD_SLOTS; i++)
		if (f->slots[i].count)
			attribute(f, &f->slots[i]);
	memset(f->slots, 0, FOLD_SLOTS * sizeof(*f->slots));
	f->n_used = 0;
}

void fold_add(struct fold *f, const struct log_sample *s)
{
	uint32_t key = s->generation | s->event << 24;
	uint32_t tid = f->procs->split == OWNER_TID ? s->tid : 0;
	uint64_t h = hash_u64(s->ip ^ (uint64_t)s->tgid << 40 ^ (uint64_t)key << 20 ^ tid);

	for (uint32_t i = (uint32_t)h & (FOLD_SLOTS - 1);; i = (i + 1) & (FOLD_SLOTS - 1)) {
		struct fold_slot *slot = &f->slots[i];

		if (slot->count && (slot->ip != s->ip || slot->tgid != s->tgid ||
				    slot->generation != key || slot->tid != tid))
			continue;
		if (!slot->count)
			f->n_used++;
		*slot = (struct fold_slot){.ip = s->ip, .tgid = s->tgid, .generation = key,
					   .tid = tid, .count = slot->count + 1};
		break;
	}
	if (f->n_used > FOLD_SLOTS / 4 * 3)
		fold_flush(f);
}

void fold_add_spilled(struct fold *f, const struct spill_slot *s)
{
	struct build_id id = {.n_bytes = BUILD_ID_MAX};
	place_id place;
	uint32_t code;

	memcpy(id.bytes, s->build_id, BUILD_ID_MAX);
	code = images_find_build_id(f->images, &id);
	if (code != INDEX_NONE)
		place = images_place(f->images, code, s->off);
	else if ((int64_t)s->off < 0)
		place = kernel_place(f, s->off, s->count);
	else
		place = unknown_place(f, s->off, s->count);
	add_value(f, 0, place, s->event_used - 1, s->count);
	f->n_samples[s->event_used - 1] += s->count;
}
