/* SPDX-License-Identifier: BSD-2-Clause */
/* See prof.h.  Columns are dcpiprof's: numbers (sheet.h), then what the row is. */
#include "view/prof.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "query/source.h"
#include "view/about.h"
#include "view/sheet.h"

#define N_CODE_COLS 7 /* of an image, procedure or line */
#define N_KEY_COLS  (2 * N_OWNER_KEYS + 1 + N_CODE_COLS)

struct prof {
	struct flat *f;
	const struct columns *columns;
	const struct prof_opts *opts;
	bool by_procedure, has_lines;
	struct sheet sheet;
};

/* --- columns --- */

static void add_col(struct prof *p, struct emit_col c)
{
	sheet_add_col(&p->sheet, c);
}

static void add_code_cols(struct prof *p)
{
	const unsigned data = EMIT_IN_JSON | EMIT_IN_CSV;
	const bool lines = p->f->level == SCOPE_LINE, files = p->f->level == SCOPE_FILE;

	add_col(p, (struct emit_col){"kind", NULL, EMIT_STR,
				     .in = data | (p->opts->show_kind ? EMIT_IN_TABLE : 0)});
	add_col(p, (struct emit_col){"procedure", NULL, EMIT_STR, .cut = TEXT_NAME,
				     .in = EMIT_IN_JSON |
					   (p->by_procedure ? EMIT_IN_TABLE | EMIT_IN_CSV : 0)});
	add_col(p, (struct emit_col){"svma", NULL, EMIT_HEX,
				     .in = p->by_procedure ? data : EMIT_IN_NONE});
	if (p->has_lines) {
		add_col(p, (struct emit_col){"file", NULL, EMIT_STR, .cut = TEXT_PATH,
					     .in = data | (lines || files ? EMIT_IN_TABLE : 0)});
		add_col(p, (struct emit_col){"line", NULL, EMIT_U64,
					     .in = data | (lines ? EMIT_IN_TABLE : 0)});
	}
	add_col(p, (struct emit_col){"image", NULL, EMIT_STR, .cut = TEXT_PATH,
				     .in = files ? data : 0});
	if (p->has_lines)
		add_col(p, (struct emit_col){"inlined", NULL, EMIT_U64, .in = data});
	else
		add_col(p, (struct emit_col){"build_id", NULL, EMIT_STR, .in = data});
}

/* A number has a text of its own in tables, where words may stand in its place. */
static void add_owner_cols(struct prof *p, enum owner_key k)
{
	const bool is_path = k == OWNER_KEY_EXE || k == OWNER_KEY_CGROUP;
	struct emit_col c = {owner_key_name(k), NULL, EMIT_STR,
			     .cut = is_path ? TEXT_PATH : TEXT_END};

	if (owner_key_is_number(k))
		c.in = EMIT_IN_TABLE;
	add_col(p, c);
	if (owner_key_is_number(k))
		add_col(p,
			(struct emit_col){c.key, NULL, EMIT_U64, .in = EMIT_IN_JSON | EMIT_IN_CSV});
	if (k == OWNER_KEY_TID)
		add_col(p, (struct emit_col){"thread_name", NULL, EMIT_STR, .in = EMIT_IN_JSON});
}

static void add_key_cols(struct prof *p)
{
	const struct row_by *by = &p->f->by;

	if (p->f->threads) {
		add_col(p, (struct emit_col){"thread", NULL, EMIT_STR});
		add_col(p, (struct emit_col){"profile", NULL, EMIT_U64});
		return;
	}
	for (unsigned i = 0; i < by->n; i++) {
		if (by->keys[i] < N_OWNER_KEYS)
			add_owner_cols(p, by->keys[i]);
		else
			add_code_cols(p);
	}
}

static void prof_init(struct prof *p, struct flat *f, const struct prof_opts *opts)
{
	const struct columns *c = &f->source->columns;
	struct amounts *amounts = xcalloc(c->cols.n + 1, sizeof(*amounts));

	*p = (struct prof){
		.f = f,
		.columns = c,
		.opts = opts,
		.by_procedure = f->level >= SCOPE_PROCEDURE,
		.has_lines = f->level > SCOPE_PROCEDURE || f->level == SCOPE_FILE ||
			     !f->source->ops->why_not(f->source, SOURCE_FILES),
	};
	vec_each (r, &f->rows) {
		amounts_note(amounts, c, r->own);
		amounts_note(amounts, c, f->inclusive ? r->inclusive : NULL);
	}
	sheet_init(&p->sheet, c, amounts, f->inclusive, f->by_inclusive, N_KEY_COLS);
	for (size_t i = 0; f->totals && i < c->cols.n; i++)
		p->sheet.totals[i] = f->totals[i];
	add_key_cols(p);
	free(amounts);
}

/* --- rows --- */

