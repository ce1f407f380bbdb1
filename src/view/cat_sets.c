/* SPDX-License-Identifier: BSD-2-Clause */
/* See cat_sets.h. */
#include "view/cat_sets.h"

#include <stdlib.h>

#include "query/source.h"
#include "view/about.h"
#include "view/sheet.h"

#define N_PLACE_COLS 3

static void add_place_cols(struct sheet *s)
{
	const unsigned not_table = EMIT_IN_JSON | EMIT_IN_CSV;

	sheet_add_col(s, (struct emit_col){"svma", "pc", EMIT_HEX});
	sheet_add_col(s, (struct emit_col){"image", NULL, EMIT_STR, .cut = TEXT_PATH});
	sheet_add_col(s, (struct emit_col){"build_id", NULL, EMIT_STR, .in = not_table});
}

static void emit_place(struct emit *e, struct flat *f, struct sheet *s, const struct flat_row *r)
{
	const struct flat_image im = f->source->ops->image(f->source, r->image);
	struct emit_cell *cell = sheet_cells(e, s, r->own, NULL, false);
	char *id = arena_alloc(&f->arena, 2 * BUILD_ID_MAX + 1);

	*id = '\0';
	if (im.id)
		build_id_format(im.id, id);
	*cell++ = (struct emit_cell){.u = r->svma};
	*cell++ = (struct emit_cell){.s = im.path};
	*cell++ = (struct emit_cell){.s = id, .none = !*id};
	emit_row(e, s->cells);
}

void cat_sets_emit(struct emit *e, struct flat *f)
{
	const struct columns *c = &f->source->columns;
	struct amounts *amounts = xcalloc(c->cols.n + 1, sizeof(*amounts));
	struct sheet sheet;

	vec_each (r, &f->rows)
		amounts_note(amounts, c, r->own);
	/* Rows are in no order of numbers: percentages so far would say nothing. */
	sheet_init(&sheet, c, amounts, false, true, N_PLACE_COLS);
	add_place_cols(&sheet);
	emit_begin(e);
	about_emit(e, f->source, false);
	emit_rows_by(e, "address");
	emit_table(e, "rows", sheet.cols, sheet.n_cols);
	vec_each (r, &f->rows)
		emit_place(e, f, &sheet, r);
	emit_table_end(e);
	emit_end(e);
	sheet_release(&sheet);
	free(amounts);
}
