/* SPDX-License-Identifier: BSD-2-Clause */
/* See listing.h.  A listing is two trees of all contexts boiled down: of lines, whose own
 * amounts are what is at each line with its instructions; and of instructions. */
#include "query/hpc/listing.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "query/hpc/tree.h"
#include "query/source.h"

#define MOST_LINES 100000 /* of a procedure; more is not a procedure but a damaged file */

struct finder {
	struct listing *l;
	struct hpc_query *q;
	const char *name, *image;
	struct hpc_tree *t;
	const char *found_image; /* of the procedure's first context */
	bool found, several;
	double *stray; /* what is at no line */
};

/* Whether HAVE is called NAME: so, or with " [image]" or arguments behind. */
static bool is_called(const char *have, const char *name)
{
	size_t n = strlen(name);

	if (strncmp(have, name, n) != 0)
		return false;
	return !have[n] || have[n] == '(' || (have[n] == ' ' && have[n + 1] == '[');
}

static bool is_image(const char *have, const char *image)
{
	return !image || strcmp(have, image) == 0 || strcmp(str_basename(have), image) == 0;
}

/* Whether SC is a part of the procedure wanted. */
static bool is_wanted(struct finder *f, const struct scope *sc)
{
	const char *image = hpc_scopes_image(&f->t->scopes, sc->image);

	if (sc->kind < SCOPE_PROCEDURE || !is_called(sc->name, f->name) ||
	    !is_image(image, f->image))
		return false;
	f->found = true;
	if (!f->found_image)
		f->found_image = image;
	f->several |= strcmp(f->found_image, image) != 0;
	return true;
}

/* Where a file can be read: copies are below the database. */
static const char *place_of(struct finder *f, const char *file)
{
	struct str s = {0};
	const char *kept;

	if (!file || *file == '/' || *file == '[' || *file == '<')
		return file;
	str_addf(&s, "%s/%s", f->q->db->path, file);
	kept = arena_strdup(&f->l->arena, str_get(&s));
	str_release(&s);
	return kept;
}

static const double *own_amounts(const struct hpc_tree *t, node_id n)
{
	size_t n_cols = t->q->cols.n;

	return t->amounts.v + 2 * n_cols * n + n_cols;
}

static node_id n_nodes(const struct hpc_tree *t)
{
	return t->end[0];
}

/* The line that node N is at: of a procedure, where it is defined. */
static bool find_place(struct finder *f, node_id n, struct listing_line *ret)
{
	const struct scope *sc = &f->t->scopes.scopes.scopes.v[f->t->scope[n]];

	*ret = (struct listing_line){.file = place_of(f, sc->file), .line = sc->line};
	return ret->file && ret->line;
}

/* Columns that are made of others are set when all rows are complete. */
static bool is_counted(const struct finder *f, unsigned c)
{
	return f->q->cols.v[c].metric != NULL;
}

static bool any(const struct finder *f, const double *v)
{
	for (unsigned c = 0; c < f->l->n_cols; c++)
		if (is_counted(f, c) && v[c] != 0)
			return true;
	return false;
}

static void take_lines(struct finder *f)
{
	struct listing *l = f->l;
	struct listing_line at;
	uint32_t first = UINT32_MAX, last = 0;

	for (node_id n = 1; n < n_nodes(f->t); n++) {
		const struct scope *sc = &f->t->scopes.scopes.scopes.v[f->t->scope[n]];

		if (!is_wanted(f, sc))
			continue;
		if (sc->kind == SCOPE_PROCEDURE && !l->procedure) {
			l->procedure = arena_strdup(&l->arena, sc->name);
			l->file = place_of(f, sc->file);
			l->start = l->end = sc->svma;
		}
		if (!find_place(f, n, &at))
			continue;
		vec_push(&l->lines, at);
		if (l->file && strcmp(l->file, at.file) == 0) {
			first = at.line < first ? at.line : first;
			last = at.line > last ? at.line : last;
		}
	}
	for (uint32_t i = first; i < last && last - first < MOST_LINES; i++)
		vec_push(&l->lines, (struct listing_line){.file = l->file, .line = i});
	listing_sort_lines(l);
}

static void charge_lines(struct finder *f)
{
	struct listing *l = f->l;

	for (node_id n = 1; n < n_nodes(f->t); n++) {
		const double *own = own_amounts(f->t, n);
		struct listing_line at;
		double *to;

		if (!is_wanted(f, &f->t->scopes.scopes.scopes.v[f->t->scope[n]]) || !any(f, own))
			continue;
		if (find_place(f, n, &at)) {
			struct listing_line *line =
				&l->lines.v[listing_find_line(l, at.file, at.line)];

			to = line->counts = line->counts ? line->counts : listing_new_counts(l);
		} else {
			to = f->stray;
		}
		for (unsigned c = 0; c < l->n_cols; c++) {
			to[c] += own[c];
			l->total[c] += own[c];
		}
	}
}

