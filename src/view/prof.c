/* SPDX-License-Identifier: BSD-2-Clause */
/* See prof.h.  Columns are dcpiprof's: numbers (sheet.h), then what the row is. */
#include "view/prof.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/samples/paths.h"
#include "view/header.h"
#include "view/sheet.h"

#define N_CODE_COLS 5 /* of an image or procedure */
#define N_KEY_COLS  (2 * N_OWNER_KEYS + N_CODE_COLS)

struct prof {
	struct query *q;
	const struct prof_opts *opts;
	bool by_procedure;
	struct columns columns;
	struct sheet sheet;
	double *numbers[2]; /* of a row: its own, inclusive ones */
};

/* --- columns --- */

static void add_col(struct prof *p, struct emit_col c)
{
	sheet_add_col(&p->sheet, c);
}

static void add_code_cols(struct prof *p)
{
	const unsigned not_table = EMIT_IN_JSON | EMIT_IN_CSV;

	add_col(p, (struct emit_col){"kind", NULL, EMIT_STR,
				     .in = not_table | (p->opts->show_kind ? EMIT_IN_TABLE : 0)});
	add_col(p, (struct emit_col){"procedure", NULL, EMIT_STR, .cut = TEXT_NAME,
				     .in = EMIT_IN_JSON |
					   (p->by_procedure ? EMIT_IN_TABLE | EMIT_IN_CSV : 0)});
	add_col(p, (struct emit_col){"svma", NULL, EMIT_HEX,
				     .in = p->by_procedure ? not_table : EMIT_IN_NONE});
	add_col(p, (struct emit_col){"image", NULL, EMIT_STR, .cut = TEXT_PATH});
	add_col(p, (struct emit_col){"build_id", NULL, EMIT_STR, .in = not_table});
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
}

static void add_key_cols(struct prof *p)
{
	const struct row_by *by = &p->opts->by;

	for (unsigned i = 0; i < by->n; i++) {
		if (by->keys[i] < N_OWNER_KEYS)
			add_owner_cols(p, by->keys[i]);
		else
			add_code_cols(p);
	}
}

/* The numbers of ROW as those of columns. */
static void find_numbers(struct prof *p, const struct row *r)
{
	const uint64_t *counts[] = {r->counts, r->inclusive};

	for (unsigned k = 0; k < 2; k++) {
		for (unsigned c = 0; c < p->q->n_cols; c++)
			p->numbers[k][c] = counts[k] ? (double)counts[k][c] : 0;
		cols_evaluate(&p->columns, p->numbers[k]);
	}
}

static int prof_init(struct prof *p, struct query *q, const struct prof_opts *opts,
		     const struct rows *rows, struct err *err)
{
	struct amounts *amounts;
	int rc = 0;

	*p = (struct prof){
		.q = q,
		.opts = opts,
		.by_procedure = rows_code_key(&opts->by) == ROW_KEY_PROCEDURE,
	};
	cols_of_query(&p->columns, q);
	for (size_t i = 0; opts->derived && i < opts->derived->n && !rc; i++)
		rc = cols_derive(&p->columns, opts->derived->v[i], NULL, NULL, err);
	if (rc) {
		cols_release(&p->columns);
		return rc;
	}
	for (unsigned k = 0; k < 2; k++)
		p->numbers[k] = xcalloc(p->columns.cols.n + 1, sizeof(double));
	amounts = xcalloc(p->columns.cols.n + 1, sizeof(*amounts));
	vec_each (r, &rows->rows) {
		if (p->columns.cols.n == q->n_cols)
			break;
		find_numbers(p, r);
		amounts_note(amounts, &p->columns, p->numbers[0]);
		amounts_note(amounts, &p->columns, opts->inclusive ? p->numbers[1] : NULL);
	}
	sheet_init(&p->sheet, &p->columns, amounts, opts->inclusive, opts->by_inclusive,
		   N_KEY_COLS);
	add_key_cols(p);
	free(amounts);
	return 0;
}

static void prof_release(struct prof *p)
{
	sheet_release(&p->sheet);
	cols_release(&p->columns);
	free(p->numbers[0]);
	free(p->numbers[1]);
}

/* --- rows --- */

static struct emit_cell *code_cells(const struct emit *e, struct prof *p, struct emit_cell *cell,
				    const struct row *r)
{
	const struct image *im =
		r->image == ROW_NO_IMAGE ? NULL : &p->q->profile->images.v[r->image];
	const bool is_code = im && (im->kind != IMAGE_MARK || !p->by_procedure);
	char *id = NULL;

	if (im && im->build_id.n_bytes && e->format != EMIT_TABLE) {
		id = arena_alloc(&p->q->arena, 2 * BUILD_ID_MAX + 1);
		build_id_format(&im->build_id, id);
	}
	*cell++ = (struct emit_cell){.s = im ? image_kind_name(im->kind) : NULL};
	*cell++ = (struct emit_cell){.s = r->procedure};
	*cell++ = (struct emit_cell){.u = r->svma, .none = !is_code};
	*cell++ = (struct emit_cell){.s = is_code ? query_image_name(p->q, r->image) : NULL};
	*cell++ = (struct emit_cell){.s = id};
	return cell;
}

