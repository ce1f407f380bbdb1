/* SPDX-License-Identifier: BSD-2-Clause */
/* See sheet.h. */
#include "view/sheet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_AMOUNT_COLS (10 + 2 * MOST_MORE_COLS)

void sheet_add_col(struct sheet *s, struct emit_col col)
{
	s->cols[s->n_cols++] = col;
}

static const char *inclusive_name(struct sheet *s, const char *event)
{
	static const char suffix[] = "_inclusive";
	size_t n = strlen(event);
	char *text = arena_alloc(&s->arena, n + sizeof(suffix));

	memcpy(text, event, n);
	memcpy(text + n, suffix, sizeof(suffix));
	return text;
}

static void add_more(struct sheet *s, unsigned k, const struct amounts *a, const char *of)
{
	s->n_cols += amounts_more_cols(s->columns, k, a, of, &s->arena, s->cols + s->n_cols);
}

/* What the samples of column K weigh, for data; OF: "" or "_inclusive". */
static void add_weight_col(struct sheet *s, unsigned k, const char *of)
{
	const struct column *w = &s->columns->cols.v[cols_weight(s->columns, k)];
	const size_t size = strlen(w->name) + strlen(of) + sizeof("_weight");
	char *csv = arena_alloc(&s->arena, size);

	snprintf(csv, size, "%s_weight%s", w->name, of);
	sheet_add_col(s, amount_col(w, NULL, w->name, NULL, *of ? "weights_inclusive" : "weights",
				    EMIT_IN_JSON));
	sheet_add_col(s, amount_col(w, NULL, csv, NULL, NULL, EMIT_IN_CSV));
}

static void add_cols_of(struct sheet *s, unsigned k, const struct amounts *a, bool is_first)
{
	const struct column *c = &s->columns->cols.v[k];
	/* The states of threads are one narrow column each beside another one. */
	const bool is_narrow = !is_first && c->kind == COLUMN_TIME;
	const unsigned pct = c->adds_up && !is_narrow ? EMIT_IN_TABLE : EMIT_IN_NONE;
	const unsigned incl = is_narrow ? EMIT_IN_CSV : EMIT_IN_TABLE | EMIT_IN_CSV;

	sheet_add_col(s, amount_col(c, a, c->name, is_narrow ? c->name : c->title, "counts", 0));
	s->cols[s->n_cols - 1].spare = is_first || is_narrow ? 0 : 1;
	if (c->weight)
		add_weight_col(s, k, "");
	sheet_add_col(s, (struct emit_col){"percent", "%", EMIT_PERCENT, .in = pct, .hot = true,
					   .spare = is_first ? 0 : EMIT_SPARE_UNSAID});
	if (is_first)
		sheet_add_col(s, (struct emit_col){"cum_percent", "cum%", EMIT_PERCENT,
						   .in = s->by_inclusive ? EMIT_IN_NONE : pct,
						   .spare = EMIT_SPARE_UNSAID + 1});
	add_more(s, k, a, "");
	if (!s->inclusive)
		return;
	sheet_add_col(s, amount_col(c, a, c->name, NULL, "inclusive", EMIT_IN_JSON));
	sheet_add_col(s, amount_col(c, a, inclusive_name(s, c->name), "incl", NULL, incl));
	s->cols[s->n_cols - 1].spare = EMIT_SPARE_UNSAID;
	sheet_add_col(s, (struct emit_col){"inclusive_percent", "incl%", EMIT_PERCENT, .in = pct,
					   .hot = true, .spare = is_first ? 1 : EMIT_SPARE_UNSAID});
	if (c->weight)
		add_weight_col(s, k, "_inclusive");
	add_more(s, k, a, "_inclusive");
}

void sheet_init(struct sheet *s, const struct columns *c, const struct amounts *amounts,
		bool inclusive, bool by_inclusive, unsigned n_more)
{
	size_t n = c->cols.n;

	*s = (struct sheet){.columns = c, .inclusive = inclusive, .by_inclusive = by_inclusive};
	s->order = xcalloc(n + 1, sizeof(*s->order));
	s->n_shown = cols_order(c, s->order);
	s->totals = xcalloc(n + 1, sizeof(*s->totals));
	for (size_t i = 0; i < n; i++)
		s->totals[i] = c->cols.v[i].total;
	s->cols = xcalloc(N_AMOUNT_COLS * n + n_more + 1, sizeof(*s->cols));
	for (unsigned i = 0; i < s->n_shown; i++) {
		unsigned k = s->order[i];

		/* Times beside a time have its decimals. */
		if (c->cols.v[k].kind == COLUMN_TIME && c->cols.v[s->order[0]].kind == COLUMN_TIME)
			k = s->order[0];
		add_cols_of(s, s->order[i], amounts ? &amounts[k] : NULL, i == 0);
	}
	s->cells = xcalloc(N_AMOUNT_COLS * n + n_more + 1, sizeof(*s->cells));
}

void sheet_release(struct sheet *s)
{
	free(s->order);
	free(s->totals);
	free(s->cols);
	free(s->cells);
	arena_release(&s->arena);
	*s = (struct sheet){0};
}

static struct emit_cell sheet_share(double n, double whole, bool outside)
{
	struct emit_cell cell = percent_cell(n, whole);

	cell.none = outside;
	return cell;
}

/* The cells of add_weight_col. */
static struct emit_cell *weight_cells(const struct emit *e, const struct columns *c, unsigned w,
				      const double *values, bool none, struct emit_cell *cell)
{
	cell[0] = none ? (struct emit_cell){.none = true} : amount_cell(e, c, w, values);
	cell[1] = cell[0];
	return cell + 2;
}

struct emit_cell *sheet_cells(const struct emit *e, struct sheet *s, const double *exclusive,
			      const double *inclusive, bool outside)
{
	const struct columns *c = s->columns;
	struct emit_cell *cell = s->cells;

	if (s->n_shown && !outside)
		s->so_far += exclusive[cols_weight(c, c->sort)];
	for (unsigned i = 0; i < s->n_shown; i++) {
		unsigned k = s->order[i], w = cols_weight(c, k);
		bool unknown;

		*cell++ = amount_cell(e, c, k, exclusive);
		unknown = cell[-1].none;
		if (w != k)
			cell = weight_cells(e, c, w, exclusive, outside, cell);
		*cell++ = sheet_share(exclusive[w], s->totals[w], outside || unknown);
		if (i == 0)
			*cell++ = sheet_share(s->so_far, s->totals[w],
					      outside || (unknown && s->totals[w] == 0));
		cell += amounts_more_cells(e, c, k, exclusive, outside, cell);
		if (!s->inclusive)
			continue;
		*cell = inclusive ? amount_cell(e, c, k, inclusive) : (struct emit_cell){.u = 0};
		cell->none |= outside;
		cell[1] = cell[0];
		cell += 2;
		*cell++ = sheet_share(inclusive ? inclusive[w] : 0, s->totals[w], outside);
		if (w != k)
			cell = weight_cells(e, c, w, inclusive, outside || !inclusive, cell);
		cell += amounts_more_cells(e, c, k, inclusive, outside || !inclusive, cell);
	}
	return cell;
}