static int compare_insns(const void *a, const void *b)
{
	const struct listing_insn *x = a, *y = b;

	if (x->svma != y->svma)
		return x->svma < y->svma ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

/* The line that the tree of lines has an instruction's amounts at. */
static uint32_t line_around(struct finder *f, node_id n)
{
	struct listing_line at;

	for (; n; n = f->t->parent[n]) {
		const struct scope *sc = &f->t->scopes.scopes.scopes.v[f->t->scope[n]];

		if (sc->kind != SCOPE_ADDRESS && find_place(f, n, &at))
			return listing_find_line(f->l, at.file, at.line);
		if (sc->kind == SCOPE_PROCEDURE)
			break;
	}
	return LINE_NONE;
}

static void take_instructions(struct finder *f)
{
	struct listing *l = f->l;
	size_t k = 0;

	for (node_id n = 1; n < n_nodes(f->t); n++) {
		const struct scope *sc = &f->t->scopes.scopes.scopes.v[f->t->scope[n]];

		if (sc->kind == SCOPE_ADDRESS && is_wanted(f, sc))
			vec_push(&l->insns, (struct listing_insn){.svma = sc->svma,
								  .counts = own_amounts(f->t, n),
								  .line = line_around(f, n)});
	}
	vec_sort(&l->insns, compare_insns);
	for (size_t i = 0; i < l->insns.n; i++) {
		struct listing_insn in = l->insns.v[i];
		double *sum;

		if (k && l->insns.v[k - 1].svma == in.svma) {
			sum = (double *)l->insns.v[k - 1].counts;
		} else {
			sum = listing_new_counts(l);
			l->insns.v[k++] = (struct listing_insn){
				.svma = in.svma, .counts = sum, .line = in.line};
		}
		for (unsigned c = 0; c < l->n_cols; c++)
			sum[c] += in.counts[c];
	}
	l->insns.n = k;
}

/* What is at no line and no instruction is listed as one without either. */
static void add_stray(struct finder *f)
{
	struct listing *l = f->l;

	vec_each (in, &l->insns)
		for (unsigned c = 0; c < l->n_cols; c++)
			f->stray[c] -= in->line == LINE_NONE ? in->counts[c] : 0;
	for (unsigned c = 0; c < l->n_cols; c++) {
		if (!is_counted(f, c) || fabs(f->stray[c]) <= 1e-9 * fabs(l->total[c]))
			continue;
		vec_push(&l->insns, (struct listing_insn){.svma = l->start,
							  .counts = f->stray,
							  .line = LINE_NONE});
		return;
	}
}

static int take_tree(struct finder *f, enum scope_kind level, struct err *err)
{
	const struct hpc_tree_opts o = {.form = TREE_FLAT, .scopes.level = level};
	struct hpc_tree *t;
	int rc = hpc_tree_open(&t, f->q, &o, err);

	if (rc)
		return rc;
	f->t = t;
	if (level == SCOPE_LINE) {
		take_lines(f);
		charge_lines(f);
		if (f->found && !f->several && f->found_image)
			f->l->image = arena_strdup(&f->l->arena, f->found_image);
	} else {
		take_instructions(f);
	}
	tree_source_close(&t->source);
	return 0;
}

int hpc_listing_open(struct listing *l, struct hpc_query *q, const char *name, const char *image,
		     struct sources *sources, struct err *err)
{
	struct finder f = {.l = l, .q = q, .name = name, .image = image};
	int rc;

	*l = (struct listing){.sources = sources, .n_cols = (unsigned)q->cols.n};
	l->code.fd = -1;
	l->total = listing_new_counts(l);
	f.stray = listing_new_counts(l);
	l->of_lines = true;
	err_set(&l->why_no_code, 0, "the database has no instructions");
	rc = take_tree(&f, SCOPE_LINE, err);
	if (!rc && !f.found)
		rc = err_set(err, -ENOENT,
			     "no procedure '%s'%s%s; `dwell prof --by procedure` "
			     "lists those that there are",
			     name, image ? " in " : "", image ? image : "");
	if (!rc && f.several)
		rc = err_set(err, -EINVAL,
			     "procedures called '%s' are in several images, such as %s; name one",
			     name, l->image ? l->image : f.found_image);
	if (!rc)
		rc = take_tree(&f, SCOPE_ADDRESS, err);
	if (!rc) {
		add_stray(&f);
		listing_evaluate(l, &q->columns);
		listing_load_texts(l, -1);
	}
	if (rc)
		listing_close(l);
	return rc;
}
