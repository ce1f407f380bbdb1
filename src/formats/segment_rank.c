/* SPDX-License-Identifier: BSD-2-Clause */
/* See segment_rank.h.
 *
 * First what is used is marked, from the values down: contexts and their parents, places, images,
 * strings.  Then each dictionary is sorted by content and its used elements are numbered in that
 * order, which makes neighbours similar, deltas small, and the bytes independent of the order of
 * collection.  Contexts go level by level, so that parents come first: the children of each context
 * in turn, so that nothing but siblings has to be sorted.  Large arrays are sorted by radix: 60,000
 * places and values in about a millisecond each. */
#include "formats/segment_rank.h"

#include <string.h>

#include "model/container.h"
#include "model/fresh.h"
#include "model/script.h"
#include "model/trace.h"

struct sort_item {
	uint64_t key;
	uint32_t id;
};

struct ranker {
	const struct profile *p;
	struct segment_ranks *k;
	struct sort_item *items, *items_tmp; /* for radix sorting */
	size_t n_items;
};

/* Sorts the N items at E->items by key, stably. */
static void radix_sort(struct ranker *e, size_t n)
{
	struct sort_item *from = e->items, *to = e->items_tmp;
	uint64_t differ = 0; /* bits that are not the same in all keys */

	for (size_t i = 1; i < n; i++)
		differ |= from[i].key ^ from[0].key;
	for (unsigned shift = 0; shift < 64; shift += 8) {
		size_t at[256] = {0}, sum = 0;

		if (!(differ >> shift & 255))
			continue;
		for (size_t i = 0; i < n; i++)
			at[from[i].key >> shift & 255]++;
		for (unsigned d = 0; d < 256; d++) {
			size_t k = at[d];

			at[d] = sum;
			sum += k;
		}
		for (size_t i = 0; i < n; i++)
			to[at[from[i].key >> shift & 255]++] = from[i];
		e->items_tmp = from;
		e->items = to;
		from = e->items;
		to = e->items_tmp;
	}
}

/* Makes room for N items. */
static void items_reserve(struct ranker *e, size_t n)
{
	if (n <= e->n_items)
		return;
	free(e->items);
	free(e->items_tmp);
	e->items = xcalloc(n, sizeof(*e->items));
	e->items_tmp = xcalloc(n, sizeof(*e->items_tmp));
	e->n_items = n;
}

static void ranking_init(struct ranking *k, size_t n)
{
	k->rank = xcalloc(n + 1, sizeof(*k->rank));
}

static void ranking_release(struct ranking *k)
{
	vec_release(&k->list);
	free(k->rank);
}

/* Lists ID as used; false when it was already.  Until ids are numbered their rank is where they are
 * in the list, + 1. */
static inline bool mark(struct ranking *k, uint32_t id)
{
	if (k->rank[id])
		return false;
	vec_push(&k->list, id);
	k->rank[id] = (uint32_t)k->list.n;
	return true;
}

/* Numbers the sorted ids from FIRST on; ids below FIRST keep their number. */
static void ranking_number(struct ranking *k, uint32_t first)
{
	k->order = k->list.v;
	k->n = (uint32_t)k->list.n;
	for (uint32_t i = 0; i < first; i++)
		k->rank[i] = i;
	for (uint32_t i = 0; i < k->n; i++)
		k->rank[k->order[i]] = first + i;
}

/* What is used. */

static void mark_str(struct ranker *e, string_id id)
{
	if (id)
		mark(&e->k->strings, id);
}

static void mark_container(struct ranker *e, string_id cgroup)
{
	const struct container *c = profile_container_of(e->p, cgroup);

	if (!c || !container_has_texts(c) ||
	    !mark(&e->k->containers, (uint32_t)(c - e->p->containers.v)))
		return;
	for (size_t i = 0; i < CONTAINER_N_TEXTS; i++)
		mark_str(e, c->text[i]);
}

static void mark_owner(struct ranker *e, owner_id id)
{
	const struct owner *o = &e->p->owners.v[id];

	if (!id || !mark(&e->k->owners, id))
		return;
	mark_str(e, o->exe);
	mark_str(e, o->comm);
	mark_str(e, o->cgroup);
	mark_container(e, o->cgroup);
	mark_str(e, o->label);
	mark_str(e, o->thread_name);
	e->k->thread_names |= o->thread_name != 0;
}

