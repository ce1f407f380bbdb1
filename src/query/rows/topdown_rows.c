/* SPDX-License-Identifier: BSD-2-Clause */
/* See topdown_rows.h. */
#include "query/rows/topdown_rows.h"

#include <stdlib.h>

static int by_slots(const void *a, const void *b)
{
	const struct topdown_row *x = a, *y = b;

	if (x->t.slots != y->t.slots)
		return x->t.slots < y->t.slots ? 1 : -1;
	return strcmp(x->procedure, y->procedure);
}

static bool find_columns(const struct source *s, struct topdown_rows *ret)
{
	const struct profile *p = s->query->profile;
	VEC(const char *) names = {0};

	vec_each (c, &s->columns.cols)
		vec_push(&names, c->name);
	ret->known = topdown_find(names.v, names.n, profile_str(p, p->meta.cpu), &ret->events,
				  &ret->why_not) >= 0;
	vec_release(&names);
	return ret->known;
}

static void add_row(struct topdown_rows *ret, const char *procedure, const char *image,
		    const double *amounts)
{
	struct topdown_row row = {.procedure =
					  procedure ? arena_strdup(&ret->arena, procedure) : NULL,
				  .image = image ? arena_strdup(&ret->arena, image) : NULL};

	if (topdown_of(&ret->events, amounts, &row.t))
		vec_push(&ret->rows, row);
}

/* The rows of F, behind one of all of them. */
static void add_rows(struct source *s, const struct flat *f, struct topdown_rows *ret)
{
	const unsigned n = (unsigned)s->columns.cols.n;
	double *amounts = xcalloc(n + 1, sizeof(*amounts)), *all = xcalloc(n + 1, sizeof(*all));

	vec_each (r, &f->rows) {
		for (unsigned i = 0; i < n; i++) {
			amounts[i] = cols_amount(&s->columns, i, r->own);
			all[i] += amounts[i];
		}
		if (r->image != SCOPE_NO_IMAGE && !r->truncated)
			add_row(ret, r->procedure ? r->procedure : "[unknown]",
				s->ops->image(s, r->image).path, amounts);
	}
	if (ret->rows.n)
		qsort(ret->rows.v, ret->rows.n, sizeof(*ret->rows.v), by_slots);
	add_row(ret, NULL, NULL, all);
	free(amounts);
	free(all);
}

/* The last row, of all, comes first; MOST others stay. */
static void put_first(struct topdown_rows *ret, size_t most)
{
	struct topdown_row all;

	if (!ret->rows.n)
		return;
	all = ret->rows.v[--ret->rows.n];
	memmove(ret->rows.v + 1, ret->rows.v, ret->rows.n * sizeof(*ret->rows.v));
	ret->rows.v[0] = all;
	ret->rows.n += 1;
	if (ret->rows.n > most + 1)
		ret->rows.n = most + 1;
}

int topdown_rows_gather(struct source *s, const opt_list *images, size_t most,
			struct topdown_rows *ret, struct err *err)
{
	const struct flat_opts o = {.by = {.keys = {ROW_KEY_PROCEDURE}, .n = 1},
				    .level = SCOPE_PROCEDURE,
				    .keep_pct = 100,
				    .images = images};
	struct flat f;
	int rc;

	*ret = (struct topdown_rows){0};
	if (!find_columns(s, ret))
		return 0;
	rc = source_flat(s, &o, &f, err);
	if (rc >= 0) {
		add_rows(s, &f, ret);
		put_first(ret, most);
	}
	flat_release(&f);
	return rc;
}

void topdown_rows_release(struct topdown_rows *t)
{
	str_release(&t->why_not);
	vec_release(&t->rows);
	arena_release(&t->arena);
	*t = (struct topdown_rows){0};
}