static struct emit_cell *owner_cells(const struct emit *e, struct prof *p, struct emit_cell *cell,
				     const struct row *r, enum owner_key k)
{
	const struct owner *o = &p->q->profile->owners.v[r->owner];
	const bool known = owner_is_known(o, k);
	const char *text = owner_text(p->q->profile, o, k);
	char *number;

	if (!known) {
		*cell++ = (struct emit_cell){.s = e->format == EMIT_TABLE ? owner_stand_in(o, k)
									  : NULL};
	} else if (owner_key_is_number(k)) {
		number = arena_alloc(&p->q->arena, 12);
		snprintf(number, 12, "%" PRIu32, owner_value(o, k));
		*cell++ = (struct emit_cell){.s = number};
	} else {
		*cell++ = (struct emit_cell){.s = text};
	}
	if (owner_key_is_number(k))
		*cell++ = (struct emit_cell){.u = owner_value(o, k), .none = !known};
	return cell;
}

static void emit_counts(struct emit *e, struct prof *p, const struct row *r)
{
	const struct row_by *by = &p->opts->by;
	struct emit_cell *cell;

	find_numbers(p, r);
	cell = sheet_cells(e, &p->sheet, p->numbers[0], p->numbers[1], false);

	for (unsigned i = 0; i < by->n; i++)
		cell = by->keys[i] < N_OWNER_KEYS ? owner_cells(e, p, cell, r, by->keys[i])
						  : code_cells(e, p, cell, r);
	emit_row(e, p->sheet.cells);
}

/* Idle CPUs are one row below the others, outside the percentages: named where procedures or images
 * are, else in the first column. */
static void emit_idle(struct emit *e, struct prof *p)
{
	uint64_t *idle = xcalloc(p->q->n_cols + 1, sizeof(*idle));
	const unsigned code_key = rows_code_key(&p->opts->by);
	const char *named = code_key == ROW_KEY_PROCEDURE ? "procedure"
			    : code_key			  ? "image"
							  : owner_key_name(p->opts->by.keys[0]);
	const struct row row = {.image = ROW_NO_IMAGE, .counts = idle};
	struct emit_cell *cell;
	bool any = false;

	for (unsigned c = 0; c < p->q->n_cols; c++) {
		idle[c] = p->q->cols[c].n_idle;
		any |= idle[c] != 0;
	}
	if (any && !p->opts->images) {
		find_numbers(p, &row);
		cell = sheet_cells(e, &p->sheet, p->numbers[0], p->numbers[1], true);
		for (; cell < p->sheet.cells + p->sheet.n_cols; cell++) {
			const struct emit_col *c = &p->sheet.cols[cell - p->sheet.cells];

			*cell = (struct emit_cell){.s = strcmp(c->key, named) == 0    ? "[idle]"
							: strcmp(c->key, "kind") == 0 ? "idle"
										      : NULL,
						   .none = c->type != EMIT_STR};
		}
		emit_row(e, p->sheet.cells);
	}
	free(idle);
}

/* The images worth a note: those with at least one percent of the samples in nameless rows. */
static image_ids nameless_images(const struct prof *p, const struct rows *rows)
{
	const struct query *q = p->q;
	uint64_t *sums = xcalloc(q->profile->images.n + 1, sizeof(*sums));
	image_ids found = {0};

	vec_each (r, &rows->rows)
		if (q->n_cols && r->nameless && r->image != ROW_NO_IMAGE)
			sums[r->image] += r->counts[q->sort];
	for (image_id im = 0; im < q->profile->images.n; im++)
		if (sums[im] && sums[im] >= rows->total / 100)
			vec_push(&found, im);
	free(sums);
	return found;
}

static void emit_rows(struct emit *e, struct prof *p, const struct rows *rows)
{
	emit_table(e, "rows", p->sheet.cols, p->sheet.n_cols);
	vec_each (r, &rows->rows)
		emit_counts(e, p, r);
}

static void emit_notes(struct emit *e, struct prof *p, const struct rows *rows)
{
	image_ids nameless = {0};

	if (p->by_procedure) {
		nameless = nameless_images(p, rows);
		notes_emit(e, p->q, &nameless);
	}
	vec_release(&nameless);
}

/* Shares of all samples where rows count what is below them, else of those that could be listed. */
static void find_totals(struct prof *p, const struct rows *rows)
{
	if (p->opts->inclusive)
		return;
	for (unsigned c = 0; c < p->q->n_cols; c++) {
		p->sheet.totals[c] = 0;
		vec_each (r, &rows->rows)
			p->sheet.totals[c] += (double)r->counts[c];
	}
	cols_evaluate(&p->columns, p->sheet.totals);
}

