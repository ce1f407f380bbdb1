/* SPDX-License-Identifier: BSD-2-Clause */
/* See top.h.  Columns in dcpitopcounts' order: the sort event with its percentages, procedure, pc,
 * instruction, image, source, then the other events. */
#include "view/top.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/samples/code.h"
#include "view/amounts.h"
#include "view/header.h"

struct top {
	struct emit *e;
	struct query *q;
	struct code **codes; /* by image, opened when first needed */
	struct columns columns;
	double *numbers, *totals; /* by column: of a row, of all rows */
	unsigned *order, n_shown;
	struct emit_col *cols;
	unsigned n_cols;
	struct emit_cell *cells;
	struct arena arena; /* texts of rows */
	double so_far;
};

static void find_numbers(struct top *t, const struct row *r)
{
	for (unsigned c = 0; c < t->q->n_cols; c++)
		t->numbers[c] = (double)r->counts[c];
	cols_evaluate(&t->columns, t->numbers);
}

static void make_cols(struct top *t, const struct rows *rows)
{
	const unsigned not_table = EMIT_IN_JSON | EMIT_IN_CSV;
	const struct emit_col places[] = {
		{"percent", "%", EMIT_PERCENT, .in = EMIT_IN_TABLE, .hot = true},
		{"cum_percent", "cum%", EMIT_PERCENT, .in = EMIT_IN_TABLE},
		{"procedure", NULL, EMIT_STR, .cut = TEXT_NAME},
		{"svma", "pc", EMIT_HEX},
		{"instruction", NULL, EMIT_STR, .cut = TEXT_END},
		{"image", NULL, EMIT_STR, .in = not_table},
		{"build_id", NULL, EMIT_STR, .in = not_table},
		{"short_image", "image", EMIT_STR, .in = EMIT_IN_TABLE, .cut = TEXT_PATH},
		{"file", NULL, EMIT_STR, .in = not_table},
		{"line", NULL, EMIT_U64, .in = not_table},
		{"source", NULL, EMIT_STR, .in = EMIT_IN_TABLE, .cut = TEXT_PATH},
	};
	const struct columns *c = &t->columns;
	struct amounts *amounts = xcalloc(c->cols.n + 1, sizeof(*amounts));

	vec_each (r, &rows->rows) {
		find_numbers(t, r);
		amounts_note(amounts, c, t->numbers);
	}
	t->order = xcalloc(c->cols.n + 1, sizeof(*t->order));
	t->n_shown = cols_order(c, t->order);
	t->cols = xcalloc((1 + MOST_MORE_COLS) * t->n_shown + n_elems(places), sizeof(*t->cols));
	for (unsigned i = 0; i < t->n_shown; i++) {
		unsigned k = t->order[i];
		const struct column *col = &c->cols.v[k];

		t->cols[t->n_cols++] =
			amount_col(col, &amounts[k], col->name, col->title, "counts", 0);
		if (i == 0) {
			memcpy(t->cols + t->n_cols, places, sizeof(places));
			if (!col->adds_up)
				t->cols[t->n_cols].in = t->cols[t->n_cols + 1].in = EMIT_IN_NONE;
			t->n_cols += n_elems(places);
		}
		t->n_cols +=
			amounts_more_cols(c, k, &amounts[k], "", &t->arena, t->cols + t->n_cols);
	}
	t->cells = xcalloc(t->n_cols + 1, sizeof(*t->cells));
	free(amounts);
}

static struct code *code_of(struct top *t, image_id image)
{
	struct code **c = &t->codes[image];

	if (!*c) {
		*c = xcalloc(1, sizeof(**c));
		code_open(*c, t->q, image);
	}
	return *c;
}

static struct emit_cell text_cell(struct top *t, struct str *s)
{
	struct emit_cell cell = {.s = s->n ? arena_strdup(&t->arena, s->v) : NULL, .none = !s->n};

	str_reset(s);
	return cell;
}

