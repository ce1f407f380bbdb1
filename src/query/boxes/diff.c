/* SPDX-License-Identifier: BSD-2-Clause */
/* Two flame graphs as one: boxes of one path are one box, as wide as their shares together, so that
 * what is only in one of them has its place, too.  Chance is judged as `dwell diff` does it
 * (docs/design/comparing.md). */
#include "query/boxes/boxes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "query/compare/significance.h"

#define ALPHA 0.05 /* that any box is coloured though nothing changed */

/* A box of either, in the order they come. */
struct merged_box {
	uint32_t parent, frame, depth, n_small;
	uint64_t self[2], total[2];
};

struct merger {
	struct flame *f;
	VEC(struct merged_box) boxes; /* [0] is the whole */
	struct index frames, index;   /* frames of F; BOXES by parent and frame */
	uint32_t *order;	      /* siblings together, those by falling total */
	double scale; /* what a sample of the first is worth in those of the second */
};

static bool frame_same(const void *owner, uint32_t i, const void *key)
{
	const struct flame_frame *x = &((const struct merger *)owner)->f->frames.v[i], *y = key;

	return x->kind == y->kind && strcmp(x->name, y->name) == 0 &&
	       strcmp(str_basename(x->image), str_basename(y->image)) == 0;
}

/* Images are one when they have one name: a build in another directory is what people compare. */
static uint32_t merge_frame(struct merger *m, const struct flame_frame *from)
{
	uint64_t hash =
		hash_pair(hash_str(from->name) + from->kind, hash_str(str_basename(from->image)));
	uint32_t i = index_find(&m->frames, hash, frame_same, m, from);
	struct flame_frame copy = *from;

	if (i != INDEX_NONE)
		return i;
	copy.name = arena_strdup(&m->f->arena, from->name);
	copy.label =
		from->label == from->name ? copy.name : arena_strdup(&m->f->arena, from->label);
	copy.image = arena_strdup(&m->f->arena, from->image);
	copy.file = arena_strdup(&m->f->arena, from->file);
	i = (uint32_t)m->f->frames.n;
	vec_push(&m->f->frames, copy);
	index_add(&m->frames, hash, i);
	return i;
}

static bool box_same(const void *owner, uint32_t i, const void *key)
{
	const struct merged_box *x = &((const struct merger *)owner)->boxes.v[i], *y = key;

	return x->parent == y->parent && x->frame == y->frame;
}

static void merge_boxes(struct merger *m, const struct flame *from, unsigned side)
{
	uint32_t *frame_of = xcalloc(from->frames.n + 1, sizeof(*frame_of));
	_vec_ VEC(uint32_t) path = {0};

	for (size_t i = 0; i < from->frames.n; i++)
		frame_of[i] = merge_frame(m, &from->frames.v[i]);
	vec_push(&path, 0);
	vec_each (b, &from->boxes) {
		struct merged_box key = {
			.parent = path.v[b->depth], .frame = frame_of[b->frame], .depth = b->depth};
		uint64_t hash = hash_pair(key.parent, key.frame);
		uint32_t at = index_find(&m->index, hash, box_same, m, &key);

		if (at == INDEX_NONE) {
			at = (uint32_t)m->boxes.n;
			vec_push(&m->boxes, key);
			index_add(&m->index, hash, at);
		}
		m->boxes.v[at].self[side] += b->self;
		m->boxes.v[at].total[side] += b->total;
		m->boxes.v[at].n_small += b->n_small;
		path.n = b->depth + 1;
		vec_push(&path, at);
	}
	free(frame_of);
}

/* --- the order of boxes --- */

static double merged_width(const struct merger *m, const struct merged_box *b)
{
	return (double)b->total[0] * m->scale + (double)b->total[1];
}

static int compare_merged(const void *a, const void *b, void *arg)
{
	const struct merger *m = arg;
	const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct merged_box *x = &m->boxes.v[i], *y = &m->boxes.v[j];
	double wx = merged_width(m, x), wy = merged_width(m, y);

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (wx != wy)
		return wx > wy ? -1 : 1;
	return i < j ? -1 : 1;
}