static void mark_image(struct ranker *e, image_id id)
{
	const struct profile *p = e->p;

	if (!mark(&e->k->images, id))
		return;
	/* Its path is there: interning adds nothing. */
	mark_str(e, profile_intern_str((struct profile *)p, p->images.v[id].path));
	e->k->digests |= image_digest_known(p->images.v[id].digest);
}

static void mark_place(struct ranker *e, place_id id)
{
	const struct script *s;

	if (!mark(&e->k->places, id))
		return;
	mark_image(e, e->p->places.v[id].image);
	s = profile_find_script(e->p, id);
	if (!s)
		return;
	mark(&e->k->scripts, (uint32_t)(s - e->p->scripts.v));
	mark_str(e, s->language);
	mark_str(e, s->name);
}

static void mark_ctx(struct ranker *e, ctx_id id)
{
	const struct profile *p = e->p;

	for (; id && mark(&e->k->ctxs, id); id = p->ctxs.v[id].parent)
		mark_place(e, p->ctxs.v[id].place);
}

static void mark_branches(struct ranker *e)
{
	const struct profile *p = e->p;

	for (size_t i = 0; i < p->branches.n; i++) {
		const struct branch *b = &p->branches.v[i];

		mark(&e->k->branches, (uint32_t)i);
		mark_owner(e, b->owner);
		mark_place(e, b->from);
		mark_place(e, b->to);
	}
}

static void mark_accesses(struct ranker *e)
{
	const struct profile *p = e->p;

	for (size_t i = 0; i < p->accesses.n; i++) {
		const struct access *a = &p->accesses.v[i];

		mark(&e->k->accesses, (uint32_t)i);
		mark_owner(e, a->owner);
		mark_place(e, a->place);
		mark_place(e, a->data);
		if (a->vector)
			mark(&e->k->vectors, a->vector);
	}
}

static void mark_traces(struct ranker *e)
{
	const struct profile *p = e->p;

	for (size_t i = 0; i < p->traces.n; i++) {
		const struct trace *t = &p->traces.v[i];

		if (!trace_says(p, t))
			continue;
		mark(&e->k->traces, (uint32_t)i);
		mark_owner(e, t->owner);
		vec_each (point, &t->points)
			mark_ctx(e, point->ctx);
	}
}

static void mark_used(struct ranker *e)
{
	const struct profile *p = e->p;
	const struct profile_meta *m = &p->meta;
	const string_id strings[] = {m->host, m->platform, m->kernel, m->engine, m->command};

	profile_each_used (p, i) {
		const struct value *v = &p->values.v[i];

		if (!value_counts(v))
			continue;
		mark_ctx(e, v->ctx);
		mark_owner(e, v->owner);
		if (v->vector)
			mark(&e->k->vectors, v->vector);
		e->k->n_values++;
	}
	mark_traces(e);
	mark_branches(e);
	mark_accesses(e);
	vec_each (moment, &p->moments)
		mark_owner(e, moment->owner);
	vec_each (u, &p->user_facts) {
		mark_str(e, u->name);
		mark_str(e, u->meaning);
	}
	for (event_id i = 0; i < p->events.n; i++) {
		mark(&e->k->events, i);
		mark_str(e, p->events.v[i].name);
		mark_str(e, p->events.v[i].unit);
	}
	vec_each (l, &p->losses)
		mark_str(e, l->name);
	for (unsigned i = 0; i < n_elems(strings); i++)
		mark_str(e, strings[i]);
}

/* Orders. */

#define ORDER(a, b)                                                                                \
	do {                                                                                       \
		if ((a) != (b))                                                                    \
			return (a) < (b) ? -1 : 1;                                                 \
	} while (0)

static int by_string(const void *a, const void *b, void *ctx)
{
	const struct ranker *e = ctx;

	return strcmp(e->p->strings.v[*(const uint32_t *)a], e->p->strings.v[*(const uint32_t *)b]);
}

