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
	k->used = xcalloc(n + 1, 1);
	k->order = xcalloc(n + 1, sizeof(*k->order));
	k->rank = xcalloc(n + 1, sizeof(*k->rank));
}

static void ranking_release(struct ranking *k)
{
	free(k->used);
	free(k->order);
	free(k->rank);
}

/* Lists the used ids from FIRST on. */
static void ranking_collect(struct ranking *k, uint32_t first, size_t n)
{
	k->n = 0;
	for (uint32_t i = first; i < n; i++)
		if (k->used[i])
			k->order[k->n++] = i;
}

/* Numbers the sorted ids from FIRST on; ids below FIRST keep their number. */
static void ranking_number(struct ranking *k, uint32_t first)
{
	for (uint32_t i = 0; i < first; i++)
		k->rank[i] = i;
	for (uint32_t i = 0; i < k->n; i++)
		k->rank[k->order[i]] = first + i;
}

/* What is used. */

static void mark_used(struct ranker *e)
{
	const struct profile *p = e->p;
	const struct profile_meta *m = &p->meta;
	uint8_t *str = e->k->strings.used;

	vec_each (v, &p->values)
		if (value_counts(v))
			e->k->ctxs.used[v->ctx] = e->k->owners.used[v->owner] =
				e->k->vectors.used[v->vector] = 1;
	for (size_t i = 0; i < p->traces.n; i++) {
		const struct trace *t = &p->traces.v[i];

		if (!trace_says(p, t))
			continue;
		e->k->traces.used[i] = e->k->owners.used[t->owner] = 1;
		vec_each (point, &t->points)
			e->k->ctxs.used[point->ctx] = 1;
	}
	for (size_t i = p->ctxs.n; i-- > 1;) {
		if (!e->k->ctxs.used[i])
			continue;
		e->k->ctxs.used[p->ctxs.v[i].parent] = 1;
		e->k->places.used[p->ctxs.v[i].place] = 1;
	}
	for (size_t i = 0; i < p->places.n; i++)
		if (e->k->places.used[i])
			e->k->images.used[p->places.v[i].image] = 1;
	for (size_t i = 0; i < p->images.n; i++)
		if (e->k->images
			    .used[i]) /* interning gives the path's id without adding: it is there
				       */
			str[profile_intern_str((struct profile *)p, p->images.v[i].path)] = 1;
	for (size_t i = 0; i < p->owners.n; i++) {
		const struct owner *o = &p->owners.v[i];

		if (e->k->owners.used[i])
			str[o->exe] = str[o->comm] = str[o->cgroup] = str[o->label] = 1;
	}
	vec_each (u, &p->user_facts)
		str[u->name] = str[u->meaning] = 1;
	vec_each (ev, &p->events)
		str[ev->name] = str[ev->unit] = 1;
	memset(e->k->events.used, 1, p->events.n);
	vec_each (l, &p->losses)
		str[l->name] = 1;
	str[m->host] = str[m->platform] = str[m->kernel] = str[m->engine] = str[m->command] = 1;
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

static void rank_small(struct ranker *e, struct ranking *k, uint32_t first, size_t n,
		       int (*by)(const void *, const void *, void *))
{
	ranking_collect(k, first, n);
	if (k->n > 1)
		qsort_r(k->order, k->n, sizeof(*k->order), by, e);
	ranking_number(k, first);
}

/* Places by (image, svma, flags): parted by image, whose places are near each other, so that few of
 * their addresses' digits differ; then by two stable sorts. */
static void rank_places(struct ranker *e)
{
	struct ranking *k = &e->k->places;
	const struct place *v = e->p->places.v;
	const uint32_t *image = e->k->images.rank;
	uint32_t *end =
		xcalloc(e->p->images.n + 1, sizeof(*end)); /* of each image's part, by rank */

	ranking_collect(k, 0, e->p->places.n);
	items_reserve(e, k->n);
	for (uint32_t i = 0; i < k->n; i++)
		end[image[v[k->order[i]].image] + 1]++;
	for (size_t im = 1; im <= e->p->images.n; im++)
		end[im] += end[im - 1];
	for (uint32_t i = 0; i < k->n; i++) /* ranks hold it meanwhile */
		k->rank[end[image[v[k->order[i]].image]]++] = k->order[i];
	for (uint32_t im = 0, at = 0; im < e->p->images.n && at < k->n; at = end[im++]) {
		uint32_t n = end[im] - at;

		for (uint32_t i = 0; i < n; i++)
			e->items[i] = (struct sort_item){v[k->rank[at + i]].flags, k->rank[at + i]};
		radix_sort(e, n);
		for (uint32_t i = 0; i < n; i++)
			e->items[i].key = v[e->items[i].id].svma;
		radix_sort(e, n);
		for (uint32_t i = 0; i < n; i++)
			k->order[at + i] = e->items[i].id;
	}
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
	size_t n = e->p->ctxs.n;
	struct family {
		uint32_t child, next;
	} *of = xcalloc(n, sizeof(*of));
	uint32_t parent = 0, widest = 0, n_children;

	for (size_t i = n; i-- > 1;) {
		if (!k->used[i])
			continue;
		of[i].next = of[v[i].parent].child;
		of[v[i].parent].child = (uint32_t)i;
	}
	k->n = 0;
	for (uint32_t at = 0;; parent = k->order[at++]) {
		n_children = 0;
		for (uint32_t i = of[parent].child; i; i = of[i].next)
			k->order[k->n + n_children++] = i;
		if (n_children > widest)
			items_reserve(e, widest = n_children);
		sort_siblings(e, k->order + k->n, n_children);
		for (uint32_t i = 0; i < n_children; i++, k->n++)
			k->rank[k->order[k->n]] = k->n + 1;
		if (at == k->n)
			break;
	}
	k->rank[0] = 0;
	free(of);
}

static void rank_values(struct ranker *e)
{
	const struct segment_ranks *k = e->k;
	const struct value *v = e->p->values.v;
	unsigned ctx_bits = 0;
	size_t n = 0;

	while (k->ctxs.n >> ctx_bits)
		ctx_bits++;
	items_reserve(e, e->p->values.n);
	for (size_t i = 0; i < e->p->values.n; i++)
		if (value_counts(&v[i]))
			e->items[n++] = (struct sort_item){(uint64_t)k->owners.rank[v[i].owner]
									   << ctx_bits |
								   k->ctxs.rank[v[i].ctx],
							   (uint32_t)i};
	radix_sort(e, n);
	for (size_t i = 0; i < n; i++) {
		const struct value *x = &v[e->items[i].id];

		e->items[i].key =
			(uint64_t)k->events.rank[x->event] << 32 | k->vectors.rank[x->vector];
	}
	radix_sort(e, n);
	e->k->values = xcalloc(n + 1, sizeof(*e->k->values));
	e->k->n_values = n;
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
	mark_used(&e);
	rank_small(&e, &ret->strings, 1, p->strings.n, by_string);
	rank_small(&e, &ret->events, 0, p->events.n, by_event);
	rank_small(&e, &ret->images, 0, p->images.n, by_image);
	rank_small(&e, &ret->owners, 1, p->owners.n, by_owner);
	rank_small(&e, &ret->vectors, 1, p->vectors.n, by_vector);
	rank_small(&e, &ret->traces, 0, p->traces.n, by_trace);
	rank_places(&e);
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
	free(k->values);
}
