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
#include "resolve/proc_name.h"

#define MOST_LINES 100000 /* of a procedure; more is not a procedure but a damaged file */

struct finder {
	struct listing *l;
	struct hpc_query *q;
	const char *name, *image; /* as asked for, IMAGE may be NULL */
	struct hpc_tree *t;
	bool is_chosen; /* NAME and IMAGE are those of one procedure */
	double *stray;	/* what is at no line */
};

static bool is_image(const char *have, const char *image)
{
	return !image || strcmp(have, image) == 0 || strcmp(str_basename(have), image) == 0;
}

/* Whether SC is a part of a procedure that is asked for. */
static bool is_wanted(struct finder *f, const struct scope *sc)
{
	const char *image;

	if (sc->kind < SCOPE_PROCEDURE)
		return false;
	image = hpc_scopes_image(&f->t->scopes, sc->image);
	if (f->is_chosen)
		return strcmp(sc->name, f->name) == 0 && strcmp(image, f->image) == 0;
	return (strcmp(sc->name, f->name) == 0 || proc_name_means(sc->name, f->name)) &&
	       is_image(image, f->image);
}

/* Where a file can be read: copies are below the database. */
static const char *place_of(struct finder *f, const char *file)
{
	_str_ struct str s = {0};

	if (!file || *file == '/' || *file == '[' || *file == '<')
		return file;
	str_addf(&s, "%s/%s", f->q->db->path, file);
	return arena_strdup(&f->l->arena, str_get(&s));
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
			l->procedure = f->name;
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
			l->insns.v[k++] = (struct listing_insn){.svma = in.svma,
								.counts = sum,
								.line = in.line,
								.jumps_to = INSN_NONE};
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
							  .line = LINE_NONE,
							  .jumps_to = INSN_NONE});
		return;
	}
}

static int compare_candidates(const void *a, const void *b)
{
	const struct listing_candidate *x = a, *y = b;
	int d;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	d = strcmp(x->procedure, y->procedure);
	return d ? d : strcmp(x->image, y->image);
}

/* Finds all that the name means, and takes the hottest. */
static void choose_procedure(struct finder *f)
{
	struct listing *l = f->l;
	const unsigned col = f->q->columns.hide;

	for (node_id n = 1; n < n_nodes(f->t); n++) {
		const struct scope *sc = &f->t->scopes.scopes.scopes.v[f->t->scope[n]];
		struct listing_candidate *c = NULL;
		const char *image;

		if (!is_wanted(f, sc))
			continue;
		image = hpc_scopes_image(&f->t->scopes, sc->image);
		vec_each (have, &l->candidates)
			if (strcmp(have->procedure, sc->name) == 0 &&
			    strcmp(have->image, image) == 0)
				c = have;
		if (!c) {
			vec_push(&l->candidates,
				 (struct listing_candidate){
					 .procedure = arena_strdup(&l->arena, sc->name),
					 .image = arena_strdup(&l->arena, image)});
			c = &l->candidates.v[l->candidates.n - 1];
		}
		c->samples += own_amounts(f->t, n)[col];
	}
	if (!l->candidates.n)
		return;
	vec_sort(&l->candidates, compare_candidates);
	f->is_chosen = true;
	f->name = l->candidates.v[0].procedure;
	f->image = l->image = l->candidates.v[0].image;
}

static int take_tree(struct finder *f, enum scope_kind level, struct err *err)
{
	const struct hpc_tree_opts o = {.form = TREE_FLAT, .scopes.level = level};
	struct hpc_tree *t;
	int rc = hpc_tree_open(&t, f->q, &o, err);

	if (rc < 0)
		return rc;
	f->t = t;
	if (level == SCOPE_LINE) {
		choose_procedure(f);
		if (f->is_chosen) {
			take_lines(f);
			charge_lines(f);
		}
	} else {
		take_instructions(f);
	}
	tree_source_close(&t->source);
	return 0;
}

int hpc_listing_open(struct listing *l, struct hpc_query *q, const struct listing_opts *o,
		     struct sources *sources, uid_t named_by, struct err *err)
{
	struct finder f = {.l = l, .q = q, .name = o->name, .image = o->image};
	int rc;

	*l = (struct listing){
		.sources = sources, .named_by = named_by, .n_cols = (unsigned)q->cols.n};
	l->code.file.fd = -1;
	if (o->into)
		return err_set(err, -EINVAL,
			       "--into: a database of HPCToolkit has inlined calls as procedures");
	l->total = listing_new_counts(l);
	f.stray = listing_new_counts(l);
	l->of_lines = true;
	err_set(&l->why_no_code, 0, "the database has no instructions");
	rc = take_tree(&f, SCOPE_LINE, err);
	if (rc >= 0 && !f.is_chosen)
		rc = err_set(err, -ENOENT,
			     "no procedure '%s'%s%s; `dwell prof --by procedure` "
			     "lists those that there are",
			     o->name, o->image ? " in " : "", o->image ? o->image : "");
	if (rc >= 0)
		rc = take_tree(&f, SCOPE_ADDRESS, err);
	if (rc >= 0) {
		add_stray(&f);
		listing_evaluate(l, &q->columns);
		listing_load_texts(l, 0);
		listing_find_heat(l, q->columns.hide);
	}
	if (rc < 0)
		listing_close(l);
	return rc;
}
