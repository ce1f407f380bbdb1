/* SPDX-License-Identifier: BSD-2-Clause */
/* See line_rows.h.  For example, where the first set's build is gone and no code of it was kept:
 *
 *     solve             A 900     B 0           solve             A 900     B 905
 *     solve, a.c:12     A 0       B 700   -->
 *     solve, a.c:13     A 0       B 205 */
#include "query/compare/line_rows.h"

#include <stdlib.h>
#include <string.h>

static int by_procedure(const void *a, const void *b)
{
	const struct set_row *x = *(const struct set_row *const *)a,
			     *y = *(const struct set_row *const *)b;
	int d = strcmp(x->image, y->image);

	d = d ? d : strcmp(x->procedure, y->procedure);
	return d ? d : set_row_compare(x, y);
}

static bool has_samples(const struct set_row *row, unsigned k)
{
	return row->n[k] || row->open[k] || row->amount[k] > 0;
}

/* Whether a set has samples in the N rows and no line of them, and another set has lines. */
static bool lines_are_unknown(const struct set_rows *r, struct set_row *const *rows, size_t n)
{
	bool any = false, some_have_none = false;

	for (unsigned k = 0; k < r->n_sets; k++) {
		bool with = false, without = false;

		for (size_t i = 0; i < n; i++) {
			with |= has_samples(rows[i], k) && rows[i]->line;
			without |= has_samples(rows[i], k) && !rows[i]->line;
		}
		any |= with;
		some_have_none |= without && !with;
	}
	return any && some_have_none;
}

static void add_row(const struct set_rows *r, struct set_row *to, struct set_row *from)
{
	for (unsigned k = 0; k < r->n_sets; k++) {
		to->n[k] += from->n[k];
		to->open[k] += from->open[k];
		to->amount[k] += from->amount[k];
		if (!to->sums[k])
			to->sums[k] = from->sums[k];
		else if (from->sums[k])
			for (unsigned c = 0; c < r->sides[k].q->n_cols; c++)
				to->sums[k][c] += from->sums[k][c];
	}
	from->procedure = NULL; /* to be removed */
}

void line_rows_join(struct set_rows *r)
{
	VEC(struct set_row *) order = {0};
	size_t n_left = 0;

	vec_each (row, &r->rows)
		vec_push(&order, row);
	vec_sort(&order, by_procedure);
	for (size_t i = 0, n; i < order.n; i += n) {
		struct set_row *first = order.v[i];

		for (n = 1; i + n < order.n; n++)
			if (strcmp(order.v[i + n]->image, first->image) != 0 ||
			    strcmp(order.v[i + n]->procedure, first->procedure) != 0)
				break;
		if (!lines_are_unknown(r, order.v + i, n))
			continue;
		first->line = 0;
		first->file = NULL;
		for (size_t k = 1; k < n; k++)
			add_row(r, first, order.v[i + k]);
	}
	for (size_t i = 0; i < r->rows.n; i++)
		if (r->rows.v[i].procedure)
			r->rows.v[n_left++] = r->rows.v[i];
	r->rows.n = n_left;
	vec_release(&order);
}
