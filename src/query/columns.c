/* SPDX-License-Identifier: BSD-2-Clause */
/* See columns.h. */
#include "query/columns.h"

#include <math.h>

struct columns columns_of_query(const struct query *q, struct arena *a)
{
	struct columns c = {.n = q->n_cols, .sort = q->sort};

	c.v = arena_alloc(a, (c.n + 1) * sizeof(*c.v));
	for (unsigned i = 0; i < c.n; i++) {
		const struct query_col *col = &q->cols[i];

		c.v[i] = (struct column){.name = col->name,
					 .title = col->title,
					 .kind = col->is_time ? COLUMN_TIME : COLUMN_COUNT,
					 .duty = col->duty,
					 .total = (double)col->n_samples};
	}
	return c;
}

double column_shown(const struct column *c, double n)
{
	if (c->kind == COLUMN_TIME)
		return floor(n / 1000);
	if (c->kind == COLUMN_REAL || c->duty >= 1 || c->duty <= 0)
		return n;
	return round(n / c->duty);
}

void columns_order(const struct columns *c, unsigned *ret_order)
{
	for (unsigned i = 0; i < c->n; i++)
		ret_order[i] = i == 0 ? c->sort : i <= c->sort ? i - 1 : i;
}
