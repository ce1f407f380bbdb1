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

void fold_init(struct fold *f, struct profile *p, struct procs *procs, struct images *images,
	       struct kernel_map *kernel, const event_id *events)
{
	*f = (struct fold){.profile = p, .procs = procs, .images = images, .kernel = kernel,
			   .events = events};
	f->slots = xcalloc(FOLD_SLOTS, sizeof(*f->slots));
}

void fold_release(struct fold *f)
{
	free(f->slots);
	f->slots = NULL;
}

static void add_value(struct fold *f, owner_id owner, place_id place, unsigned event, uint64_t count)
{
	profile_add_value(f->profile, &(struct value){.owner = owner,
						      .ctx = profile_flat_ctx(f->profile, place),
						      .event = f->events[event],
						      .count = count});
	f->n_samples[event] += count;
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

static place_id user_place(struct fold *f, uint32_t proc, uint64_t ip, uint64_t count)
{
	const struct mapping *m = proc == PROC_NONE ? NULL : procs_find_mapping(f->procs, proc, ip);

	if (!m)
		return unknown_place(f, ip, count);
	if (f->images->codes.v[m->code].kind == CODE_ANON)
		return profile_intern_place(f->profile, procs_anon_image(f->procs, proc), ip, 0);
	return images_place(f->images, m->code, ip - m->start + m->off);
}

static void attribute(struct fold *f, const struct fold_slot *s)
{
	uint32_t generation = s->generation & 0xffffff;
	uint32_t proc = procs_find(f->procs, s->tgid, generation);
	place_id place;
	owner_id owner;

	/* Nobody told of this process: a lost record, or it started while the list was being read. */
	if (proc == PROC_NONE && procs_current(f->procs, s->tgid) == PROC_NONE &&
	    procs_scan_one(f->procs, s->tgid))
		proc = procs_find(f->procs, s->tgid, generation);
	place = (int64_t)s->ip < 0 ? kernel_place(f, s->ip, s->count)
				   : user_place(f, proc, s->ip, s->count);
	owner = proc == PROC_NONE ? 0 : procs_owner(f->procs, proc, s->tid);
	add_value(f, owner, place, s->generation >> 24, s->count);
}

void fold_flush(struct fold *f)
{
	if (!f->n_used)
		return;
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
}