static struct emit_cell *code_cells(const struct emit *e, struct prof *p, struct emit_cell *cell,
				    const struct flat_row *r)
{
	struct source *s = p->f->source;
	const bool has_image = r->image != SCOPE_NO_IMAGE;
	const struct flat_image im =
		has_image ? s->ops->image(s, r->image) : (struct flat_image){0};
	const bool is_code = has_image && (!im.is_mark || !p->by_procedure);
	const bool has_svma = s->query ? is_code : r->proc != PROC_NONE;
	const bool is_named = r->kind >= SCOPE_PROCEDURE || r->kind == SCOPE_ENTRY || s->query;
	char *id = NULL;

	if (im.id && e->format != EMIT_TABLE) {
		id = arena_alloc(&p->f->arena, 2 * BUILD_ID_MAX + 1);
		build_id_format(im.id, id);
	}
	*cell++ = (struct emit_cell){.s = im.kind    ? im.kind
					  : s->query ? NULL
						     : scope_kind_name(r->kind)};
	*cell++ = (struct emit_cell){.s = is_named ? r->procedure : NULL};
	*cell++ = (struct emit_cell){.u = r->svma, .none = !has_svma};
	if (p->has_lines) {
		*cell++ = (struct emit_cell){.s = r->kind == SCOPE_FILE ? r->procedure : r->file};
		*cell++ = (struct emit_cell){.u = r->line, .none = !r->line};
	}
	*cell++ = (struct emit_cell){.s = is_code		   ? im.path
					  : r->kind == SCOPE_IMAGE ? r->procedure
								   : NULL};
	if (p->has_lines)
		*cell++ = (struct emit_cell){.u = r->inlined, .none = !is_named};
	else
		*cell++ = (struct emit_cell){.s = id};
	return cell;
}

static struct emit_cell *owner_cells(const struct emit *e, struct prof *p, struct emit_cell *cell,
				     const struct flat_row *r, enum owner_key k)
{
	const struct profile *profile = p->f->source->query->profile;
	const struct owner *o = &profile->owners.v[r->member];
	const bool known = owner_is_known(o, k);

	if (!known) {
		*cell++ = (struct emit_cell){.s = e->format == EMIT_TABLE ? owner_stand_in(o, k)
									  : NULL};
	} else if (owner_key_is_number(k)) {
		_mem_ char *number = owner_number_text(profile, o, k);

		*cell++ = (struct emit_cell){.s = arena_strdup(&p->f->arena, number)};
	} else {
		*cell++ = (struct emit_cell){.s = owner_text(profile, o, k)};
	}
	if (owner_key_is_number(k))
		*cell++ = (struct emit_cell){.u = owner_value(o, k), .none = !known};
	if (k == OWNER_KEY_TID)
		*cell++ = (struct emit_cell){
			.s = *owner_thread_name(profile, o) ? owner_thread_name(profile, o) : NULL};
	return cell;
}

static void emit_flat_row(struct emit *e, struct prof *p, const struct flat_row *r)
{
	const struct row_by *by = &p->f->by;
	struct emit_cell *cell = sheet_cells(e, &p->sheet, r->own, r->inclusive, false);

	if (p->f->threads) {
		*cell++ = (struct emit_cell){.s = r->procedure};
		*cell++ = (struct emit_cell){.u = r->member};
	}
	for (unsigned i = 0; i < by->n && !p->f->threads; i++)
		cell = by->keys[i] < N_OWNER_KEYS ? owner_cells(e, p, cell, r, by->keys[i])
						  : code_cells(e, p, cell, r);
	emit_row(e, p->sheet.cells);
}

/* Idle CPUs are one row below the others, outside the percentages: named where procedures or images
 * are, else in the first column. */
static void emit_idle(struct emit *e, struct prof *p)
{
	const struct flat *f = p->f;
	const char *named;
	double *none;
	struct emit_cell *cell;

	if (!f->idle)
		return;
	named = p->by_procedure		  ? "procedure"
		: f->level == SCOPE_IMAGE ? "image"
					  : owner_key_name(f->by.keys[0]);
	none = flat_numbers(p->f);
	cell = sheet_cells(e, &p->sheet, f->idle, none, true);
	for (; cell < p->sheet.cells + p->sheet.n_cols; cell++) {
		const struct emit_col *c = &p->sheet.cols[cell - p->sheet.cells];

		*cell = (struct emit_cell){.s = strcmp(c->key, named) == 0    ? "[idle]"
						: strcmp(c->key, "kind") == 0 ? "idle"
									      : NULL,
					   .none = c->type != EMIT_STR};
	}
	emit_row(e, p->sheet.cells);
}

/* --- what stands above the rows --- */

static void json_numbers(struct json *j, const struct flat *f, const char *key, const double *v)
{
	const struct columns *c = &f->source->columns;

	json_key(j, key);
	json_begin(j, '{');
	for (unsigned i = 0; i < f->n_told; i++) {
		json_key(j, c->cols.v[i].name);
		if (c->cols.v[i].kind == COLUMN_REAL)
			json_double(j, v[i]);
		else
			json_u64(j, (uint64_t)v[i]);
	}
	json_end(j, '}');
}

