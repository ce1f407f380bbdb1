/* SPDX-License-Identifier: BSD-2-Clause */
/* See cat_sets.h. */
#include "view/cat_sets.h"

#include <stdlib.h>
#include <string.h>

#include "view/header.h"
#include "view/sheet.h"

#define N_PLACE_COLS 3

static int by_place(const void *x, const void *y, void *profile)
{
	const struct row *a = x, *b = y;
	const struct profile *p = profile;
	int d = a->image == b->image
			? 0
			: strcmp(p->images.v[a->image].path, p->images.v[b->image].path);

	if (d)
		return d;
	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	return a->svma < b->svma ? -1 : a->svma > b->svma;
}

static void find_numbers(const struct query *q, const struct columns *c, const struct row *r,
			 double *numbers)
{
	for (unsigned i = 0; i < q->n_cols; i++)
		numbers[i] = (double)r->counts[i];
	cols_evaluate(c, numbers);
}

static void add_place_cols(struct sheet *s)
{
	const unsigned not_table = EMIT_IN_JSON | EMIT_IN_CSV;

	sheet_add_col(s, (struct emit_col){"svma", "pc", EMIT_HEX});
	sheet_add_col(s, (struct emit_col){"image", NULL, EMIT_STR, .cut = TEXT_PATH});
	sheet_add_col(s, (struct emit_col){"build_id", NULL, EMIT_STR, .in = not_table});
}

static void emit_place(struct emit *e, struct query *q, struct sheet *s, const struct row *r,
		       const double *numbers)
{
	struct emit_cell *cell = sheet_cells(e, s, numbers, NULL, false);
	char *id = arena_alloc(&q->arena, 2 * BUILD_ID_MAX + 1);

	build_id_format(&q->profile->images.v[r->image].build_id, id);
	*cell++ = (struct emit_cell){.u = r->svma};
	*cell++ = (struct emit_cell){.s = query_image_name(q, r->image)};
	*cell++ = (struct emit_cell){.s = id, .none = !*id};
	emit_row(e, s->cells);
}

size_t cat_sets_emit(struct emit *e, struct query *q, const image_ids *images)
{
	struct columns columns;
	struct amounts *amounts;
	struct rows rows = {0};
	struct sheet sheet;
	double *numbers;
	size_t n;

	cols_of_query(&columns, q);
	numbers = xcalloc(columns.cols.n + 1, sizeof(*numbers));
	amounts = xcalloc(columns.cols.n + 1, sizeof(*amounts));
	rows_by_spot(q, images, &rows);
	rows_settle(q, &columns, &rows);
	n = rows.rows.n;
	if (n > 1)
		qsort_r(rows.rows.v, n, sizeof(*rows.rows.v), by_place, (void *)q->profile);
	vec_each (r, &rows.rows) {
		find_numbers(q, &columns, r, numbers);
		amounts_note(amounts, &columns, numbers);
	}
	/* Rows are in no order of numbers: percentages so far would say nothing. */
	sheet_init(&sheet, &columns, amounts, false, true, N_PLACE_COLS);
	add_place_cols(&sheet);
	emit_begin(e);
	header_emit(e, q, false);
	emit_table(e, "rows", sheet.cols, sheet.n_cols);
	vec_each (r, &rows.rows) {
		find_numbers(q, &columns, r, numbers);
		emit_place(e, q, &sheet, r, numbers);
	}
	emit_table_end(e);
	emit_end(e);
	sheet_release(&sheet);
	rows_release(&rows);
	cols_release(&columns);
	free(amounts);
	free(numbers);
	return n;
}
