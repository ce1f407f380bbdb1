/* SPDX-License-Identifier: BSD-2-Clause */
/* See top.h.  Columns in dcpitopcounts' order: the sort event with its percentages, procedure, pc,
 * instruction, image, source, then the other events. */
#include "view/top.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/samples/code.h"
#include "view/amounts.h"
#include "query/source.h"
#include "view/about.h"

struct top {
	struct emit *e;
	struct flat *f;
	struct image_code **codes; /* of samples: by image, opened when first needed */
	const struct columns *columns;
	unsigned *order, n_shown;
	struct emit_col *cols;
	unsigned n_cols;
	struct emit_cell *cells;
	struct arena arena; /* texts of rows */
	double so_far;
};

static void make_cols(struct top *t)
{
	const unsigned not_table = EMIT_IN_JSON | EMIT_IN_CSV;
	const struct emit_col places[] = {
		{"percent", "%", EMIT_PERCENT, .in = EMIT_IN_TABLE, .hot = true},
		{"cum_percent", "cum%", EMIT_PERCENT, .in = EMIT_IN_TABLE,
		 .spare = EMIT_SPARE_UNSAID + 1},
		{"procedure", NULL, EMIT_STR, .cut = TEXT_NAME},
		{"svma", "pc", EMIT_HEX},
		{"instruction", NULL, EMIT_STR, .cut = TEXT_END},
		{"image", NULL, EMIT_STR, .in = not_table},
		{"build_id", NULL, EMIT_STR, .in = not_table},
		{"short_image", "image", EMIT_STR, .in = EMIT_IN_TABLE, .cut = TEXT_PATH},
		{"file", NULL, EMIT_STR, .in = not_table},
		{"line", NULL, EMIT_U64, .in = not_table},
		{"source", NULL, EMIT_STR, .in = EMIT_IN_TABLE, .cut = TEXT_PATH, .spare = 1},
	};
	const struct columns *c = t->columns;
	struct amounts *amounts = xcalloc(c->cols.n + 1, sizeof(*amounts));

	vec_each (r, &t->f->rows)
		amounts_note(amounts, c, r->own);
	t->order = xcalloc(c->cols.n + 1, sizeof(*t->order));
	t->n_shown = cols_order(c, t->order);
	t->cols = xcalloc((1 + MOST_MORE_COLS) * t->n_shown + n_elems(places), sizeof(*t->cols));
	for (unsigned i = 0; i < t->n_shown; i++) {
		unsigned k = t->order[i];
		const struct column *col = &c->cols.v[k];

		t->cols[t->n_cols++] =
			amount_col(col, &amounts[k], col->name, col->title, "counts", 0);
		t->cols[t->n_cols - 1].spare = i ? 2 : 0;
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

/* NULL where instructions are not to be had. */
static struct image_code *code_of(struct top *t, image_id image)
{
	struct image_code **c;

	if (!t->codes)
		return NULL;
	c = &t->codes[image];
	if (!*c) {
		*c = xcalloc(1, sizeof(**c));
		code_open(*c, t->f->source->query, image);
	}
	return *c;
}

static struct emit_cell text_cell(struct top *t, struct str *s)
{
	struct emit_cell cell = {.s = s->n ? arena_strdup(&t->arena, s->v) : NULL, .none = !s->n};

	str_reset(s);
	return cell;
}

/* Whether R is in a function of a script, whose addresses are made up. */
static bool is_of_script(const struct source *s, const struct flat_row *r)
{
	return s->query && r->image != SCOPE_NO_IMAGE &&
	       s->query->profile->images.v[r->image].kind == IMAGE_SCRIPT;
}

/* The line of R, which is in a function of a script; 0: not known. */
static struct line script_line(const struct source *s, const struct flat_row *r)
{
	struct resolved_frame frame;

	resolver_frames(s->query->resolver, &s->query->profile->images.v[r->image], r->svma, false,
			&frame, 1);
	return (struct line){.file = frame.file, .line = frame.line};
}

/* What a row is, behind the first column of numbers. */
static struct emit_cell *place_cells(struct top *t, const struct flat_row *r,
				     struct emit_cell *cell)
{
	struct source *s = t->f->source;
	struct image_code *code = code_of(t, r->image);
	const struct flat_image im = s->ops->image(s, r->image);
	struct line at = {.file = r->file, .line = r->line};
	_str_ struct str text = {0};
	const bool of_script = is_of_script(s, r), in_table = t->e->format == EMIT_TABLE;
	char id[2 * BUILD_ID_MAX + 1] = "";
	bool has_line;

	if (code && code->lines && lines_find(code->lines, r->svma, &at) < 0)
		at.line = 0;
	if (of_script)
		at = script_line(s, r);
	has_line = at.file && at.line;
	*cell++ = (struct emit_cell){.s = r->procedure};
	*cell++ = (struct emit_cell){.u = r->svma,
				     .none = r->kind != SCOPE_ADDRESS ||
					     (in_table && (of_script || im.is_mark))};
	if (code)
		code_insn_at(code, r->svma, &text);
	*cell++ = text_cell(t, &text);
	*cell++ = (struct emit_cell){.s = im.path};
	if (im.id)
		build_id_format(im.id, id);
	str_add(&text, id);
	*cell++ = text_cell(t, &text);
	*cell++ = (struct emit_cell){.s = im.is_mark ? NULL : str_basename(im.path),
				     .none = im.is_mark};
	*cell++ = (struct emit_cell){.s = at.file, .none = !has_line};
	*cell++ = (struct emit_cell){.u = at.line, .none = !has_line};
	if (has_line)
		str_addf(&text, "%s:%u", str_basename(at.file), at.line);
	*cell++ = text_cell(t, &text);
	return cell;
}

static void emit_spot(struct top *t, const struct flat_row *r)
{
	const double *totals = t->f->totals;
	struct emit_cell *cell = t->cells;

	for (unsigned i = 0; i < t->n_shown; i++) {
		const unsigned c = t->order[i];
		const unsigned w = cols_weight(t->columns, c);
		const double whole = totals ? totals[w] : t->columns->cols.v[w].total;

		*cell++ = amount_cell(t->e, t->columns, c, r->own);
		if (i == 0) {
			t->so_far += r->own[w];
			*cell = percent_cell(r->own[w], whole);
			cell->none = cell[-1].none;
			cell++;
			*cell++ = percent_cell(t->so_far, whole);
			cell = place_cells(t, r, cell);
		}
		cell += amounts_more_cells(t->e, t->columns, c, r->own, false, cell);
	}
	emit_row(t->e, t->cells);
}

/* The images of the rows, each once. */
static image_ids images_of(const struct flat *f)
{
	image_ids images = {0};

	vec_each (r, &f->rows) {
		bool seen = r->image == SCOPE_NO_IMAGE;

		vec_each (im, &images)
			seen |= *im == r->image;
		if (!seen)
			vec_push(&images, r->image);
	}
	return images;
}

void top_emit(struct emit *e, struct flat *f, bool no_header)
{
	const struct query *q = f->source->query;
	const size_t n_images = q ? q->profile->images.n : 0;
	struct top t = {.e = e, .f = f, .columns = &f->source->columns};
	image_ids shown = images_of(f);

	if (q)
		t.codes = xcalloc(n_images + 1, sizeof(*t.codes));
	make_cols(&t);
	emit_begin(e);
	about_emit(e, f->source, no_header);
	emit_rows_by(e, "address");
	emit_table(e, "rows", t.cols, t.n_cols);
	vec_each (r, &f->rows)
		emit_spot(&t, r);
	emit_table_end(e);
	about_images_emit(e, f->source, shown.v, shown.n);
	emit_end(e);
	for (image_id im = 0; im < n_images; im++) {
		if (t.codes[im])
			code_close(t.codes[im]);
		free(t.codes[im]);
	}
	vec_release(&shown);
	arena_release(&t.arena);
	free(t.codes);
	free(t.order);
	free(t.cols);
	free(t.cells);
}
