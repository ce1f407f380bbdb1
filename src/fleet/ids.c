/* SPDX-License-Identifier: BSD-2-Clause */
/* See ids.h.  What is hashed, in which order, is a part of the schema: docs/design/fleet.md. */
#include "fleet/ids.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/sha256.h"

/* 0 is no id. */
static uint64_t end_id(struct sha256 *s)
{
	const uint64_t id = sha256_end_u64(s);

	return id ? id : 1;
}

uint64_t fleet_event_id(const struct profile *p, const struct event *e)
{
	struct sha256 s;

	sha256_begin(&s);
	sha256_add_text(&s, profile_str(p, e->name));
	sha256_add_text(&s, profile_str(p, e->unit));
	sha256_add_u64(&s, e->freq_hz);
	sha256_add_u64(&s, e->freq_hz ? 0 : e->period);
	return end_id(&s);
}

uint64_t fleet_image_id(const struct image *im)
{
	struct sha256 s;

	sha256_begin(&s);
	sha256_add_u64(&s, im->kind);
	sha256_add_u64(&s, im->flags & IMAGE_OFFSETS);
	sha256_add_u64(&s, im->build_id.n_bytes);
	sha256_add(&s, im->build_id.bytes, im->build_id.n_bytes);
	sha256_add(&s, im->digest, sizeof(im->digest));
	sha256_add_text(&s, im->build_id.n_bytes ? "" : im->path);
	return end_id(&s);
}

uint64_t fleet_owner_id(const struct profile *p, const struct owner *o)
{
	const string_id texts[] = {o->exe, o->comm, o->cgroup, o->label, o->thread_name};
	struct sha256 s;

	sha256_begin(&s);
	for (size_t i = 0; i < n_elems(texts); i++)
		sha256_add_text(&s, profile_str(p, texts[i]));
	sha256_add_u64(&s, o->uid);
	sha256_add_u64(&s, (uint64_t)o->pid << 32 | o->tid);
	sha256_add_u64(&s, o->flags);
	return end_id(&s);
}

uint64_t fleet_container_id(const struct profile *p, const struct container *c)
{
	struct sha256 s;

	sha256_begin(&s);
	for (size_t i = 0; i < CONTAINER_N_TEXTS; i++)
		sha256_add_text(&s, profile_str(p, c->text[i]));
	return end_id(&s);
}

uint64_t fleet_vector_id(const struct vector *v)
{
	struct sha256 s;

	if (!v->known && !v->value && !v->counter)
		return 0;
	sha256_begin(&s);
	sha256_add_u64(&s, v->known);
	sha256_add_u64(&s, v->value);
	sha256_add_u64(&s, v->counter);
	return end_id(&s);
}

uint64_t fleet_context_id(uint64_t parent, uint64_t image, uint64_t svma)
{
	struct sha256 s;

	sha256_begin(&s);
	sha256_add_u64(&s, parent);
	sha256_add_u64(&s, image);
	sha256_add_u64(&s, svma);
	return end_id(&s);
}

static bool same_id(const void *owner, uint32_t i, const void *key)
{
	return ((const struct fleet_ids *)owner)->ids.v[i] == *(const uint64_t *)key;
}

uint32_t fleet_ids_find(const struct fleet_ids *m, uint64_t id)
{
	const uint32_t i = index_find(&m->ix, hash_u64(id), same_id, m, &id);

	return i == INDEX_NONE ? FLEET_NO_NUMBER : m->numbers.v[i];
}

bool fleet_ids_add(struct fleet_ids *m, uint64_t id, uint32_t number)
{
	if (index_find(&m->ix, hash_u64(id), same_id, m, &id) != INDEX_NONE)
		return false;
	index_add(&m->ix, hash_u64(id), (uint32_t)m->ids.n);
	vec_push(&m->ids, id);
	vec_push(&m->numbers, number);
	return true;
}

void fleet_ids_put(struct fleet_ids *m, uint64_t id, uint32_t number)
{
	const uint32_t i = index_find(&m->ix, hash_u64(id), same_id, m, &id);

	if (i == INDEX_NONE)
		fleet_ids_add(m, id, number);
	else
		m->numbers.v[i] = number;
}

void fleet_ids_release(struct fleet_ids *m)
{
	index_release(&m->ix);
	vec_release(&m->ids);
	vec_release(&m->numbers);
}

/* The slot of ID, or the free one where it belongs. */
static uint64_t *find_slot(uint64_t *slots, size_t n_slots, uint64_t id)
{
	size_t i = hash_u64(id) & (n_slots - 1);

	while (slots[i] && slots[i] != id)
		i = (i + 1) & (n_slots - 1);
	return &slots[i];
}

static void grow(struct fleet_id_set *s)
{
	const size_t n_slots = s->n_slots ? 2 * s->n_slots : 64;
	uint64_t *slots = xcalloc(n_slots, sizeof(*slots));

	for (size_t i = 0; i < s->n_slots; i++)
		if (s->slots[i])
			*find_slot(slots, n_slots, s->slots[i]) = s->slots[i];
	free(s->slots);
	s->slots = slots;
	s->n_slots = n_slots;
}

bool fleet_id_set_add(struct fleet_id_set *s, uint64_t id)
{
	uint64_t *slot;

	if (4 * (s->n + 1) > 3 * s->n_slots)
		grow(s);
	slot = find_slot(s->slots, s->n_slots, id);
	if (*slot)
		return false;
	*slot = id;
	s->n++;
	return true;
}

void fleet_id_set_release(struct fleet_id_set *s)
{
	free(s->slots);
	*s = (struct fleet_id_set){0};
}
