/* SPDX-License-Identifier: BSD-2-Clause */
/* A profile to segment bytes: docs/formats/segment.md "Blocks".
 *
 * First what is used is marked, from the values down: contexts and their parents, places, images,
 * strings.  Then each dictionary is sorted by content and its used elements are numbered in that
 * order (`rank`), which makes neighbours similar, deltas small, and the bytes independent of the
 * order of collection.  Contexts are sorted level by level, so that parents come first.  Large
 * arrays are sorted by radix: 60,000 places and values in about a millisecond each. */
#include "formats/segment.h"

#include <errno.h>
#include <string.h>

#include "formats/segment_block.h"
#include "model/trace.h"

/* A dictionary on its way out: which elements, in which order, under which number. */
struct ranking {
	uint8_t *used;	 /* by old id */
	uint32_t *order; /* old ids, sorted; n of them */
	uint32_t *rank;	 /* new number by old id; meaningless for unused ones */
	uint32_t n;
};

struct encoder {
	size_t n_values; /* those that count, after sort_values */
	const struct profile *p;
	struct block_writer w;
	struct ranking strings, events, images, places, owners, vectors, ctxs, traces;
	struct sort_item *items, *items_tmp; /* for radix sorting */
	size_t n_items;
};

struct sort_item {
	uint64_t key;
	uint32_t id;
};

/* Sorts the N items at E->items by key, stably. */
static void radix_sort(struct encoder *e, size_t n)
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