static void add_merged(struct merger *m, const struct merged_box *b)
{
	vec_push(&m->f->boxes,
		 (struct flame_box){
			 .depth = b->depth,
			 .frame = b->frame,
			 .n_small = b->n_small,
			 .self = (uint64_t)llround((double)b->self[0] * m->scale) + b->self[1],
			 .side_self = {b->self[0], b->self[1]},
			 .side_total = {b->total[0], b->total[1]},
		 });
}

/* Appends the boxes in preorder.  They wait on a stack of our own: paths can be deep. */
static void order_boxes(struct merger *m)
{
	const size_t n = m->boxes.n;
	uint32_t *order = xcalloc(n, sizeof(*order)), *first = xcalloc(n + 1, sizeof(*first));
	_vec_ VEC(uint32_t) wait = {0};

	for (uint32_t i = 1; i < n; i++) {
		order[i - 1] = i;
		first[m->boxes.v[i].parent + 1]++;
	}
	qsort_r(order, n - 1, sizeof(*order), compare_merged, m);
	for (size_t i = 0; i < n; i++)
		first[i + 1] += first[i];
	vec_push(&wait, 0);
	while (wait.n) {
		uint32_t box = wait.v[--wait.n];

		if (box)
			add_merged(m, &m->boxes.v[box]);
		for (uint32_t k = first[box + 1]; k-- > first[box];)
			vec_push(&wait, order[k]);
	}
	free(order);
	free(first);
}

/* --- what changed --- */

static void judge_boxes(struct flame *f)
{
	const size_t n = f->boxes.n;
	const bool counts = strcmp(f->unit, "samples") == 0;
	double *p = xcalloc(n + 1, sizeof(*p));

	for (size_t i = 0; i < n; i++) {
		const uint64_t *t = f->boxes.v[i].side_total;

		p[i] = NAN;
		if (!counts)
			p[i] = 0; /* chance is not known */
		else if (two_shares_least_p(t[0], f->sides[0].total, t[1], f->sides[1].total) <
			 ALPHA)
			p[i] = two_shares_p(t[0], f->sides[0].total, t[1], f->sides[1].total);
	}
	holm_adjust(p, n);
	for (size_t i = 0; i < n; i++) {
		struct flame_box *b = &f->boxes.v[i];
		double was = (double)b->side_total[0] / (double)f->sides[0].total,
		       is = (double)b->side_total[1] / (double)f->sides[1].total;

		if (isnan(p[i]) || p[i] >= ALPHA || was == is)
			continue;
		if (is > was)
			b->change = was == 0	     ? FLAME_NEW
				    : is > 1.5 * was ? FLAME_GREW_MUCH
						     : FLAME_GREW;
		else
			b->change = is == 0	     ? FLAME_GONE
				    : was > 1.5 * is ? FLAME_SHRANK_MUCH
						     : FLAME_SHRANK;
	}
	free(p);
}

void flame_diff(struct flame *ret, const struct flame *a, const struct flame *b,
		const struct flame_diff_opts *o)
{
	struct merger m = {.f = ret, .scale = a->total ? (double)b->total / (double)a->total : 0};
	struct str account = {0};

	*ret = (struct flame){.is_diff = true,
			      .callers = b->callers,
			      .max_depth = b->max_depth,
			      .scale = b->scale,
			      .unit = b->unit,
			      .least = a->least > b->least ? a->least : b->least};
	vec_push(&m.boxes, (struct merged_box){0});
	merge_boxes(&m, a, 0);
	merge_boxes(&m, b, 1);
	order_boxes(&m);
	flame_settle(ret);
	for (unsigned k = 0; k < 2; k++) {
		const struct flame *side = k ? b : a;

		ret->sides[k].total = side->total ? side->total : 1;
		ret->sides[k].name = arena_strdup(&ret->arena, side->title);
		str_addf(&account, "%s: %s\n\n%s\n", k ? "B" : "A", side->title, side->account);
	}
	judge_boxes(ret);
	ret->total = 2 * b->total > ret->shown ? 2 * b->total : ret->shown;
	ret->event = arena_strdup(&ret->arena, b->event);
	ret->title = arena_strdup(&ret->arena, o->title);
	ret->account = arena_strdup(&ret->arena, str_get(&account));
	str_release(&account);
	vec_release(&m.boxes);
	index_release(&m.frames);
	index_release(&m.index);
}
