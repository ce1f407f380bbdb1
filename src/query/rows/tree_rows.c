/* SPDX-License-Identifier: BSD-2-Clause */
/* See tree_rows.h.
 *
 * A row stands for a set of tree nodes.  From the root down that is one node.  Else it is a list of
 * (cur, orig) pairs in order of orig: the samples below or at ORIG, seen from its caller CUR.  The
 * next rows are these lists parted by the scope of CUR's parent.  As nodes are numbered in
 * preorder, those in a list that lie below another one of it are found in one pass, so recursion
 * counts a sample once.
 *
 * Only rows that are shown are opened, so the work is that of what is seen.  Rows to be opened wait
 * on a stack of our own: a path can be ten thousand deep. */
#include "query/rows/tree_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	node_id cur, orig;
};

struct candidate {
	struct tree_row row;
	node_id node;	     /* TREE_DOWN, and groups of owners */
	struct entry *first; /* else its entries, borrowed until they are copied */
	size_t n;
};

struct maker {
	struct tree_source *t;
	const struct tree_rows_opts *o;
	struct tree_rows *ret;
	unsigned n_cols;
	bool derives; /* some columns are made of others */
	double total;
	tree_children opened;
	VEC(struct candidate) children, stack;
	VEC(struct entry) entries, parted;
	uint32_t *n_of;	       /* by scope; all 0 between uses */
	VEC(scope_id) touched; /* scopes with n_of */
	struct err *err;
};

static double tree_rows_weight(const struct maker *m, const struct tree_row *r)
{
	const double *counts = m->o->by_inclusive && r->inclusive ? r->inclusive : r->exclusive;

	return m->n_cols ? counts[m->t->columns.hide] : 0;
}

/* What rows are sorted by; those that have no number of it come last. */
static double sort_key(const struct maker *m, const struct tree_row *r)
{
	const double *counts = m->o->by_inclusive && r->inclusive ? r->inclusive : r->exclusive;

	const struct columns *c = &m->t->columns;

	if (!m->n_cols || isnan(counts[cols_weight(c, c->sort)]))
		return -INFINITY;
	return counts[cols_weight(c, c->sort)];
}

/* N times as many numbers as there are columns, all 0. */
static double *new_counts(struct maker *m, size_t n)
{
	return arena_calloc(&m->ret->arena, n * m->n_cols + 1, sizeof(double));
}

static void add_counts(const struct maker *m, double *to, const double *from)
{
	for (unsigned c = 0; c < m->n_cols; c++)
		to[c] += from[c];
}

/* Makes COUNTS of rows that are complete right: derived columns, and those that do not add up when
 * they are of SEVERAL rows. */
static void finish_counts(const struct maker *m, double *counts, bool several)
{
	const struct columns *cols = &m->t->columns;

	for (unsigned c = 0; counts && several && c < m->n_cols; c++)
		if (!cols->cols.v[c].adds_up)
			counts[c] = NAN;
	if (counts && m->derives)
		cols_evaluate(cols, counts);
}

static bool any_counts(const struct maker *m, const double *counts)
{
	for (unsigned c = 0; c < m->n_cols; c++)
		if (m->t->columns.cols.v[c].adds_up && counts[c] != 0)
			return true;
	return false;
}

/* --- the order of rows --- */

static int compare_texts(const char *a, const char *b)
{
	return a == b ? 0 : strcmp(a ? a : "", b ? b : "");
}

static const struct scope *scope_of(const struct maker *m, scope_id id)
{
	return &m->t->scopes->scopes.v[id];
}

static int compare_scopes(const struct maker *m, scope_id a, scope_id b)
{
	const struct scope *x = scope_of(m, a), *y = scope_of(m, b);
	int d = compare_texts(x->name, y->name);

	if (!d && x->image != y->image && x->image != SCOPE_NO_IMAGE && y->image != SCOPE_NO_IMAGE)
		d = strcmp(m->t->image_name(m->t, x->image), m->t->image_name(m->t, y->image));
	if (!d)
		d = compare_texts(x->file, y->file);
	if (!d)
		d = x->line < y->line ? -1 : x->line > y->line;
	if (!d)
		d = x->svma < y->svma ? -1 : x->svma > y->svma;
	return d ? d : (int)x->inlined - (int)y->inlined;
}

static int compare_candidates(const void *a, const void *b, void *arg)
{
	const struct maker *m = arg;
	const struct tree_row *x = &((const struct candidate *)a)->row,
			      *y = &((const struct candidate *)b)->row;
	const bool tx = scope_of(m, x->scope)->truncated, ty = scope_of(m, y->scope)->truncated;
	double wx = sort_key(m, x), wy = sort_key(m, y);

	if (tx != ty)
		return tx ? 1 : -1;
	if (wx != wy)
		return wx > wy ? -1 : 1;
	for (unsigned c = 0; c < m->n_cols; c++)
		if (isless(x->inclusive[c], y->inclusive[c]) ||
		    isgreater(x->inclusive[c], y->inclusive[c]))
			return x->inclusive[c] > y->inclusive[c] ? -1 : 1;
	return compare_scopes(m, x->scope, y->scope);
}

