/* SPDX-License-Identifier: BSD-2-Clause */
/* A flame graph with fewer boxes, and no sample less: see flame_limit in boxes.h.
 *
 *     main 10 { a 6 { b 6 } c 3 d 1 }   least 4:   main 10 { a 6 { b 6 } (2 small) 4 } */
#include "query/boxes/boxes.h"

#include <stdlib.h>
#include <string.h>

struct limiter {
	struct flame *f;
	uint32_t small;		       /* the frame of small boxes */
	VEC(struct flame_box) boxes;   /* what is left */
	VEC(struct flame_box) too_few; /* of each open box, what is too small below it */
};

/* The one of the N numbers V that RANK of them are before, when they fall.  Changes their order: by
 * digits, the highest that any has first, those that have the digit of the one that is wanted are
 * kept. */
static uint64_t number_at_rank(uint64_t *v, size_t n, size_t rank)
{
	uint64_t any = 1;

	for (size_t i = 0; i < n; i++)
		any |= v[i];
	for (unsigned shift = (63 - (unsigned)__builtin_clzll(any)) & ~7u;; shift -= 8) {
		size_t counts[256] = {0}, kept = 0;
		unsigned digit = 255;

		for (size_t i = 0; i < n; i++)
			counts[v[i] >> shift & 255]++;
		while (rank >= counts[digit])
			rank -= counts[digit--];
		for (size_t i = 0; i < n; i++)
			if ((v[i] >> shift & 255) == digit)
				v[kept++] = v[i];
		n = kept;
		if (!shift)
			return v[0];
	}
}

/* The least total that at most MAX boxes have. */
static uint64_t least_total(const struct flame *f, size_t max)
{
	const size_t n = f->boxes.n;
	uint64_t *totals, least;

	if (n <= max)
		return 1;
	totals = xcalloc(n, sizeof(*totals));
	for (size_t i = 0; i < n; i++)
		totals[i] = f->boxes.v[i].total;
	least = number_at_rank(totals, n, max) + 1;
	free(totals);
	return least;
}

static void end_box(struct limiter *l)
{
	const struct flame_box *few = &l->too_few.v[--l->too_few.n];

	if (few->n_small)
		vec_push(&l->boxes, *few);
}

/* Adds box B, which is too small, and all below it; returns how many boxes that are. */
static size_t add_too_small(struct limiter *l, size_t at)
{
	const struct flame_box *b = &l->f->boxes.v[at];
	struct flame_box *few = &l->too_few.v[l->too_few.n - 1];
	size_t end = at;

	few->self += b->total;
	few->total += b->total;
	for (unsigned k = 0; k < 2; k++) {
		few->side_self[k] += b->side_total[k];
		few->side_total[k] += b->side_total[k];
	}
	do {
		few->n_small += l->f->boxes.v[end].n_small ? l->f->boxes.v[end].n_small : 1;
		few->runnable += l->f->boxes.v[end].runnable;
		few->blocked += l->f->boxes.v[end].blocked;
		end++;
	} while (end < l->f->boxes.n && l->f->boxes.v[end].depth > b->depth);
	return end - at;
}

static uint32_t small_frame(struct flame *f)
{
	for (size_t i = 0; i < f->frames.n; i++)
		if (f->frames.v[i].kind == FLAME_SMALL)
			return (uint32_t)i;
	vec_push(&f->frames,
		 (struct flame_frame){
			 .kind = FLAME_SMALL, .name = "", .label = "", .image = "", .file = ""});
	return (uint32_t)f->frames.n - 1;
}

/* Forgets frames that no box has. */
static void drop_frames(struct flame *f)
{
	uint32_t *place = xcalloc(f->frames.n + 1, sizeof(*place));
	uint32_t n = 0;

	vec_each (b, &f->boxes)
		place[b->frame] = 1;
	for (size_t i = 0; i < f->frames.n; i++) {
		if (!place[i])
			continue;
		f->frames.v[n] = f->frames.v[i];
		place[i] = n++;
	}
	f->frames.n = n;
	vec_each (b, &f->boxes)
		b->frame = place[b->frame];
	free(place);
}

/* Gives L's boxes what is left of those of its flame graph when boxes below LEAST are summed. */
static void sum_small(struct limiter *l, uint64_t least)
{
	const struct flame *f = l->f;
	size_t i = 0;

	l->small = small_frame(l->f);
	vec_push(&l->too_few, (struct flame_box){.frame = l->small});
	while (i < f->boxes.n) {
		const struct flame_box *b = &f->boxes.v[i];

		while (l->too_few.n > (size_t)b->depth + 1)
			end_box(l);
		if (b->total < least || f->frames.v[b->frame].kind == FLAME_SMALL) {
			i += add_too_small(l, i);
			continue;
		}
		vec_push(&l->boxes, *b);
		vec_push(&l->too_few, (struct flame_box){.frame = l->small, .depth = b->depth + 1});
		i++;
	}
	while (l->too_few.n)
		end_box(l);
	vec_release(&l->too_few);
}

void flame_limit(struct flame *f, size_t max_boxes)
{
	const uint64_t least = least_total(f, max_boxes);
	struct limiter l = {.f = f};

	if (f->boxes.n <= max_boxes)
		return;
	sum_small(&l, least);
	vec_release(&f->boxes);
	memcpy(&f->boxes, &l.boxes, sizeof(l.boxes));
	f->least = least > f->least ? least : f->least;
	drop_frames(f);
}

void flame_outline(struct flame *f, size_t max_boxes, struct flame *ret)
{
	struct limiter l = {.f = f};

	sum_small(&l, least_total(f, max_boxes));
	*ret = *f;
	memcpy(&ret->boxes, &l.boxes, sizeof(l.boxes));
}
