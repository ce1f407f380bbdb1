/* SPDX-License-Identifier: BSD-2-Clause */
/* See hpc_prof.h. */
#include "view/hpc_prof.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "view/hpc.h"
#include "view/prof.h"
#include "view/sheet.h"

#define N_KEY_COLS 8

/* --- rows of code --- */

/* Which images are wanted, by module; NULL in *RET when all are. */
static int find_images(struct hpc_tree *t, const opt_list *names, bool **ret, struct err *err)
{
	uint32_t n_modules = t->q->db->meta.n_modules;
	struct name_list there = {{0}, 0};
	bool *wanted;

	*ret = NULL;
	if (!names->n)
		return 0;
	wanted = xcalloc((size_t)n_modules + 1, sizeof(*wanted));
	vec_each (name, names) {
		bool found = false;

		for (uint32_t i = 0; i < n_modules; i++) {
			const char *path = hpc_scopes_image(&t->scopes, i);

			if (strcmp(path, *name) != 0 && strcmp(str_basename(path), *name) != 0)
				continue;
			wanted[i] = found = true;
		}
		for (uint32_t i = 0; !found && i < n_modules; i++)
			name_list_add(&there, str_basename(hpc_scopes_image(&t->scopes, i)));
		if (!found) {
			free(wanted);
			return err_set(err, -ENOENT, "no values in an image '%s'; there are: %s",
				       *name, there.text);
		}
	}
	*ret = wanted;
	return 0;
}

static bool is_wanted(const struct hpc_tree *t, const bool *images, const struct tree_row *r)
{
	const struct scope *sc = &t->scopes.scopes.scopes.v[r->scope];

	return !images || (sc->image != SCOPE_NO_IMAGE && images[sc->image]);
}

static void add_code_cols(struct sheet *s, enum scope_kind level)
{
	const unsigned data = EMIT_IN_JSON | EMIT_IN_CSV;
	const bool lines = level == SCOPE_LINE, files = level == SCOPE_FILE,
		   procedures = level >= SCOPE_PROCEDURE;

	sheet_add_col(s, (struct emit_col){"kind", NULL, EMIT_STR, .in = data});
	sheet_add_col(s, (struct emit_col){"procedure", NULL, EMIT_STR, .cut = TEXT_NAME,
					   .in = procedures ? 0 : EMIT_IN_JSON});
	sheet_add_col(s, (struct emit_col){"svma", NULL, EMIT_HEX,
					   .in = procedures ? data : EMIT_IN_NONE});
	sheet_add_col(s, (struct emit_col){"file", NULL, EMIT_STR, .cut = TEXT_PATH,
					   .in = data | (lines || files ? EMIT_IN_TABLE : 0)});
	sheet_add_col(s, (struct emit_col){"line", NULL, EMIT_U64,
					   .in = data | (lines ? EMIT_IN_TABLE : 0)});
	sheet_add_col(s, (struct emit_col){"image", NULL, EMIT_STR, .cut = TEXT_PATH,
					   .in = files ? data : 0});
	sheet_add_col(s, (struct emit_col){"inlined", NULL, EMIT_U64, .in = data});
}

static void code_cells(struct hpc_tree *t, const struct scope *sc, struct emit_cell *cell)
{
	const bool has_procedure = sc->kind >= SCOPE_PROCEDURE || sc->kind == SCOPE_ENTRY;

	*cell++ = (struct emit_cell){.s = scope_kind_name(sc->kind)};
	*cell++ = (struct emit_cell){.s = has_procedure ? sc->name : NULL};
	*cell++ = (struct emit_cell){.u = sc->svma, .none = sc->proc == PROC_NONE};
	*cell++ = (struct emit_cell){.s = sc->kind == SCOPE_FILE ? sc->name : sc->file};
	*cell++ = (struct emit_cell){.u = sc->line, .none = !sc->line};
	*cell++ = (struct emit_cell){.s = sc->image != SCOPE_NO_IMAGE
						  ? hpc_scopes_image(&t->scopes, sc->image)
					  : sc->kind == SCOPE_IMAGE ? sc->name
								    : NULL};
	*cell++ = (struct emit_cell){.u = sc->inlined, .none = !has_procedure};
}