/* --- hiding --- */

static bool is_shown(const struct maker *m, const struct tree_row *r)
{
	const struct scope *sc = scope_of(m, r->scope);

	if (sc->kind == SCOPE_MARK && r->depth == m->t->n_owner_levels && m->o->form == TREE_DOWN)
		return true;
	return tree_rows_weight(m, r) * 100 >= m->o->least_pct * m->total;
}

/* Whether R, hidden rows together, is a row. */
static bool is_sum_shown(const struct maker *m, const struct tree_row *r)
{
	const double *counts = m->o->form == TREE_DOWN ? r->inclusive : r->exclusive;

	/* Rows that only others' samples pass through, hidden by exclusive counts, hide nothing. */
	if (!r->n_hidden || !any_counts(m, counts))
		return false;
	return !m->o->no_small_sums || r->parent == TREE_ROW_NONE || is_shown(m, r);
}

#define FEW 12 /* are sorted sooner by insertion */

static void sort_children(struct maker *m)
{
	struct candidate *v = m->children.v;

	if (m->children.n > FEW) {
		qsort_r(v, m->children.n, sizeof(*v), compare_candidates, m);
		return;
	}
	for (size_t i = 1; i < m->children.n; i++) {
		const struct candidate c = v[i];
		size_t to = i;

		for (; to && compare_candidates(&v[to - 1], &c, m) > 0; to--)
			v[to] = v[to - 1];
		v[to] = c;
	}
}

/* Sorts the candidates, makes one of those to be hidden, and puts all on the stack, the first one
 * on top, with copies of their entries. */
static void keep_children(struct maker *m)
{
	bool sums = m->o->form == TREE_DOWN;
	struct candidate hidden = {0};
	double *inclusive = NULL, *exclusive = NULL;
	size_t n = 0;

	vec_each (c, &m->children) {
		if (is_shown(m, &c->row)) {
			m->children.v[n++] = *c;
			continue;
		}
		if (!exclusive) {
			hidden.row = c->row;
			hidden.row.exclusive = exclusive = new_counts(m, 1);
			inclusive = sums ? new_counts(m, 1) : NULL;
			hidden.row.inclusive = inclusive;
			hidden.row.scope = 0;
		}
		hidden.row.n_hidden++;
		add_counts(m, exclusive, c->row.exclusive);
		if (inclusive)
			add_counts(m, inclusive, c->row.inclusive);
	}
	m->children.n = n;
	finish_counts(m, inclusive, true);
	finish_counts(m, exclusive, true);
	sort_children(m);
	if (is_sum_shown(m, &hidden.row))
		vec_push(&m->children, hidden);
	n = m->children.n;
	for (size_t i = n; i-- > 0;) {
		struct candidate c = m->children.v[i];

		c.row.only = n == 1;
		c.row.last = i == n - 1;
		c.first = c.n ? xmemdup(c.first, c.n * sizeof(*c.first)) : NULL;
		vec_push(&m->stack, c);
	}
	m->children.n = 0;
}

/* --- from the root down --- */

/* Rows of owners above procedures have as exclusive what these add up to. */
static void add_child(struct maker *m, struct tree_child child, uint32_t parent, uint32_t depth)
{
	double *inclusive = new_counts(m, 2), *exclusive = inclusive + m->n_cols;

	m->t->amounts(m->t, child.node, inclusive, exclusive);
	finish_counts(m, inclusive, false);
	finish_counts(m, exclusive, false);
	vec_push(&m->children,
		 (struct candidate){
			 .row = {parent, depth, child.scope, .inclusive = inclusive,
				 .exclusive = m->o->form == TREE_DOWN ? exclusive : inclusive,
				 .node = child.node},
			 .node = child.node,
		 });
}

static int add_children(struct maker *m, node_id node, uint32_t parent, uint32_t depth)
{
	struct tree_source *t = m->t;
	int rc = 0;

	if (!t->end) {
		m->opened.n = 0;
		rc = t->open(t, node, &m->opened, m->err);
		vec_each (c, &m->opened)
			add_child(m, *c, parent, depth);
		return rc;
	}
	for (node_id i = node + 1; i < t->end[node]; i = t->end[i])
		add_child(m, (struct tree_child){i, t->scope[i]}, parent, depth);
	return rc;
}

/* --- procedures and their callers --- */

