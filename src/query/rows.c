/* SPDX-License-Identifier: BSD-2-Clause */
/* See rows.h.
 *
 * Spots come sorted by image and address and procedures do not overlap, so each procedure's spots
 * are neighbours: one walk, one symbol look-up per procedure, no hashing.  Only the rest of a
 * procedure behind one nested in it joins a row made earlier. */
#include "query/rows.h"

#include <stdlib.h>
#include <string.h>

static bool wants_image(const image_ids *images, image_id image)
{
	if (!images)
		return true;
	vec_each (i, images)
		if (*i == image)
			return true;
	return false;
}

static uint64_t *new_counts(struct query *q)
{
	size_t n_bytes = q->n_cols * sizeof(uint64_t);

	return memset(arena_alloc(&q->arena, n_bytes), 0, n_bytes);
}

static void add_counts(const struct query *q, uint64_t *to, const struct spot *s)
{
	const uint64_t *from = query_counts(q, s);

	for (unsigned c = 0; c < q->n_cols; c++)
		to[c] += from[c];
}

static void find_total(const struct query *q, struct rows *r)
{
	r->total = 0;
	vec_each (row, &r->rows)
		r->total += q->n_cols ? row->counts[q->sort] : 0;
}

void rows_by_image(struct query *q, const image_ids *images, struct rows *ret)
{
	for (image_id im = 0; im < q->profile->images.n; im++) {
		uint64_t *counts;

		if (q->first[im] == q->first[im + 1] || !wants_image(images, im))
			continue;
		counts = new_counts(q);
		for (size_t i = q->first[im]; i < q->first[im + 1]; i++)
			add_counts(q, counts, &q->spots[i]);
		vec_push(&ret->rows, (struct row){im, PROC_NONE, 0, .counts = counts});
	}
	find_total(q, ret);
}

/* The row of this image, made since FIRST_ROW, that the spots of P go to; NULL when there is none
 * yet. */
static struct row *find_row(struct rows *r, size_t first_row, const struct procedure *p,
			    const struct symtab *st)
{
	for (size_t i = r->rows.n; i-- > first_row;) {
		struct row *row = &r->rows.v[i];

		if (row->proc == p->index)
			return row;
		if (row->proc != PROC_NONE && (p->flags & PROC_REST) &&
		    strcmp(symtab_get(st, row->proc).name, p->name) == 0)
			return row;
	}
	return NULL;
}

/* A rest that has samples without its beginning having any is a row under its own entry. */
static void image_by_procedure(struct query *q, image_id im, struct rows *ret)
{
	const struct symtab *st = resolver_image(q->resolver, &q->profile->images.v[im])->symtab;
	struct procedure p = {.index = PROC_NONE};
	uint64_t *counts = NULL, *bare = NULL;
	size_t first_row = ret->rows.n;

	for (size_t i = q->first[im]; i < q->first[im + 1]; i++) {
		const struct spot *s = &q->spots[i];

		if (p.index == PROC_NONE || s->svma >= p.end) {
			uint32_t at = symtab_find(st, s->svma);

			p = (struct procedure){.index = PROC_NONE};
			counts = bare;
			if (at != PROC_NONE) {
				struct row *row;

				p = symtab_get(st, at);
				row = p.flags & PROC_REST ? find_row(ret, first_row, &p, st) : NULL;
				counts = row ? (uint64_t *)row->counts : NULL;
			}
		}
		if (!counts) {
			counts = new_counts(q);
			if (p.index == PROC_NONE)
				bare = counts;
			vec_push(&ret->rows,
				 (struct row){im, p.index, p.index == PROC_NONE ? s->svma : p.start,
					      .counts = counts});
		}
		add_counts(q, counts, s);
	}
}

void rows_by_procedure(struct query *q, const image_ids *images, struct rows *ret)
{
	for (image_id im = 0; im < q->profile->images.n; im++)
		if (q->first[im] < q->first[im + 1] && wants_image(images, im)) {
			image_by_procedure(q, im, ret);
			resolver_rest(q->resolver, &q->profile->images.v[im]);
		}
	find_total(q, ret);
}

void rows_by_spot(struct query *q, const image_ids *images, struct rows *ret)
{
	for (size_t i = 0; i < q->n_spots; i++) {
		const struct spot *s = &q->spots[i];

		if (wants_image(images, s->image))
			vec_push(&ret->rows, (struct row){s->image, PROC_NONE, s->svma,
							  .counts = query_counts(q, s)});
	}
	find_total(q, ret);
}

void rows_release(struct rows *r)
{
	vec_release(&r->rows);
}

static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct query *q = arg;
	const struct row *x = a, *y = b;
	int d;

	if (q->n_cols && x->counts[q->sort] != y->counts[q->sort])
		return x->counts[q->sort] > y->counts[q->sort] ? -1 : 1;
	for (unsigned c = 0; c < q->n_cols; c++)
		if (x->counts[c] != y->counts[c])
			return x->counts[c] > y->counts[c] ? -1 : 1;
	if (x->image != y->image) {
		d = strcmp(q->profile->images.v[x->image].path,
			   q->profile->images.v[y->image].path);
		if (d)
			return d;
	}
	return x->svma < y->svma ? -1 : x->svma > y->svma;
}

void rows_sort(const struct query *q, struct rows *r)
{
	if (r->rows.n > 1)
		qsort_r(r->rows.v, r->rows.n, sizeof(*r->rows.v), compare_rows, (void *)q);
}

void rows_keep(const struct query *q, struct rows *r, double pct)
{
	uint64_t so_far = 0;
	size_t n = 0;

	if (pct >= 100)
		return;
	while (n < r->rows.n && (double)so_far < pct / 100 * (double)r->total)
		so_far += r->rows.v[n++].counts[q->sort];
	r->rows.n = n;
}

static void name_row(struct query *q, struct row *r)
{
	const struct image *im = &q->profile->images.v[r->image];

	r->nameless = true;
	if (im->kind == IMAGE_UNKNOWN) {
		r->procedure = "[unknown]";
	} else if (r->proc == PROC_NONE) {
		r->procedure = "[no symbol]";
	} else {
		const struct symtab *st = resolver_image(q->resolver, im)->symtab;

		r->nameless = symtab_get(st, r->proc).flags & PROC_UNNAMED;
		r->procedure =
			arena_strdup(&q->arena, resolver_name(q->resolver, im, r->proc, true));
	}
}

/* One image after the other, though the rows are mixed, and with copies of the names: so that only
 * one image's symbols are in memory at a time. */
void rows_name(struct query *q, struct rows *r)
{
	for (image_id im = 0; im < q->profile->images.n; im++) {
		if (q->first[im] == q->first[im + 1])
			continue;
		vec_each (row, &r->rows)
			if (row->image == im)
				name_row(q, row);
		resolver_rest(q->resolver, &q->profile->images.v[im]);
	}
}