/* How many of the rows, which are sorted, hold enough of the whole. */
static size_t count_kept(const struct hpc_tree *t, const struct tree_rows *rows, const bool *images,
			 double keep_pct)
{
	const unsigned sort = t->q->columns.sort;
	double all = 0, so_far = 0;
	size_t n = 0;

	vec_each (r, &rows->rows)
		all += is_wanted(t, images, r) ? r->exclusive[sort] : 0;
	vec_each (r, &rows->rows) {
		if (keep_pct < 100 && so_far * 100 >= keep_pct * all)
			break;
		so_far += is_wanted(t, images, r) ? r->exclusive[sort] : 0;
		n++;
	}
	return n;
}

static void json_amounts(struct json *j, const struct columns *c, const char *key, const double *v)
{
	json_key(j, key);
	json_begin(j, '{');
	for (size_t i = 0; i < c->cols.n; i++) {
		json_key(j, c->cols.v[i].name);
		json_double(j, v[i]);
	}
	json_end(j, '}');
}

/* Whose callers or callees the rows are. */
static void emit_whose(struct emit *e, struct hpc_tree *t, const struct hpc_neighbours *n,
		       bool quiet)
{
	const struct columns *c = &t->q->columns;
	const char *kind = n->kind == NEIGHBOUR_CALLERS ? "callers" : "callees";
	const char *image =
		n->image == SCOPE_NO_IMAGE ? NULL : hpc_scopes_image(&t->scopes, n->image);
	const double all = c->cols.n ? c->cols.v[c->sort].total : 0;
	struct json *j = emit_json(e);
	struct str name = {0};

	prof_name_whose(&name, n->procedure, image, n->n_procedures);
	if (!quiet && c->cols.n)
		emit_text(e, "%s of %s: %.6g of %s in or below it, %.2f%% of all; %.6g its own\n\n",
			  kind, str_get(&name), n->inclusive[c->sort], c->cols.v[c->sort].name,
			  all != 0 ? 100 * n->inclusive[c->sort] / all : 0, n->exclusive[c->sort]);
	str_release(&name);
	if (!j)
		return;
	prof_begin_whose(j, kind, n->procedure, image);
	json_amounts(j, c, "counts", n->exclusive);
	json_amounts(j, c, "inclusive", n->inclusive);
	json_end(j, '}');
}

int hpc_prof_emit(struct emit *e, struct hpc_tree *t, const struct tree_rows *rows,
		  const struct hpc_prof_opts *o, size_t *ret_n, struct err *err)
{
	const struct columns *cols = &t->q->columns;
	struct amounts *amounts;
	struct sheet s;
	size_t n_kept;
	bool *images;
	int rc = find_images(t, o->images, &images, err);

	if (rc)
		return rc;
	amounts = xcalloc(cols->cols.n + 1, sizeof(*amounts));
	vec_each (r, &rows->rows) {
		amounts_note(amounts, cols, r->exclusive);
		amounts_note(amounts, cols, o->no_inclusive ? NULL : r->inclusive);
	}
	n_kept = count_kept(t, rows, images, o->keep_pct);
	sheet_init(&s, cols, amounts, !o->no_inclusive, o->by_inclusive, N_KEY_COLS);
	add_code_cols(&s, t->source.level);
	for (size_t i = 0; o->whose && i < cols->cols.n; i++)
		s.totals[i] = o->whose->inclusive[i];
	emit_begin(e);
	hpc_header_emit(e, t->q, o->no_header);
	if (o->whose)
		emit_whose(e, t, o->whose, o->no_header);
	emit_table(e, "rows", s.cols, s.n_cols);
	*ret_n = 0;
	for (size_t i = 0; i < n_kept; i++) {
		const struct tree_row *r = &rows->rows.v[i];

		if (!is_wanted(t, images, r))
			continue;
		++*ret_n;
		code_cells(t, &t->scopes.scopes.scopes.v[r->scope],
			   sheet_cells(e, &s, r->exclusive, r->inclusive, false));
		emit_row(e, s.cells);
	}
	emit_table_end(e);
	emit_end(e);
	sheet_release(&s);
	free(amounts);
	free(images);
	return 0;
}