static int by_event(const void *a, const void *b, void *ctx)
{
	const struct ranker *e = ctx;
	const struct event *x = &e->p->events.v[*(const uint32_t *)a];
	const struct event *y = &e->p->events.v[*(const uint32_t *)b];
	const uint32_t *str = e->k->strings.rank;

	ORDER(str[x->name], str[y->name]);
	ORDER(str[x->unit], str[y->unit]);
	ORDER(x->period, y->period);
	ORDER(x->freq_hz, y->freq_hz);
	return 0;
}

static int by_image(const void *a, const void *b, void *ctx)
{
	const struct ranker *e = ctx;
	const struct image *x = &e->p->images.v[*(const uint32_t *)a];
	const struct image *y = &e->p->images.v[*(const uint32_t *)b];
	int c;

	ORDER(x->kind, y->kind);
	ORDER(x->build_id.n_bytes, y->build_id.n_bytes);
	c = memcmp(x->build_id.bytes, y->build_id.bytes, x->build_id.n_bytes);
	if (c)
		return c;
	c = x->build_id.n_bytes ? 0 : strcmp(x->path, y->path);
	if (c)
		return c;
	c = memcmp(x->digest, y->digest, sizeof(x->digest));
	if (c)
		return c;
	ORDER(x->flags & IMAGE_OFFSETS, y->flags & IMAGE_OFFSETS);
	return 0;
}

static int by_owner(const void *a, const void *b, void *ctx)
{
	const struct ranker *e = ctx;
	const struct owner *x = &e->p->owners.v[*(const uint32_t *)a];
	const struct owner *y = &e->p->owners.v[*(const uint32_t *)b];
	const uint32_t *str = e->k->strings.rank;

	ORDER(str[x->exe], str[y->exe]);
	ORDER(str[x->comm], str[y->comm]);
	ORDER(str[x->cgroup], str[y->cgroup]);
	ORDER(str[x->label], str[y->label]);
	ORDER(x->uid, y->uid);
	ORDER(x->pid, y->pid);
	ORDER(x->tid, y->tid);
	ORDER(x->flags, y->flags);
	ORDER(str[x->thread_name], str[y->thread_name]);
	return 0;
}

static int by_vector(const void *a, const void *b, void *ctx)
{
	const struct ranker *e = ctx;
	const struct vector *x = &e->p->vectors.v[*(const uint32_t *)a];
	const struct vector *y = &e->p->vectors.v[*(const uint32_t *)b];

	ORDER(x->known, y->known);
	ORDER(x->value, y->value);
	ORDER(x->counter, y->counter);
	return 0;
}

static int by_trace(const void *a, const void *b, void *ctx)
{
	const struct ranker *e = ctx;
	const struct trace *x = &e->p->traces.v[*(const uint32_t *)a];
	const struct trace *y = &e->p->traces.v[*(const uint32_t *)b];

	ORDER(e->k->owners.rank[x->owner], e->k->owners.rank[y->owner]);
	ORDER(x->pid, y->pid);
	ORDER(x->tid, y->tid);
	ORDER(x->start_ns, y->start_ns);
	return 0;
}

static int by_branch(const void *a, const void *b, void *ctx)
{
	const struct ranker *e = ctx;
	const struct branch *x = &e->p->branches.v[*(const uint32_t *)a];
	const struct branch *y = &e->p->branches.v[*(const uint32_t *)b];
	const uint32_t *place = e->k->places.rank;

	ORDER(e->k->events.rank[x->event], e->k->events.rank[y->event]);
	ORDER(e->k->owners.rank[x->owner], e->k->owners.rank[y->owner]);
	ORDER(place[x->from], place[y->from]);
	ORDER(place[x->to], place[y->to]);
	return 0;
}

static int by_access(const void *a, const void *b, void *ctx)
{
	const struct ranker *e = ctx;
	const struct access *x = &e->p->accesses.v[*(const uint32_t *)a];
	const struct access *y = &e->p->accesses.v[*(const uint32_t *)b];
	const uint32_t *place = e->k->places.rank;

	ORDER(e->k->events.rank[x->event], e->k->events.rank[y->event]);
	ORDER(e->k->owners.rank[x->owner], e->k->owners.rank[y->owner]);
	ORDER(x->pid, y->pid);
	ORDER(place[x->place], place[y->place]);
	ORDER(place[x->data], place[y->data]);
	ORDER(x->tid, y->tid);
	ORDER(e->k->vectors.rank[x->vector], e->k->vectors.rank[y->vector]);
	ORDER(x->node, y->node);
	ORDER(x->cpu_node, y->cpu_node);
	ORDER(x->latency_of, y->latency_of);
	ORDER(x->source, y->source);
	return 0;
}