/* Says whose callers or callees these are, and how much that has. */
static void emit_whose(struct emit *e, struct flat *f, bool quiet)
{
	const struct flat_whose *w = &f->whose;
	const struct columns *cols = &f->source->columns;
	const struct column *c = cols->cols.n ? &cols->cols.v[w->column] : NULL;
	const unsigned share = c ? cols_weight(cols, w->column) : 0;
	const double whole = c ? cols->cols.v[share].total : 0;
	const char *kind = w->kind == NEIGHBOUR_CALLERS ? "callers" : "callees";
	struct flat_image im = {0};
	struct json *j = emit_json(e);
	struct str name = {0};

	if (w->image != SCOPE_NO_IMAGE)
		im = f->source->ops->image(f->source, w->image);
	if (im.is_mark)
		im.path = NULL;
	text_show(&name, w->procedure);
	str_add(&name, im.path ? " in " : "");
	text_show(&name, im.path ? im.path : "");
	if (w->n_procedures > 1)
		str_addf(&name, " (%zu procedures)", w->n_procedures);
	if (!quiet && c) {
		const double in_all = column_shown(c, w->inclusive[w->column]);
		const char *what = c->kind != COLUMN_COUNT ? ""
				   : in_all == 1	   ? "sample "
							   : "samples ";

		emit_text(e,
			  "%s of %s: %.*g %sof %s in or below it, %.2f%% of all; %.*g its own\n\n",
			  kind, str_get(&name), *what ? 15 : 6, in_all, what, c->name,
			  whole != 0 ? 100 * w->inclusive[share] / whole : 0, *what ? 15 : 6,
			  column_shown(c, w->own[w->column]));
	}
	str_release(&name);
	if (!j)
		return;
	json_key(j, "of");
	json_begin(j, '{');
	json_key(j, "rows_are");
	json_str(j, kind);
	json_key(j, "procedure");
	json_str(j, w->procedure);
	json_key(j, "image");
	json_str(j, im.path);
	json_numbers(j, f, "counts", w->own);
	json_numbers(j, f, "inclusive", w->inclusive);
	json_end(j, '}');
}

/* What the values of all threads come to, of each column that is shown. */
static void emit_statistics(struct emit *e, const struct flat *f, bool quiet)
{
	const struct columns *c = &f->source->columns;
	unsigned *order = xcalloc(c->cols.n + 1, sizeof(*order)), n = cols_order(c, order);
	struct emit_col cols[3 + n_elems(flat_stat_names)] = {{"name", "metric", EMIT_STR},
							      {"scope", NULL, EMIT_STR},
							      {"threads", NULL, EMIT_U64}};
	struct amounts a = {.has_fractions = true};

	for (unsigned i = 0; i < n; i++)
		vec_each (m, &f->moments)
			if (m->column == order[i] && strcmp(m->scope, "inclusive") == 0)
				amounts_note_one(&a, m->stats[0]);
	a.has_fractions = true;
	for (unsigned k = 0; k < n_elems(flat_stat_names); k++)
		cols[3 + k] = (struct emit_col){flat_stat_names[k], NULL, EMIT_FIXED,
						.decimals = amounts_decimals(&a)};
	if (quiet && e->format == EMIT_TABLE)
		n = 0;
	emit_table(e, "statistics", cols, n_elems(cols));
	for (unsigned i = 0; i < n; i++)
		vec_each (m, &f->moments) {
			struct emit_cell cells[n_elems(cols)] = {
				{.s = c->cols.v[m->column].name},
				{.s = m->scope},
				{.u = m->n_threads},
			};

			if (m->column != order[i])
				continue;
			for (unsigned k = 0; k < n_elems(flat_stat_names); k++)
				cells[3 + k].d = m->stats[k];
			emit_row(e, cells);
		}
	emit_table_end(e);
	if (n)
		emit_text(e, "\n");
	free(order);
}

static void emit_threads(struct emit *e, const struct flat *f, bool quiet)
{
	struct json *j = emit_json(e);

	if (j) {
		json_key(j, "contexts");
		json_str(j, f->contexts);
	}
	emit_statistics(e, f, quiet);
}

/* What a row is one of: "comm,procedure". */
static void rows_text(const struct flat *f, struct str *ret)
{
	if (f->threads || !f->by.n)
		str_add(ret, "thread");
	for (unsigned i = 0; i < f->by.n && !f->threads; i++)
		str_addf(ret, "%s%s", i ? "," : "",
			 f->by.keys[i] < N_OWNER_KEYS ? owner_key_name(f->by.keys[i])
						      : scope_kind_name(f->level));
}

void prof_emit(struct emit *e, struct flat *f, const struct prof_opts *opts)
{
	struct str by = {0};
	struct prof p;

	prof_init(&p, f, opts);
	emit_begin(e);
	about_emit(e, f->source, opts->no_header);
	if (f->whose.procedure)
		emit_whose(e, f, opts->no_header);
	if (f->threads)
		emit_threads(e, f, opts->no_header);
	rows_text(f, &by);
	emit_rows_by(e, by.v);
	str_release(&by);
	emit_table(e, "rows", p.sheet.cols, p.sheet.n_cols);
	vec_each (r, &f->rows)
		emit_flat_row(e, &p, r);
	emit_idle(e, &p);
	emit_table_end(e);
	if (p.by_procedure)
		about_images_emit(e, f->source, f->images.v, f->images.n);
	emit_end(e);
	sheet_release(&p.sheet);
}
