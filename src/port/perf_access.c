/* SPDX-License-Identifier: BSD-2-Clause */
/* See perf_access.h.
 *
 * Data lie where code does, in files that are mapped: the file's image and the address that its ELF
 * headers state for them, so that variables have names later.  A mapping of data starts at another
 * offset than the code's, and .bss has no file behind it at all.  But all of a file is moved by one
 * distance, which the mapping of its code tells:
 *
 *     code   7f00 0000 1000, offset 1000, stated 1000      distance 7f00 0000 0000
 *     data   7f00 0000 4000, offset 3000                   stated 4000
 *     //anon 7f00 0000 5000, right behind it               stated 5000: .bss, if the file has it
 *
 * Other memory keeps its run-time address, in an image that is called after the mapping.  Memory
 * of the kernel outside its images must not tell where the kernel lies, so its pages are
 * numbered.
 *
 * Addresses of data are many and in no order, so that looking them up is waiting for memory.  Some
 * dozens of accesses are therefore looked up beside each other. */
#include "port/perf_access.h"

#include <string.h>

#define PAGE_BITS 12

static struct place memory_place(struct perf_world *w, const char *what, uint64_t avma)
{
	struct image im = {.kind = IMAGE_ANON, .path = what};

	return (struct place){.image = profile_intern_image(w->profile, &im), .svma = avma};
}

static bool same_page(const void *owner, uint32_t i, const void *key)
{
	return ((const struct perf_world *)owner)->kernel_pages.v[i] == *(const uint64_t *)key;
}

/* Each recording begins its numbers elsewhere, so that its pages are not those of another. */
static struct place kernel_memory(struct perf_world *w, uint64_t avma)
{
	const uint64_t page = avma >> PAGE_BITS, h = hash_u64(page);
	uint32_t i = index_find(&w->kernel_page_ix, h, same_page, w, &page);

	if (i == INDEX_NONE) {
		i = (uint32_t)w->kernel_pages.n;
		if (!i)
			w->kernel_pages_from = hash_u64(w->now_ns) >> 32 & 0x7fffff;
		vec_push(&w->kernel_pages, page);
		index_add(&w->kernel_page_ix, h, i);
	}
	return memory_place(w, "[kernel memory]",
			    w->kernel_pages_from << 40 | (uint64_t)i << PAGE_BITS |
				    (avma & ((1u << PAGE_BITS) - 1)));
}

/* Finds how far the file of code CODE was moved where MAPS maps it by NEAR.  A process may map a
 * file twice, so the mapping of its code that is nearest to NEAR tells. */
static bool find_distance(struct perf_world *w, const struct maps *maps, const struct mapping *near,
			  uint32_t code, uint64_t *ret)
{
	const size_t at = (size_t)(near - maps->v.v);

	for (size_t i = 0; i < 2 * maps->v.n; i++) { /* at, at + 1, at - 1, at + 2, ... */
		const size_t k = i % 2 ? at + (i + 1) / 2 : at - i / 2;
		const struct mapping *m = k < maps->v.n ? &maps->v.v[k] : NULL;
		uint64_t svma;

		if (!m || w->files.v[m->code].code != code + 1 ||
		    !image_layout_svma(&w->images.codes.v[code].layout, m->off, &svma))
			continue;
		*ret = m->start - svma;
		return true;
	}
	return false;
}

/* Finds the place of AVMA in the file that M maps; false when it lies outside of the file. */
static bool file_place(struct perf_world *w, const struct maps *maps, const struct mapping *m,
		       uint64_t avma, struct place *ret)
{
	const uint32_t code = perf_world_code(w, m);
	struct mapped_code *c = &w->images.codes.v[code];
	uint64_t distance;

	if (c->kind != CODE_FILE || !c->has_layout || !c->layout.memory_end ||
	    !find_distance(w, maps, m, code, &distance) || avma - distance >= c->layout.memory_end)
		return false;
	c->sampled = true;
	*ret = (struct place){.image = c->image, .svma = avma - distance};
	return true;
}

/* The place of memory without a file.  The kernel names the first stack and the heap
 * (kernel/events/core.c, perf_event_mmap_event). */
static struct place nameless_place(struct perf_world *w, const struct mapping *m, uint64_t avma)
{
	const char *path = w->files.v[m->code].ref.path;

	if (str_starts(path, "[stack") || strcmp(path, "[heap]") == 0)
		return memory_place(w, path[1] == 's' ? "[stack]" : path, avma);
	return memory_place(w, m->shared ? "[shared memory]" : "[anon]", avma);
}

