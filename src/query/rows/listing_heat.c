/* SPDX-License-Identifier: BSD-2-Clause */
/* Which rows of a listing are hot, and which lead there.
 *
 * Hot are the rows with most samples, until they have 80 % of the procedure's, at most 40 rows.
 * What leads to them is beside them, jumps to what is shown, is the head of a loop around them, or
 * declares the procedure.  For example, of 120 instructions, with two that have 90 %:
 *
 *     jmp  to the loop       leads: jumps to the loop's head
 *     ...                    30 instructions, 2 %
 *     head of the loop       leads
 *     ...
 *     three instructions     lead: beside the hot ones
 *     the two                hot
 *     three instructions
 *     jne  the loop's head   leads
 *     ...                    66 instructions, 8 % */
#include <stdlib.h>

#include "query/rows/listing.h"

#define HOT_PCT	 80
#define MOST_HOT 40
#define BESIDE	 3 /* instructions, and lines, on each side */

struct heat_row {
	double n;
	uint32_t i;
};

static int hotter(const void *a, const void *b)
{
	const struct heat_row *x = a, *y = b;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return x->i < y->i ? -1 : x->i > y->i;
}

/* Marks those of the N rows that are hot; ROWS is sorted on the way. */
static void mark_hot(struct heat_row *rows, size_t n, double whole, void *list,
		     uint8_t *(*heat)(void *list, uint32_t i))
{
	double sum = 0;

	if (n > 1)
		qsort(rows, n, sizeof(*rows), hotter);
	for (size_t i = 0; i < n && i < MOST_HOT; i++) {
		if (rows[i].n <= 0 || (i && sum * 100 >= whole * HOT_PCT))
			break;
		*heat(list, rows[i].i) = HEAT_HOT;
		sum += rows[i].n;
	}
}

static uint8_t *insn_heat(void *l, uint32_t i)
{
	return &((struct listing *)l)->insns.v[i].heat;
}

static uint8_t *line_heat(void *l, uint32_t i)
{
	return &((struct listing *)l)->lines.v[i].heat;
}

static void leads(uint8_t *heat)
{
	if (*heat == HEAT_NONE)
		*heat = HEAT_LEADS;
}

/* Marks what is beside the hot ones of N rows. */
static void mark_beside(struct listing *l, size_t n, uint8_t *(*heat)(void *list, uint32_t i))
{
	size_t hot = SIZE_MAX;

	for (size_t i = 0; i < n; i++) {
		if (*heat(l, (uint32_t)i) == HEAT_HOT)
			hot = i;
		else if (hot != SIZE_MAX && i - hot <= BESIDE)
			leads(heat(l, (uint32_t)i));
	}
	hot = SIZE_MAX;
	for (size_t i = n; i--;) {
		if (*heat(l, (uint32_t)i) == HEAT_HOT)
			hot = i;
		else if (hot != SIZE_MAX && hot - i <= BESIDE)
			leads(heat(l, (uint32_t)i));
	}
}

static int compare_svma(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Marks heads of loops around hot instructions, and jumps to what is marked. */
static void mark_ways(struct listing *l)
{
	_vec_ VEC(uint64_t) heads = {0};
	size_t n = l->insns.n;
	bool *marked = xcalloc(n + 1, sizeof(*marked));

	vec_each (in, &l->insns)
		for (unsigned i = 0; in->heat == HEAT_HOT && i < in->n_loops; i++)
			vec_push(&heads, in->loops[i]);
	vec_sort(&heads, compare_svma);
	vec_each (in, &l->insns)
		if (heads.n && bsearch(&in->svma, heads.v, heads.n, sizeof(*heads.v), compare_svma))
			leads(&in->heat);
	for (size_t i = 0; i < n; i++)
		marked[i] = l->insns.v[i].heat != HEAT_NONE;
	vec_each (in, &l->insns)
		if (in->jumps_to != INSN_NONE && marked[in->jumps_to])
			leads(&in->heat);
	free(marked);
}

/* Marks lines of heads of loops, and where the procedure is declared. */
static void mark_lines(struct listing *l)
{
	if (l->lines.n && l->file && strcmp(l->lines.v[0].file, l->file) == 0)
		leads(&l->lines.v[0].heat);
	vec_each (in, &l->insns)
		if (in->heat == HEAT_HOT && in->line != LINE_NONE)
			leads(&l->lines.v[in->line].heat);
}

void listing_find_heat(struct listing *l, unsigned col)
{
	struct heat_row *rows = xcalloc(l->insns.n + l->lines.n + 1, sizeof(*rows));
	const double whole = col < l->n_cols ? l->total[col] : 0;

	for (size_t i = 0; i < l->insns.n; i++)
		rows[i] = (struct heat_row){col < l->n_cols ? l->insns.v[i].counts[col] : 0,
					    (uint32_t)i};
	mark_hot(rows, l->insns.n, whole, l, insn_heat);
	for (size_t i = 0; i < l->lines.n; i++) {
		const double *counts = l->lines.v[i].counts;

		rows[i] =
			(struct heat_row){counts && col < l->n_cols ? counts[col] : 0, (uint32_t)i};
	}
	mark_hot(rows, l->lines.n, whole, l, line_heat);
	mark_beside(l, l->insns.n, insn_heat);
	mark_beside(l, l->lines.n, line_heat);
	mark_ways(l);
	mark_lines(l);
	free(rows);
}