static int by_container(const void *a, const void *b, void *ctx)
{
	const struct ranker *e = ctx;
	const struct container *x = &e->p->containers.v[*(const uint32_t *)a];
	const struct container *y = &e->p->containers.v[*(const uint32_t *)b];

	ORDER(e->k->strings.rank[x->text[CONTAINER_ID]], e->k->strings.rank[y->text[CONTAINER_ID]]);
	return 0;
}

static int by_script(const void *a, const void *b, void *ctx)
{
	const struct ranker *e = ctx;
	const uint32_t *place = e->k->places.rank;

	ORDER(place[e->p->scripts.v[*(const uint32_t *)a].place],
	      place[e->p->scripts.v[*(const uint32_t *)b].place]);
	return 0;
}

static void rank_small(struct ranker *e, struct ranking *k, uint32_t first,
		       int (*by)(const void *, const void *, void *))
{
	if (k->list.n > 1)
		qsort_r(k->list.v, k->list.n, sizeof(*k->list.v), by, e);
	ranking_number(k, first);
}

/* Places by (image, svma, flags): parted by image, whose places are near each other, so that few of
 * their addresses' digits differ; then by two stable sorts. */
static void rank_places(struct ranker *e)
{
	struct ranking *k = &e->k->places;
	const struct place *v = e->p->places.v;
	const uint32_t *image = e->k->images.rank;
	const uint32_t n_images = e->k->images.n, n_places = (uint32_t)k->list.n;
	uint32_t *end = xcalloc(n_images + 1, sizeof(*end)); /* of each image's part, by rank */
	uint32_t *parted = xcalloc(n_places + 1, sizeof(*parted));

	items_reserve(e, n_places);
	vec_each (id, &k->list)
		end[image[v[*id].image] + 1]++;
	for (uint32_t im = 1; im <= n_images; im++)
		end[im] += end[im - 1];
	vec_each (id, &k->list)
		parted[end[image[v[*id].image]]++] = *id;
	for (uint32_t im = 0, at = 0; im < n_images && at < n_places; at = end[im++]) {
		uint32_t n = end[im] - at;

		for (uint32_t i = 0; i < n; i++)
			e->items[i] = (struct sort_item){v[parted[at + i]].flags, parted[at + i]};
		radix_sort(e, n);
		for (uint32_t i = 0; i < n; i++)
			e->items[i].key = v[e->items[i].id].svma;
		radix_sort(e, n);
		for (uint32_t i = 0; i < n; i++)
			k->list.v[at + i] = e->items[i].id;
	}
	free(parted);
	free(end);
	ranking_number(k, 0);
}

/* Siblings that are sorted by insertion; more of them by radix. */
#define FEW 24

/* Sorts the N contexts at IDS by their place. */
static void sort_siblings(struct ranker *e, uint32_t *ids, uint32_t n)
{
	const struct ctx *v = e->p->ctxs.v;
	const uint32_t *place = e->k->places.rank;
	uint32_t k;

	if (n > FEW) {
		for (uint32_t i = 0; i < n; i++)
			e->items[i] = (struct sort_item){place[v[ids[i]].place], ids[i]};
		radix_sort(e, n);
		for (uint32_t i = 0; i < n; i++)
			ids[i] = e->items[i].id;
		return;
	}
	for (uint32_t i = 1; i < n; i++) {
		uint32_t id = ids[i], of = place[v[id].place];

		for (k = i; k > 0 && place[v[ids[k - 1]].place] > of; k--)
			ids[k] = ids[k - 1];
		ids[k] = id;
	}
}

