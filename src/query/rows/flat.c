/* SPDX-License-Identifier: BSD-2-Clause */
/* See flat.h. */
#include "query/rows/flat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "query/source.h"

const char *const flat_stat_names[6] = {"sum", "mean", "stddev", "cfvar", "min", "max"};

static const struct columns *flat_columns(const struct flat *f)
{
	return &f->source->columns;
}

double *flat_numbers(struct flat *f)
{
	return arena_calloc(&f->arena, flat_columns(f)->cols.n + 1, sizeof(double));
}

void flat_add_tree_rows(struct flat *f, struct tree_source *t, const struct tree_rows *rows,
			const bool *images)
{
	vec_each (r, &rows->rows) {
		const struct scope *sc = &t->scopes->scopes.v[r->scope];

		if (images && (sc->image == SCOPE_NO_IMAGE || !images[sc->image]))
			continue;
		vec_push(&f->rows, (struct flat_row){
					   .own = r->exclusive,
					   .inclusive = r->inclusive,
					   .procedure = sc->name,
					   .file = sc->file,
					   .svma = sc->svma,
					   .image = sc->image,
					   .proc = sc->proc,
					   .line = sc->line,
					   .kind = sc->kind,
					   .nameless = sc->nameless,
					   .inlined = sc->inlined,
				   });
		f->whole += r->exclusive[f->keep_col];
	}
}

void flat_settle(struct flat *f)
{
	const struct columns *c = flat_columns(f);
	size_t n = 0;

	if (!f->drops_empty && !f->by_key)
		return;
	for (size_t i = 0; i < f->rows.n; i++) {
		struct flat_row *r = &f->rows.v[i];
		const double *by = f->by_inclusive ? r->inclusive : r->own;

		if (f->drops_empty && cols_is_empty(c, r->own) &&
		    (!r->inclusive || cols_is_empty(c, r->inclusive)))
			continue;
		r->key = isnan(by[c->sort]) ? -INFINITY : by[c->sort];
		f->rows.v[n++] = *r;
	}
	f->rows.n = n;
}

/* Falling numbers: of the column that is sorted by, then of those that others are made of. */
static int compare_numbers(const struct columns *c, const double *x, const double *y)
{
	if (x[c->hide] != y[c->hide])
		return x[c->hide] > y[c->hide] ? -1 : 1;
	for (size_t i = 0; i < c->cols.n; i++) {
		if (x[i] == y[i] || c->cols.v[i].expr || c->cols.v[i].estimate)
			continue;
		return x[i] > y[i] ? -1 : 1;
	}
	return 0;
}

static int compare_flat_rows(const void *a, const void *b, void *arg)
{
	const struct flat *f = arg;
	const struct columns *c = flat_columns(f);
	const struct flat_row *x = a, *y = b;
	int d = 0;

	if (f->by_place)
		return f->source->ops->compare(f, x, y);
	if (x->truncated != y->truncated)
		return x->truncated ? 1 : -1;
	if (f->by_key && x->key != y->key)
		return x->key > y->key ? -1 : 1;
	if (f->by_inclusive)
		d = compare_numbers(c, x->inclusive, y->inclusive);
	d = d ? d : compare_numbers(c, x->own, y->own);
	if (!d && !f->by_inclusive && x->inclusive)
		d = compare_numbers(c, x->inclusive, y->inclusive);
	return d || !f->source->ops->compare ? d : f->source->ops->compare(f, x, y);
}

void flat_sort(struct flat *f)
{
	if (!f->is_ordered && f->rows.n > 1 && flat_columns(f)->cols.n)
		qsort_r(f->rows.v, f->rows.n, sizeof(*f->rows.v), compare_flat_rows, f);
}

void flat_keep(struct flat *f, double pct, size_t most)
{
	double so_far = 0;
	size_t n = 0;

	if (most && f->rows.n > most)
		f->rows.n = most;
	if (pct >= 100)
		return;
	while (n < f->rows.n && so_far * 100 < pct * f->whole) {
		const struct flat_row *r = &f->rows.v[n++];

		so_far += (f->threads && r->inclusive ? r->inclusive : r->own)[f->keep_col];
	}
	f->rows.n = n;
}

void flat_release(struct flat *f)
{
	if (f->release)
		f->release(f->kept);
	vec_release(&f->rows);
	vec_release(&f->moments);
	vec_release(&f->images);
	free(f->totals);
	arena_release(&f->arena);
	*f = (struct flat){0};
}