static void items_reserve(struct encoder *e, size_t n)
{
	if (n <= e->n_items)
		return;
	e->items = xrealloc(e->items, n, sizeof(*e->items));
	e->items_tmp = xrealloc(e->items_tmp, n, sizeof(*e->items_tmp));
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

static void mark_used(struct encoder *e)
{
	const struct profile *p = e->p;
	const struct profile_meta *m = &p->meta;
	uint8_t *str = e->strings.used;

	vec_each (v, &p->values)
		if (value_counts(v))
			e->ctxs.used[v->ctx] = e->owners.used[v->owner] =
				e->vectors.used[v->vector] = 1;
	for (size_t i = 0; i < p->traces.n; i++) {
		const struct trace *t = &p->traces.v[i];

		if (!trace_says(p, t))
			continue;
		e->traces.used[i] = e->owners.used[t->owner] = 1;
		vec_each (point, &t->points)
			e->ctxs.used[point->ctx] = 1;
	}
	for (size_t i = p->ctxs.n; i-- > 1;) {
		if (!e->ctxs.used[i])
			continue;
		e->ctxs.used[p->ctxs.v[i].parent] = 1;
		e->places.used[p->ctxs.v[i].place] = 1;
	}
	for (size_t i = 0; i < p->places.n; i++)
		if (e->places.used[i])
			e->images.used[p->places.v[i].image] = 1;
	for (size_t i = 0; i < p->images.n; i++)
		if (e->images.used[i]) /* interning gives the path's id without adding: it is there
					*/
			str[profile_intern_str((struct profile *)p, p->images.v[i].path)] = 1;
	for (size_t i = 0; i < p->owners.n; i++) {
		const struct owner *o = &p->owners.v[i];

		if (e->owners.used[i])
			str[o->exe] = str[o->comm] = str[o->cgroup] = str[o->label] = 1;
	}
	vec_each (ev, &p->events)
		str[ev->name] = str[ev->unit] = 1;
	memset(e->events.used, 1, p->events.n);
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
	const struct encoder *e = ctx;

	return strcmp(e->p->strings.v[*(const uint32_t *)a], e->p->strings.v[*(const uint32_t *)b]);
}

static int by_event(const void *a, const void *b, void *ctx)
{
	const struct encoder *e = ctx;
	const struct event *x = &e->p->events.v[*(const uint32_t *)a];
	const struct event *y = &e->p->events.v[*(const uint32_t *)b];
	const uint32_t *str = e->strings.rank;

	ORDER(str[x->name], str[y->name]);
	ORDER(str[x->unit], str[y->unit]);
	ORDER(x->period, y->period);
	ORDER(x->freq_hz, y->freq_hz);
	return 0;
}

static int by_image(const void *a, const void *b, void *ctx)
{
	const struct encoder *e = ctx;
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
	const struct encoder *e = ctx;
	const struct owner *x = &e->p->owners.v[*(const uint32_t *)a];
	const struct owner *y = &e->p->owners.v[*(const uint32_t *)b];
	const uint32_t *str = e->strings.rank;

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
	const struct encoder *e = ctx;
	const struct vector *x = &e->p->vectors.v[*(const uint32_t *)a];
	const struct vector *y = &e->p->vectors.v[*(const uint32_t *)b];

	ORDER(x->known, y->known);
	ORDER(x->value, y->value);
	ORDER(x->counter, y->counter);
	return 0;
}

static int by_trace(const void *a, const void *b, void *ctx)
{
	const struct encoder *e = ctx;
	const struct trace *x = &e->p->traces.v[*(const uint32_t *)a];
	const struct trace *y = &e->p->traces.v[*(const uint32_t *)b];

	ORDER(e->owners.rank[x->owner], e->owners.rank[y->owner]);
	ORDER(x->pid, y->pid);
	ORDER(x->tid, y->tid);
	ORDER(x->start_ns, y->start_ns);
	return 0;
}

static void rank_small(struct encoder *e, struct ranking *k, uint32_t first, size_t n,
		       int (*by)(const void *, const void *, void *))
{
	ranking_collect(k, first, n);
	if (k->n > 1)
		qsort_r(k->order, k->n, sizeof(*k->order), by, e);
	ranking_number(k, first);
}

/* Places by (image, svma, flags): three stable sorts, the least significant key first. */
static void rank_places(struct encoder *e)
{
	struct ranking *k = &e->places;
	const struct place *v = e->p->places.v;

	ranking_collect(k, 0, e->p->places.n);
	items_reserve(e, k->n);
	for (uint32_t i = 0; i < k->n; i++)
		e->items[i] = (struct sort_item){v[k->order[i]].flags, k->order[i]};
	radix_sort(e, k->n);
	for (uint32_t i = 0; i < k->n; i++)
		e->items[i].key = v[e->items[i].id].svma;
	radix_sort(e, k->n);
	for (uint32_t i = 0; i < k->n; i++)
		e->items[i].key = e->images.rank[v[e->items[i].id].image];
	radix_sort(e, k->n);
	for (uint32_t i = 0; i < k->n; i++)
		k->order[i] = e->items[i].id;
	ranking_number(k, 0);
}

/* Contexts by (depth, parent's number, place): a counting sort by depth, then level by level. */
static void rank_ctxs(struct encoder *e)
{
	struct ranking *k = &e->ctxs;
	const struct ctx *v = e->p->ctxs.v;
	size_t n = e->p->ctxs.n;
	uint32_t *depth = xcalloc(n, sizeof(*depth)), *start;
	uint32_t deepest = 0;

	k->n = 0;
	for (size_t i = 1; i < n; i++) {
		depth[i] = depth[v[i].parent] + 1;
		if (k->used[i] && depth[i] > deepest)
			deepest = depth[i];
	}
	start = xcalloc(deepest + 2, sizeof(*start)); /* [d]: where level d begins, levels from 1 */
	for (size_t i = 1; i < n; i++) {
		if (k->used[i]) {
			start[depth[i]]++;
			k->n++;
		}
	}
	for (uint32_t d = deepest + 1, end = k->n; d > 0; d--) {
		uint32_t n_level = d <= deepest ? start[d] : 0;

		start[d] = end - n_level;
		end -= n_level;
	}
	for (uint32_t i = 1; i < n; i++)
		if (k->used[i])
			k->order[start[depth[i]]++] = i; /* start[d] becomes the end of level d */
	items_reserve(e, k->n);
	for (uint32_t d = 1, at = 0; d <= deepest; at = start[d++]) {
		uint32_t n_level = start[d] - at;

		for (uint32_t i = 0; i < n_level; i++) {
			uint32_t id = k->order[at + i];

			e->items[i] = (struct sort_item){(uint64_t)k->rank[v[id].parent] << 32 |
								 e->places.rank[v[id].place],
							 id};
		}
		radix_sort(e, n_level);
		for (uint32_t i = 0; i < n_level; i++) {
			k->order[at + i] = e->items[i].id;
			k->rank[e->items[i].id] = at + i + 1;
		}
	}
	free(depth);
	free(start);
}

/* Leaves the values' numbers in E->items, sorted by (event, vector, owner, ctx). */
static void sort_values(struct encoder *e)
{
	const struct value *v = e->p->values.v;
	size_t n = 0;

	items_reserve(e, e->p->values.n);
	for (size_t i = 0; i < e->p->values.n; i++)
		if (value_counts(&v[i]))
			e->items[n++] = (struct sort_item){
				(uint64_t)e->owners.rank[v[i].owner] << 32 | e->ctxs.rank[v[i].ctx],
				(uint32_t)i};
	e->n_values = n;
	radix_sort(e, n);
	for (size_t i = 0; i < n; i++) {
		const struct value *x = &v[e->items[i].id];

		e->items[i].key =
			(uint64_t)e->events.rank[x->event] << 32 | e->vectors.rank[x->vector];
	}
	radix_sort(e, n);
}

/* Blocks; each fills columns in the order docs/formats/segment.md lists them. */

#define COLUMN(i) (&e->w.columns[i])

static int put_strings(struct encoder *e, struct err *err)
{
	const struct ranking *k = &e->strings;

	for (uint32_t i = 0; i < k->n; i++) {
		const char *s = e->p->strings.v[k->order[i]];
		size_t n = strlen(s);

		wr_uleb(COLUMN(0), n);
		wr_bytes(COLUMN(1), s, n);
	}
	return block_add(&e->w, SEGMENT_STRINGS, SEGMENT_REQUIRED, k->n, 2, err);
}

static int put_meta(struct encoder *e, struct err *err)
{
	const struct profile_meta *m = &e->p->meta;
	const uint32_t *str = e->strings.rank;
	const uint64_t fields[] = {str[m->host],   str[m->platform], str[m->kernel],
				   str[m->engine], str[m->command],  m->start_wall_ns,
				   m->end_wall_ns, m->n_cpus};

	for (unsigned i = 0; i < n_elems(fields); i++)
		wr_uleb(COLUMN(0), fields[i]);
	return block_add(&e->w, SEGMENT_META, 0, n_elems(fields), 1, err);
}

static int put_events(struct encoder *e, struct err *err)
{
	const struct ranking *k = &e->events;

	for (uint32_t i = 0; i < k->n; i++) {
		const struct event *v = &e->p->events.v[k->order[i]];
		const uint64_t fields[] = {e->strings.rank[v->name],
					   e->strings.rank[v->unit],
					   v->period,
					   v->freq_hz,
					   v->enabled_ns,
					   v->running_ns,
					   v->total,
					   v->n_reached};

		for (unsigned c = 0; c < n_elems(fields); c++)
			wr_uleb(COLUMN(c), fields[c]);
	}
	return block_add(&e->w, SEGMENT_EVENTS, SEGMENT_REQUIRED, k->n, 8, err);
}

static int put_images(struct encoder *e, struct err *err)
{
	const struct ranking *k = &e->images;

	for (uint32_t i = 0; i < k->n; i++) {
		const struct image *v = &e->p->images.v[k->order[i]];
		string_id path = profile_intern_str((struct profile *)e->p, v->path);

		wr_uleb(COLUMN(0), v->kind);
		wr_uleb(COLUMN(1), v->flags);
		wr_uleb(COLUMN(2), e->strings.rank[path]);
		wr_uleb(COLUMN(3), v->text_start);
		wr_uleb(COLUMN(4), v->text_bytes);
		wr_uleb(COLUMN(5), v->build_id.n_bytes);
		wr_bytes(COLUMN(6), v->build_id.bytes, v->build_id.n_bytes);
	}
	return block_add(&e->w, SEGMENT_IMAGES, SEGMENT_REQUIRED, k->n, 7, err);
}

static int put_places(struct encoder *e, struct err *err)
{
	const struct ranking *k = &e->places;
	uint32_t image = 0;
	uint64_t svma = 0;

	for (uint32_t i = 0; i < k->n; i++) {
		const struct place *v = &e->p->places.v[k->order[i]];
		uint32_t im = e->images.rank[v->image];

		if (im != image)
			svma = 0;
		wr_uleb(COLUMN(0), im - image);
		wr_uleb(COLUMN(1), v->svma - svma);
		wr_uleb(COLUMN(2), v->flags);
		image = im;
		svma = v->svma;
	}
	return block_add(&e->w, SEGMENT_PLACES, SEGMENT_REQUIRED, k->n, 3, err);
}

static int put_owners(struct encoder *e, struct err *err)
{
	const struct ranking *k = &e->owners;
	const uint32_t *str = e->strings.rank;

	for (uint32_t i = 0; i < k->n; i++) {
		const struct owner *v = &e->p->owners.v[k->order[i]];
		const uint32_t fields[] = {str[v->exe], str[v->comm], str[v->cgroup], str[v->label],
					   v->uid + 1,	v->pid,	      v->tid,	      v->flags};

		for (unsigned c = 0; c < n_elems(fields); c++)
			wr_uleb(COLUMN(c), fields[c]);
	}
	return block_add(&e->w, SEGMENT_OWNERS, SEGMENT_REQUIRED, k->n, 8, err);
}

static int put_vectors(struct encoder *e, struct err *err)
{
	const struct ranking *k = &e->vectors;

	for (uint32_t i = 0; i < k->n; i++) {
		const struct vector *v = &e->p->vectors.v[k->order[i]];

		wr_uleb(COLUMN(0), v->known);
		wr_uleb(COLUMN(1), v->value);
		wr_uleb(COLUMN(2), v->counter);
	}
	return block_add(&e->w, SEGMENT_VECTORS, SEGMENT_REQUIRED, k->n, 3, err);
}

/* The first child of a parent is told from what followed the parent's place last time: code mostly
 * calls what it called before.  Observed on 3,400 stacks of a compiler: 1.20 bytes a context, 1.54
 * with the place's number itself. */
static int put_ctxs(struct encoder *e, struct err *err)
{
	const struct ranking *k = &e->ctxs;
	uint32_t *follower = xcalloc(e->places.n + 1, sizeof(*follower));
	uint32_t parent = 0, next = 0; /* smallest place the next child of PARENT can have */

	for (uint32_t i = 0; i < e->places.n; i++)
		follower[i] = i;
	for (uint32_t i = 0; i < k->n; i++) {
		const struct ctx *v = &e->p->ctxs.v[k->order[i]];
		uint32_t up = k->rank[v->parent], place = e->places.rank[v->place];

		wr_uleb(COLUMN(0), up - parent);
		if (up == parent) {
			wr_uleb(COLUMN(1), place - next);
		} else {
			uint32_t *f = &follower[e->places.rank[e->p->ctxs.v[v->parent].place]];

			wr_sleb(COLUMN(1), (int64_t)place - *f);
			*f = place;
		}
		parent = up;
		next = place + 1;
	}
	free(follower);
	return block_add(&e->w, SEGMENT_CONTEXTS, SEGMENT_REQUIRED, k->n, 2, err);
}

struct loss_row {
	uint32_t name, event;
	uint64_t n;
};

static int by_loss(const void *a, const void *b)
{
	const struct loss_row *x = a, *y = b;

	ORDER(x->name, y->name);
	ORDER(x->event, y->event);
	return 0;
}

static int put_losses(struct encoder *e, struct err *err)
{
	VEC(struct loss_row) rows = {0};
	int rc;

	vec_each (l, &e->p->losses)
		vec_push(&rows, (struct loss_row){e->strings.rank[l->name],
						  e->events.rank[l->event], l->n});
	vec_sort(&rows, by_loss);
	vec_each (row, &rows) {
		wr_uleb(COLUMN(0), row->name);
		wr_uleb(COLUMN(1), row->event);
		wr_uleb(COLUMN(2), row->n);
	}
	rc = block_add(&e->w, SEGMENT_LOSSES, SEGMENT_REQUIRED, (uint32_t)rows.n, 3, err);
	vec_release(&rows);
	return rc;
}

/* One block of values [FROM, END) of the sorted ones.  A column's delta counts only while the
 * columns before it stay the same; where one of them moves, it starts again from 0. */
static int put_values(struct encoder *e, size_t from, size_t end, struct err *err)
{
	uint32_t event = 0, vector = 0, owner = 0, next_ctx = 0;

	for (size_t i = from; i < end; i++) {
		const struct value *v = &e->p->values.v[e->items[i].id];
		uint32_t ev = e->events.rank[v->event], ve = e->vectors.rank[v->vector];
		uint32_t ow = e->owners.rank[v->owner], cx = e->ctxs.rank[v->ctx];

		if (ev != event)
			vector = owner = next_ctx = 0;
		if (ve != vector)
			owner = next_ctx = 0;
		if (ow != owner)
			next_ctx = 0;
		wr_uleb(COLUMN(0), ev - event);
		wr_uleb(COLUMN(1), ve - vector);
		wr_uleb(COLUMN(2), ow - owner);
		wr_uleb(COLUMN(3), cx - next_ctx);
		wr_uleb(COLUMN(4), v->count - 1);
		wr_uleb(COLUMN(5), v->sum);
		event = ev;
		vector = ve;
		owner = ow;
		next_ctx = cx + 1;
	}
	return block_add(&e->w, SEGMENT_VALUES, SEGMENT_REQUIRED, (uint32_t)(end - from), 6, err);
}

static int put_traces(struct encoder *e, struct err *err)
{
	const struct ranking *k = &e->traces;
	uint32_t owner = 0, pid = 0;
	uint64_t start = 0;

	for (uint32_t i = 0; i < k->n; i++) {
		const struct trace *t = &e->p->traces.v[k->order[i]];
		uint32_t ow = e->owners.rank[t->owner];

		if (ow != owner)
			pid = 0;
		wr_uleb(COLUMN(0), ow - owner);
		wr_uleb(COLUMN(1), t->pid - pid);
		wr_sleb(COLUMN(2), (int64_t)t->tid - t->pid);
		wr_sleb(COLUMN(3), (int64_t)(t->start_ns - start));
		wr_uleb(COLUMN(4), t->end_ns ? t->end_ns - t->start_ns + 1 : 0);
		wr_uleb(COLUMN(5), t->n_dropped);
		owner = ow;
		pid = t->pid;
		start = t->start_ns;
	}
	return block_add(&e->w, SEGMENT_TRACES, 0, k->n, 6, err);
}

/* A point with the file's numbers. */
struct point_row {
	uint64_t time_ns;
	uint32_t ctx, event;
};

static int by_point(const void *a, const void *b)
{
	const struct point_row *x = a, *y = b;

	ORDER(x->time_ns, y->time_ns);
	ORDER(x->event, y->event);
	ORDER(x->ctx, y->ctx);
	return 0;
}

/* The points of one line after the other, a block whenever SEGMENT_VALUES_MAX are together. */
static int put_points(struct encoder *e, struct err *err)
{
	uint32_t n = 0, line = 0;
	int rc = 0;

	for (uint32_t i = 0; i < e->traces.n && !rc; i++) {
		const struct trace *t = &e->p->traces.v[e->traces.order[i]];
		uint64_t time = t->start_ns;
		VEC(struct point_row) rows = {0};
		uint32_t ctx = 0;

		vec_reserve(&rows, t->points.n);
		vec_each (point, &t->points)
			vec_push(&rows, (struct point_row){point->time_ns, e->ctxs.rank[point->ctx],
							   e->events.rank[point->event]});
		vec_sort(&rows, by_point);
		vec_each (row, &rows) {
			wr_uleb(COLUMN(0), i - line);
			wr_uleb(COLUMN(1), row->time_ns - time);
			wr_uleb(COLUMN(2), row->event);
			wr_sleb(COLUMN(3), (int64_t)row->ctx - ctx);
			line = i;
			time = row->time_ns;
			ctx = row->ctx;
			if (++n < SEGMENT_VALUES_MAX)
				continue;
			rc = block_add(&e->w, SEGMENT_POINTS, 0, n, 4, err);
			if (rc < 0)
				break;
			time = t->start_ns;
			n = line = ctx = 0;
		}
		vec_release(&rows);
	}
	return rc < 0 ? rc : block_add(&e->w, SEGMENT_POINTS, 0, n, 4, err);
}

static int put_blocks(struct encoder *e, struct err *err)
{
	static int (*const put[])(struct encoder * e, struct err * err) = {
		put_strings, put_meta,	  put_events, put_images, put_places,
		put_owners,  put_vectors, put_ctxs,   put_losses,
	};
	size_t n = e->n_values;

	for (size_t i = 0; i < n_elems(put); i++) {
		int rc = put[i](e, err);

		if (rc < 0)
			return rc;
	}
	for (size_t i = 0; i < n; i += SEGMENT_VALUES_MAX) {
		int rc = put_values(e, i, n - i < SEGMENT_VALUES_MAX ? n : i + SEGMENT_VALUES_MAX,
				    err);

		if (rc < 0)
			return rc;
	}
	if (e->traces.n) {
		int rc = put_traces(e, err);

		return rc < 0 ? rc : put_points(e, err);
	}
	return 0;
}

static void encoder_rank(struct encoder *e)
{
	const struct profile *p = e->p;

	ranking_init(&e->strings, p->strings.n);
	ranking_init(&e->events, p->events.n);
	ranking_init(&e->images, p->images.n);
	ranking_init(&e->places, p->places.n);
	ranking_init(&e->owners, p->owners.n);
	ranking_init(&e->vectors, p->vectors.n);
	ranking_init(&e->ctxs, p->ctxs.n);
	ranking_init(&e->traces, p->traces.n);
	mark_used(e);
	rank_small(e, &e->strings, 1, p->strings.n, by_string);
	rank_small(e, &e->events, 0, p->events.n, by_event);
	rank_small(e, &e->images, 0, p->images.n, by_image);
	rank_small(e, &e->owners, 1, p->owners.n, by_owner);
	rank_small(e, &e->vectors, 1, p->vectors.n, by_vector);
	rank_small(e, &e->traces, 0, p->traces.n, by_trace);
	rank_places(e);
	rank_ctxs(e);
	sort_values(e);
}

int segment_encode(struct wr *out, const struct profile *p, struct err *err)
{
	struct encoder e = {.p = p};
	size_t start = out->n;
	int rc = 0;

	encoder_rank(&e);
	/* Very regular data may shrink more than a reader is allowed to expand: then plainly. */
	for (int plain = 0; plain < 2; plain++) {
		uint64_t limit;

		out->n = start;
		block_begin_segment(&e.w, out, e.traces.n ? SEGMENT_MINOR : 0, plain);
		rc = put_blocks(&e, err);
		if (rc < 0) {
			block_writer_release(&e.w);
			out->n = start;
			break;
		}
		block_end_segment(&e.w);
		limit = (uint64_t)(out->n - start) * SEGMENT_EXPANSION + SEGMENT_FREE_BYTES;
		if (e.w.expanded <= limit)
			break;
	}
	free(e.items);
	free(e.items_tmp);
	ranking_release(&e.strings);
	ranking_release(&e.events);
	ranking_release(&e.images);
	ranking_release(&e.places);
	ranking_release(&e.owners);
	ranking_release(&e.vectors);
	ranking_release(&e.ctxs);
	ranking_release(&e.traces);
	return rc;
}