/* --- rows of threads --- */

/* OF_ALL: of whole threads, in which nothing is exclusive. */
static void emit_statistics(struct emit *e, const struct hpc_query *q, const struct hpc_threads *t,
			    bool of_all, bool quiet)
{
	const struct columns *c = &q->columns;
	unsigned *order = xcalloc(c->cols.n + 1, sizeof(*order)), n = cols_order(c, order);
	struct emit_col cols[3 + N_HPC_STATS] = {{"name", "metric", EMIT_STR},
						 {"scope", NULL, EMIT_STR},
						 {"threads", NULL, EMIT_U64}};
	struct amounts a = {0};

	for (unsigned i = 0; i < n; i++)
		amounts_note_one(&a, t->inclusive[order[i]].x);
	a.has_fractions = true;
	for (unsigned k = 0; k < N_HPC_STATS; k++)
		cols[3 + k] = (struct emit_col){hpc_stat_name(k), NULL, EMIT_FIXED,
						.decimals = amounts_decimals(&a)};
	if (quiet && e->format == EMIT_TABLE)
		n = 0;
	emit_table(e, "statistics", cols, n_elems(cols));
	for (unsigned i = 0; i < 2 * n; i++) {
		const struct hpc_moments *m = i % 2 ? t->exclusive : t->inclusive;

		if (of_all && i % 2)
			continue;
		struct emit_cell cells[3 + N_HPC_STATS] = {
			{.s = c->cols.v[order[i / 2]].name},
			{.s = i % 2 ? "exclusive" : "inclusive"},
			{.u = (uint64_t)m[order[i / 2]].n},
		};

		for (unsigned k = 0; k < N_HPC_STATS; k++)
			cells[3 + k].d = hpc_moments_stat(&m[order[i / 2]], k);
		emit_row(e, cells);
	}
	emit_table_end(e);
	if (n)
		emit_text(e, "\n");
	free(order);
}

int hpc_threads_emit(struct emit *e, struct hpc_query *q, struct hpc_threads *t,
		     const struct hpc_prof_opts *o, struct err *err)
{
	struct amounts *amounts = xcalloc(q->columns.cols.n + 1, sizeof(*amounts));
	const struct emit_col keys[] = {{"thread", NULL, EMIT_STR}, {"profile", NULL, EMIT_U64}};
	struct json *j;
	struct str name = {0};
	const bool of_all = !o->contexts;
	double so_far = 0;
	struct sheet s;
	int rc = 0;

	vec_each (r, &t->rows) {
		amounts_note(amounts, &q->columns, r->inclusive);
		amounts_note(amounts, &q->columns, r->exclusive);
	}
	sheet_init(&s, &q->columns, amounts, !of_all, !of_all, n_elems(keys));
	for (size_t i = 0; i < n_elems(keys); i++)
		sheet_add_col(&s, keys[i]);
	emit_begin(e);
	hpc_header_emit(e, q, o->no_header);
	j = emit_json(e);
	if (j) {
		json_key(j, "contexts");
		json_str(j, o->contexts);
	}
	emit_statistics(e, q, t, of_all, o->no_header);
	emit_table(e, "rows", s.cols, s.n_cols);
	if (o->keep_pct > 0)
		hpc_threads_sort(t, q);
	vec_each (r, &t->rows) {
		if (o->keep_pct < 100 &&
		    so_far * 100 >= o->keep_pct * t->inclusive[q->columns.sort].x)
			break;
		so_far += r->inclusive[q->columns.sort];
		struct emit_cell *cell = sheet_cells(e, &s, of_all ? r->inclusive : r->exclusive,
						     r->inclusive, false);

		str_reset(&name);
		rc = rc ? rc : hpc_db_thread_name(q->db, r->profile, &name, err);
		*cell++ = (struct emit_cell){.s = arena_strdup(&s.arena, str_get(&name))};
		*cell++ = (struct emit_cell){.u = r->profile};
		emit_row(e, s.cells);
	}
	emit_table_end(e);
	emit_end(e);
	str_release(&name);
	sheet_release(&s);
	free(amounts);
	return rc;
}
