/* SPDX-License-Identifier: BSD-2-Clause */
/* See address_rows.h. */
#include "query/samples/address_rows.h"

#include <stdlib.h>
#include <string.h>

/* Images by path, as they come out the same from any copy of a database. */
static int by_place(const void *x, const void *y, void *profile)
{
	const struct dcpi_row *a = x, *b = y;
	const struct profile *p = profile;

	if (a->image != b->image) {
		int c = strcmp(p->images.v[a->image].path, p->images.v[b->image].path);

		return c ? c : a->image < b->image ? -1 : 1;
	}
	if (a->label != b->label)
		return a->label < b->label ? -1 : 1;
	return a->svma < b->svma ? -1 : a->svma > b->svma;
}

void address_rows_gather(const struct profile *p, const struct dcpi_filter *f, dcpi_rows *ret)
{
	dcpi_flatten(p, f, 0, ret, NULL);
	if (ret->n)
		qsort_r(ret->v, ret->n, sizeof(*ret->v), by_place, (void *)p);
}

size_t address_rows_end(const dcpi_rows *rows, size_t i)
{
	const struct dcpi_row *first = &rows->v[i];

	while (++i < rows->n && rows->v[i].image == first->image &&
	       rows->v[i].label == first->label && rows->v[i].svma == first->svma)
		continue;
	return i;
}