static void emit_spot(struct top *t, const struct row *r)
{
	struct query *q = t->q;
	const struct image *im = &q->profile->images.v[r->image];
	struct code *code = code_of(t, r->image);
	struct emit_cell *cell = t->cells;
	struct procedure p;
	struct line at = {0};
	struct str s = {0};
	char id[2 * BUILD_ID_MAX + 1];
	bool has_line = code->lines && lines_find(code->lines, r->svma, &at) == 0 && at.line;

	find_numbers(t, r);
	for (unsigned i = 0; i < t->n_shown; i++) {
		unsigned c = t->order[i];

		*cell++ = amount_cell(t->e, &t->columns, c, t->numbers);
		if (i > 0) {
			cell += amounts_more_cells(t->e, &t->columns, c, t->numbers, false, cell);
			continue;
		}
		t->so_far += t->numbers[c];
		*cell = percent_cell(t->numbers[c], t->totals[c]);
		cell->none = cell[-1].none;
		cell++;
		*cell++ = percent_cell(t->so_far, t->totals[c]);
		*cell++ = (struct emit_cell){.s = im->kind == IMAGE_UNKNOWN ? "[unknown]"
						  : resolver_find(q->resolver, im, r->svma, &p)
							  ? p.name
							  : "[no symbol]"};
		*cell++ = (struct emit_cell){.u = r->svma};
		code_insn_at(code, r->svma, &s);
		*cell++ = text_cell(t, &s);
		*cell++ = (struct emit_cell){.s = query_image_name(q, r->image)};
		build_id_format(&im->build_id, id);
		str_add(&s, id);
		*cell++ = text_cell(t, &s);
		*cell++ = (struct emit_cell){.s = str_basename(query_image_name(q, r->image))};
		*cell++ = (struct emit_cell){.s = at.file, .none = !has_line};
		*cell++ = (struct emit_cell){.u = at.line, .none = !has_line};
		if (has_line)
			str_addf(&s, "%s:%u", str_basename(at.file), at.line);
		*cell++ = text_cell(t, &s);
		cell += amounts_more_cells(t->e, &t->columns, c, t->numbers, false, cell);
	}
	emit_row(t->e, t->cells);
	str_release(&s);
}

/* The images of the rows, each once. */
static image_ids images_of(const struct rows *rows)
{
	image_ids images = {0};

	vec_each (r, &rows->rows) {
		bool seen = false;

		vec_each (im, &images)
			seen |= *im == r->image;
		if (!seen)
			vec_push(&images, r->image);
	}
	return images;
}

size_t top_emit(struct emit *e, struct query *q, const image_ids *images, size_t n, bool no_header)
{
	struct top t = {.e = e, .q = q};
	struct rows rows = {0};
	image_ids shown;
	size_t n_all;

	cols_of_query(&t.columns, q);
	t.numbers = xcalloc(t.columns.cols.n + 1, sizeof(*t.numbers));
	t.totals = xcalloc(t.columns.cols.n + 1, sizeof(*t.totals));
	rows_by_spot(q, images, &rows);
	vec_each (r, &rows.rows)
		for (unsigned c = 0; c < q->n_cols; c++)
			t.totals[c] += (double)r->counts[c];
	cols_evaluate(&t.columns, t.totals);
	rows_settle(q, &t.columns, &rows);
	rows_sort(q, &rows);
	n_all = rows.rows.n;
	if (n < n_all)
		rows.rows.n = n;
	t.codes = xcalloc(q->profile->images.n + 1, sizeof(*t.codes));
	shown = images_of(&rows);
	make_cols(&t, &rows);
	emit_begin(e);
	header_emit(e, q, no_header);
	emit_table(e, "rows", t.cols, t.n_cols);
	vec_each (r, &rows.rows)
		emit_spot(&t, r);
	emit_table_end(e);
	notes_emit(e, q, &shown);
	emit_end(e);
	for (image_id im = 0; im < q->profile->images.n; im++) {
		if (t.codes[im])
			code_close(t.codes[im]);
		free(t.codes[im]);
	}
	vec_release(&shown);
	rows_release(&rows);
	arena_release(&t.arena);
	cols_release(&t.columns);
	free(t.numbers);
	free(t.totals);
	free(t.codes);
	free(t.order);
	free(t.cols);
	free(t.cells);
	return n_all;
}