/* The counts of the nodes that N entries begin with, each sample once. */
static void sum_entries(struct maker *m, const struct entry *e, size_t n, struct tree_row *row)
{
	double *inclusive = new_counts(m, 2), *exclusive = inclusive + m->n_cols;
	node_id covered = 0;

	for (size_t i = 0; i < n; i++) {
		bool is_new = e[i].orig >= covered;

		m->t->amounts(m->t, e[i].orig, is_new ? inclusive : NULL, exclusive);
		if (is_new)
			covered = m->t->end[e[i].orig];
	}
	finish_counts(m, inclusive, n > 1);
	finish_counts(m, exclusive, n > 1);
	row->inclusive = inclusive;
	row->exclusive = exclusive;
}

/* Parts m->entries by the scope of CUR, keeping their order: a candidate for each scope. */
static void part_entries(struct maker *m, uint32_t parent, uint32_t depth)
{
	const struct tree_source *t = m->t;
	uint32_t at = 0;

	vec_each (e, &m->entries) {
		scope_id s = t->scope[e->cur];

		if (m->n_of[s]++ == 0)
			vec_push(&m->touched, s);
	}
	vec_each (s, &m->touched) {
		uint32_t n = m->n_of[*s];

		vec_push(&m->children, (struct candidate){.row = {parent, depth, *s}, .n = n});
		m->n_of[*s] = at;
		at += n;
	}
	m->parted.n = 0;
	vec_reserve(&m->parted, m->entries.n);
	vec_each (e, &m->entries)
		m->parted.v[m->n_of[t->scope[e->cur]]++] = *e;
	at = 0;
	vec_each (c, &m->children) {
		c->first = m->parted.v + at;
		at += (uint32_t)c->n;
		sum_entries(m, c->first, c->n, &c->row);
	}
	vec_each (s, &m->touched)
		m->n_of[*s] = 0;
	m->touched.n = 0;
}

/* All nodes below the group of owners (or the root) NODE, each as what was sampled. */
static void add_procedures(struct maker *m, node_id node, uint32_t parent, uint32_t depth)
{
	const struct tree_source *t = m->t;

	m->entries.n = 0;
	vec_reserve(&m->entries, (size_t)(t->end[node] - node));
	for (node_id i = node + 1; i < t->end[node]; i++)
		if (!t->is_listed || t->is_listed(m->t, i))
			m->entries.v[m->entries.n++] = (struct entry){i, i};
	part_entries(m, parent, depth);
}

static void add_callers(struct maker *m, const struct entry *e, size_t n, uint32_t parent,
			uint32_t depth)
{
	const struct tree_source *t = m->t;

	m->entries.n = 0;
	for (size_t i = 0; i < n; i++) {
		node_id up = t->parent[e[i].cur];
		const struct scope *sc = scope_of(m, t->scope[up]);

		if (sc->kind != SCOPE_ROOT && sc->kind != SCOPE_OWNER)
			vec_push(&m->entries, (struct entry){up, e[i].orig});
	}
	part_entries(m, parent, depth);
}

/* --- all --- */

/* Finds what is below row PARENT, which C was; for the root C is a candidate of node 0. */
static int open_row(struct maker *m, const struct candidate *c, uint32_t parent, uint32_t depth)
{
	int rc = 0;

	if (c->row.n_hidden || (m->o->max_depth && depth >= m->o->max_depth))
		return 0;
	if (m->o->form == TREE_DOWN || depth < m->t->n_owner_levels)
		rc = add_children(m, c->node, parent, depth);
	else if (depth == m->t->n_owner_levels)
		add_procedures(m, c->node, parent, depth);
	else if (m->o->form == TREE_CALLERS)
		add_callers(m, c->first, c->n, parent, depth);
	if (rc >= 0)
		keep_children(m);
	return rc;
}

int tree_rows_init(struct tree_rows *ret, struct tree_source *s, const struct tree_rows_opts *o,
		   struct err *err)
{
	struct maker m = {
		.t = s, .o = o, .ret = ret, .n_cols = (unsigned)s->columns.cols.n, .err = err};
	int rc;

	*ret = (struct tree_rows){0};
	m.derives = cols_derive_any(&s->columns);
	m.total = m.n_cols ? s->columns.cols.v[s->columns.hide].total : 0;
	if (s->end)
		m.n_of = xcalloc(s->scopes->scopes.n + 1, sizeof(*m.n_of));
	rc = open_row(&m, &(struct candidate){0}, TREE_ROW_NONE, 0);
	while (m.stack.n && rc >= 0) {
		struct candidate c = m.stack.v[--m.stack.n];
		uint32_t row = (uint32_t)ret->rows.n;

		vec_push(&ret->rows, c.row);
		rc = open_row(&m, &c, row, c.row.depth + 1);
		free(c.first);
	}
	vec_each (c, &m.stack)
		free(c->first);
	free(m.n_of);
	vec_release(&m.opened);
	vec_release(&m.children);
	vec_release(&m.stack);
	vec_release(&m.entries);
	vec_release(&m.parted);
	vec_release(&m.touched);
	return rc;
}

void tree_rows_release(struct tree_rows *r)
{
	vec_release(&r->rows);
	arena_release(&r->arena);
}
