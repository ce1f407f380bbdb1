/* SPDX-License-Identifier: BSD-2-Clause */
/* See stalls.h. */
#include "query/rows/stalls.h"

#include <math.h>
#include <stdlib.h>

#include "query/rows/calc_kinds.h"

static int compare_rows(const void *a, const void *b)
{
	const struct stall_row *x = a, *y = b;

	if (x->cycles != y->cycles)
		return x->cycles < y->cycles ? 1 : -1;
	return x->svma < y->svma ? -1 : x->svma > y->svma;
}

static const char *keep_text(struct stalls *s, const char *text)
{
	return text ? arena_strdup(&s->arena, text) : NULL;
}

void stalls_add(struct stalls *s, const struct listing *l, const struct calc *c)
{
	const char *procedure = keep_text(s, l->procedure), *image = keep_text(s, l->image);
	const char *file = NULL, *of = NULL;

	vec_push(&s->procs, (struct stall_proc){procedure, image, c->tally});
	calc_tally_add(&s->tally, &c->tally);
	s->unit = c->unit;
	vec_each (in, &c->insns) {
		const struct calc_block *b = &c->blocks.v[in->block];
		const struct listing_line *line =
			in->insn->line == LINE_NONE ? NULL : &l->lines.v[in->insn->line];

		if (!in->is_tallied || in->stall <= 0)
			continue;
		if (line && line->file != of) {
			of = line->file;
			file = keep_text(s, of);
		}
		vec_push(&s->rows, (struct stall_row){.cycles = in->stall,
						      .executions = b->executions,
						      .confidence = b->confidence,
						      .causes = in->causes,
						      .measured = in->measured,
						      .svma = in->insn->svma,
						      .procedure = procedure,
						      .image = image,
						      .file = line ? file : NULL,
						      .line = line ? line->line : 0});
	}
}

void stalls_keep(struct stalls *s, size_t n, double length)
{
	size_t kept = 0;

	vec_each (r, &s->rows)
		if (r->cycles >= length * r->executions)
			s->rows.v[kept++] = *r;
	s->rows.n = kept;
	vec_sort(&s->rows, compare_rows);
	if (s->rows.n > n)
		s->rows.n = n;
}

struct proc_order {
	double cycles;
	size_t i;
};

static int compare_orders(const void *a, const void *b)
{
	const struct proc_order *x = a, *y = b;

	if (x->cycles != y->cycles)
		return x->cycles < y->cycles ? 1 : -1;
	return x->i < y->i ? -1 : x->i > y->i;
}

void stalls_keep_kind(struct stalls *s, unsigned kind)
{
	VEC(struct proc_order) order = {0};
	struct stall_proc *sorted = xcalloc(s->procs.n + 1, sizeof(*sorted));

	for (size_t i = 0; i < s->procs.n; i++) {
		const double cycles = fabs(calc_range_of(&s->procs.v[i].tally, kind).high);

		if (cycles > 0)
			vec_push(&order, (struct proc_order){cycles, i});
	}
	vec_sort(&order, compare_orders);
	for (size_t i = 0; i < order.n; i++)
		sorted[i] = s->procs.v[order.v[i].i];
	if (order.n)
		memcpy(s->procs.v, sorted, order.n * sizeof(*sorted));
	s->procs.n = order.n;
	free(sorted);
	vec_release(&order);
}

void stalls_release(struct stalls *s)
{
	vec_release(&s->rows);
	vec_release(&s->procs);
	arena_release(&s->arena);
	*s = (struct stalls){0};
}