int prof_emit(struct emit *e, struct query *q, const struct prof_opts *opts, size_t *ret_n,
	      struct err *err)
{
	struct rows rows = {.by = opts->by, .by_inclusive = opts->by_inclusive};
	bool by_procedure = rows_code_key(&opts->by) == ROW_KEY_PROCEDURE;
	struct prof p;
	int rc;

	if (opts->inclusive || opts->by.n > 1 || !rows_code_key(&opts->by))
		paths_rows(q, &opts->by, opts->inclusive, opts->images, &rows);
	else if (by_procedure)
		rows_by_procedure(q, opts->images, &rows);
	else
		rows_by_image(q, opts->images, &rows);
	rc = prof_init(&p, q, opts, &rows, err);
	if (!rc) {
		rows_settle(q, &p.columns, &rows);
		*ret_n = rows.rows.n;
		rows_sort(q, &rows);
		find_totals(&p, &rows);
		rows_keep(q, &rows, opts->keep_pct);
		if (by_procedure)
			rows_name(q, &rows);
		emit_begin(e);
		header_emit(e, q, opts->no_header);
		emit_rows(e, &p, &rows);
		emit_idle(e, &p);
		emit_table_end(e);
		emit_notes(e, &p, &rows);
		emit_end(e);
		prof_release(&p);
	}
	rows_release(&rows);
	return rc;
}

/* --- callers and callees --- */

static void json_counts(struct json *j, const struct query *q, const char *key,
			const uint64_t *counts)
{
	json_key(j, key);
	json_begin(j, '{');
	for (unsigned c = 0; c < q->n_events; c++) {
		json_key(j, q->cols[c].name);
		json_u64(j, counts[c]);
	}
	json_end(j, '}');
}

void prof_name_whose(struct str *out, const char *procedure, const char *image, size_t n_procedures)
{
	text_show(out, procedure);
	str_add(out, image ? " in " : "");
	text_show(out, image ? image : "");
	if (n_procedures > 1)
		str_addf(out, " (%zu procedures)", n_procedures);
}

void prof_begin_whose(struct json *j, const char *kind, const char *procedure, const char *image)
{
	json_key(j, "of");
	json_begin(j, '{');
	json_key(j, "rows_are");
	json_str(j, kind);
	json_key(j, "procedure");
	json_str(j, procedure);
	json_key(j, "image");
	json_str(j, image);
}

/* Says whose callers or callees these are, and how many samples that has. */
static void emit_whose(struct emit *e, struct query *q, const char *kind,
		       const struct neighbours *n, bool quiet)
{
	const uint32_t col = q->shown.n ? q->shown.v[q->sort_shown].part.event : 0;
	const struct query_col *c = &q->cols[col];
	const bool has_image =
		n->image != ROW_NO_IMAGE && q->profile->images.v[n->image].kind != IMAGE_MARK;
	const char *image = has_image ? query_image_name(q, n->image) : NULL;
	struct json *j = emit_json(e);
	struct str name = {0};

	prof_name_whose(&name, n->procedure, image, n->n_procedures);
	if (!quiet && q->n_cols)
		emit_text(e,
			  "%s of %s: %" PRIu64
			  " samples of %s in or below it, %.2f%% of all; %" PRIu64 " its own\n\n",
			  kind, str_get(&name), query_scaled(c, n->inclusive[col]), c->name,
			  c->n_samples ? 100 * (double)n->inclusive[col] / (double)c->n_samples : 0,
			  query_scaled(c, n->exclusive[col]));
	str_release(&name);
	if (!j)
		return;
	prof_begin_whose(j, kind, n->procedure, image);
	json_counts(j, q, "counts", n->exclusive);
	json_counts(j, q, "inclusive", n->inclusive);
	json_end(j, '}');
}

void prof_emit_neighbours(struct emit *e, struct query *q, enum neighbour_kind kind,
			  struct neighbours *n, const struct prof_opts *opts)
{
	const struct prof_opts o = {.by = {.keys = {ROW_KEY_PROCEDURE}, .n = 1},
				    .show_kind = opts->show_kind};
	struct prof p;

	prof_init(&p, q, &o, &n->rows, NULL);
	for (unsigned c = 0; c < q->n_cols; c++)
		p.sheet.totals[c] = (double)n->inclusive[c];
	cols_evaluate(&p.columns, p.sheet.totals);
	rows_settle(q, &p.columns, &n->rows);
	rows_sort(q, &n->rows);
	rows_keep(q, &n->rows, opts->keep_pct);
	emit_begin(e);
	header_emit(e, q, opts->no_header);
	emit_whose(e, q, kind == NEIGHBOUR_CALLERS ? "callers" : "callees", n, opts->no_header);
	emit_rows(e, &p, &n->rows);
	emit_table_end(e);
	emit_notes(e, &p, &n->rows);
	emit_end(e);
	prof_release(&p);
}