/* Contexts by (depth, parent's number, place). */
static void rank_ctxs(struct ranker *e)
{
	struct ranking *k = &e->k->ctxs;
	const struct ctx *v = e->p->ctxs.v;
	struct family { /* by a context's place in the list + 1, which is its
			 * rank so far; 0: root */
		uint32_t child, next;
	} *of = xcalloc(k->list.n + 1, sizeof(*of));
	uint32_t *order = xcalloc(k->list.n + 1, sizeof(*order));
	uint32_t parent = 0, widest = 0, n_children, n = 0;

	for (uint32_t i = (uint32_t)k->list.n; i > 0; i--) {
		struct family *up = &of[k->rank[v[k->list.v[i - 1]].parent]];

		of[i].next = up->child;
		up->child = i;
	}
	for (uint32_t at = 0;; parent = k->rank[order[at++]]) {
		n_children = 0;
		for (uint32_t i = of[parent].child; i; i = of[i].next)
			order[n + n_children++] = k->list.v[i - 1];
		if (n_children > widest)
			items_reserve(e, widest = n_children);
		sort_siblings(e, order + n, n_children);
		n += n_children;
		if (at == n)
			break;
	}
	if (n)
		memcpy(k->list.v, order, n * sizeof(*order));
	free(order);
	free(of);
	ranking_number(k, 1);
}

static void rank_values(struct ranker *e)
{
	const struct segment_ranks *k = e->k;
	const struct value *v = e->p->values.v;
	unsigned ctx_bits = 0;
	size_t n = 0;

	while (k->ctxs.n >> ctx_bits)
		ctx_bits++;
	items_reserve(e, k->n_values);
	profile_each_used (e->p, i)
		if (value_counts(&v[i]))
			e->items[n++] = (struct sort_item){(uint64_t)k->owners.rank[v[i].owner]
									   << ctx_bits |
								   k->ctxs.rank[v[i].ctx],
							   i};
	radix_sort(e, n);
	for (size_t i = 0; i < n; i++) {
		const struct value *x = &v[e->items[i].id];

		e->items[i].key =
			(uint64_t)k->events.rank[x->event] << 32 | k->vectors.rank[x->vector];
	}
	radix_sort(e, n);
	e->k->values = xcalloc(n + 1, sizeof(*e->k->values));
	for (size_t i = 0; i < n; i++)
		e->k->values[i] = e->items[i].id;
}

void segment_rank(const struct profile *p, struct segment_ranks *ret)
{
	struct ranker e = {.p = p, .k = ret};

	*ret = (struct segment_ranks){0};
	ranking_init(&ret->strings, p->strings.n);
	ranking_init(&ret->events, p->events.n);
	ranking_init(&ret->images, p->images.n);
	ranking_init(&ret->places, p->places.n);
	ranking_init(&ret->owners, p->owners.n);
	ranking_init(&ret->vectors, p->vectors.n);
	ranking_init(&ret->ctxs, p->ctxs.n);
	ranking_init(&ret->traces, p->traces.n);
	ranking_init(&ret->branches, p->branches.n);
	ranking_init(&ret->accesses, p->accesses.n);
	ranking_init(&ret->scripts, p->scripts.n);
	ranking_init(&ret->containers, p->containers.n);
	mark_used(&e);
	rank_small(&e, &ret->strings, 1, by_string);
	rank_small(&e, &ret->events, 0, by_event);
	rank_small(&e, &ret->images, 0, by_image);
	rank_small(&e, &ret->owners, 1, by_owner);
	rank_small(&e, &ret->vectors, 1, by_vector);
	rank_small(&e, &ret->traces, 0, by_trace);
	rank_places(&e);
	rank_small(&e, &ret->branches, 0, by_branch);
	rank_small(&e, &ret->accesses, 0, by_access);
	rank_small(&e, &ret->scripts, 0, by_script);
	rank_small(&e, &ret->containers, 0, by_container);
	rank_ctxs(&e);
	rank_values(&e);
	free(e.items);
	free(e.items_tmp);
}

void segment_ranks_release(struct segment_ranks *k)
{
	ranking_release(&k->strings);
	ranking_release(&k->events);
	ranking_release(&k->images);
	ranking_release(&k->places);
	ranking_release(&k->owners);
	ranking_release(&k->vectors);
	ranking_release(&k->ctxs);
	ranking_release(&k->traces);
	ranking_release(&k->branches);
	ranking_release(&k->accesses);
	ranking_release(&k->scripts);
	ranking_release(&k->containers);
	free(k->values);
}
