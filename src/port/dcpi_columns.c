/* SPDX-License-Identifier: BSD-2-Clause */
/* See dcpi_columns.h.  dcpi_flatten puts a vector's samples before its counters, so that one look
 * back tells whether a counter is of all of them. */
#include "port/dcpi_columns.h"

#include "port/dcpi_pm.h"

static bool same_bits(const struct profile *p, const struct dcpi_column *a,
		      const struct dcpi_column *b)
{
	const struct vector *x = &p->vectors.v[a->vector], *y = &p->vectors.v[b->vector];

	return a->event == b->event && a->idle == b->idle && x->known == y->known &&
	       x->value == y->value;
}

/* Whether C, a counter's column, is of all samples that have its bits: of those of COUNTS. */
static bool is_of_all(const dcpi_rows *rows, const struct dcpi_column *c,
		      const struct dcpi_column *counts)
{
	if (c->end - c->first != counts->end - counts->first)
		return false;
	for (size_t i = 0; i < c->end - c->first; i++)
		if (rows->v[c->first + i].svma != rows->v[counts->first + i].svma ||
		    rows->v[c->first + i].n != rows->v[counts->first + i].n)
			return false;
	return true;
}

dcpi_columns dcpi_list_columns(const struct profile *p, const dcpi_rows *rows, size_t start,
			       size_t end)
{
	dcpi_columns columns = {0};
	size_t counts = SIZE_MAX, next;

	for (size_t i = start; i < end; i = next) {
		const struct dcpi_row *row = &rows->v[i];
		struct dcpi_column c = {row->event, row->vector, row->idle, false, i, i};

		while (c.end < end && rows->v[c.end].event == c.event &&
		       rows->v[c.end].idle == c.idle && rows->v[c.end].vector == c.vector)
			c.end++;
		next = c.end;
		if (!p->vectors.v[c.vector].counter)
			counts = columns.n;
		vec_push(&columns, c);
		if (!p->vectors.v[c.vector].counter ||
		    (counts != SIZE_MAX && same_bits(p, &columns.v[counts], &c) &&
		     is_of_all(rows, &c, &columns.v[counts])))
			continue;
		c.measured = true;
		vec_push(&columns, c);
	}
	return columns;
}

uint64_t dcpi_column_amount(const struct profile *p, const struct dcpi_column *c,
			    const struct dcpi_row *r)
{
	return p->vectors.v[c->vector].counter && !c->measured ? r->sum : r->n;
}

char *dcpi_column_name(const struct profile *p, const struct dcpi_column *c, char **ret_counter)
{
	const struct vector *v = &p->vectors.v[c->vector];
	const struct dcpi_pm pm = {.vector = *v, .measured = c->measured};

	*ret_counter = NULL;
	if (v->known || v->counter)
		return dcpi_pm_format(p, c->event, &pm, ret_counter);
	return xstrdup(profile_str(p, p->events.v[c->event].name));
}