static struct place user_place(struct perf_world *w, const struct maps *maps,
			       const struct mapping *m, uint64_t avma)
{
	const struct mapping *before;
	uint32_t code;
	struct place place;

	if (file_place(w, maps, m, avma, &place))
		return place;
	code = perf_world_code(w, m);
	if (w->images.codes.v[code].kind != CODE_ANON)
		return images_find_place(&w->images, code, avma - m->start + m->off);
	before = m->start ? maps_find(maps, m->start - 1) : NULL;
	if (before && !m->shared && file_place(w, maps, before, avma, &place))
		return place;
	return nameless_place(w, m, avma);
}

static struct place data_place(struct perf_world *w, uint32_t proc, uint64_t avma, bool *ret_own)
{
	const struct maps *maps = w->procs.v[proc].maps;
	const struct mapping *m;
	place_id place;

	*ret_own = false;
	if (avma >> 63)
		return kernel_map_place(&w->kernel, avma, &place) ? w->profile->places.v[place]
								  : kernel_memory(w, avma);
	m = maps_find(maps, avma);
	*ret_own = !m || !m->shared;
	return m ? user_place(w, maps, m, avma) : memory_place(w, "[not mapped]", avma);
}

/* The latency in cycles, 0 where none is told.  Where perf tells one weight alone, a load's is its
 * latency. */
static uint64_t latency_of(const struct sample_facts *f)
{
	if (f->counters_known & 1u << FACT_LATENCY)
		return f->counters[FACT_LATENCY];
	return f->counters_known & 1u << FACT_WEIGHT && facts_has(f, FACT_LOAD)
		       ? f->counters[FACT_WEIGHT]
		       : 0;
}

void perf_accesses_flush(struct perf_world *w)
{
	struct profile *p = w->profile;
	struct perf_pending *const end = w->pending + w->n_pending;

	for (struct perf_pending *k = w->pending; k < end; k++)
		profile_prefetch_place(p, k->hash);
	for (struct perf_pending *k = w->pending; k < end; k++) {
		k->a.data = profile_intern_place(p, k->data.image, k->data.svma, 0);
		k->hash = profile_access_hash(&k->a);
		index_prefetch(&p->access_ix, k->hash);
	}
	for (struct perf_pending *k = w->pending; k < end; k++)
		profile_prefetch_access(p, k->hash);
	for (struct perf_pending *k = w->pending; k < end; k++)
		profile_add_access_hashed(p, &k->a, k->hash);
	w->n_pending = 0;
}

/* The number of F's vector.  There are few. */
static vector_id vector_of(struct perf_world *w, const struct sample_facts *f)
{
	const struct vector v = {.known = f->known, .value = f->value};
	struct perf_vector_slot *s =
		&w->vectors[hash_u64(v.value + v.known * 0x9e3779b97f4a7c15ULL) %
			    PERF_WORLD_N_VECTORS];

	if (!s->used || s->vector.known != v.known || s->vector.value != v.value)
		*s = (struct perf_vector_slot){v, profile_intern_vector(w->profile, &v), true};
	return s->id;
}

/* Appends A with its DATA to the profile, where neither can be found again. */
static void append_loose(struct profile *p, struct access *a, const struct place *data)
{
	a->data = (place_id)p->places.n;
	vec_push(&p->places, *data);
	vec_push(&p->accesses, *a);
}

void perf_access_add(struct perf_world *w, struct access *a, const struct perf_access *k)
{
	const struct sample_facts *f = k->facts;
	struct perf_pending *new;
	struct place data;
	bool own;

	data = data_place(w, k->proc, k->addr, &own);
	a->pid = own ? k->pid : 0;
	a->tid = k->tid;
	a->node = perfdata_node_of(w->pd, k->phys);
	a->cpu_node = k->cpu_node;
	a->count = 1;
	if (f) {
		a->vector = vector_of(w, f);
		a->latency = latency_of(f);
		a->latency_of = a->latency ? latency_class(a->latency) : 0;
	}
	if (w->profile->accesses.n < w->most_loose) {
		append_loose(w->profile, a, &data);
		return;
	}
	new = &w->pending[w->n_pending++];
	*new = (struct perf_pending){*a, data, profile_place_hash(&data)};
	index_prefetch(&w->profile->place_ix, new->hash);
	if (w->n_pending == PERF_WORLD_N_PENDING)
		perf_accesses_flush(w);
}
