/* SPDX-License-Identifier: BSD-2-Clause */
/* See views.h. */
#include "tui/views.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "query/compare/diff.h"
#include "tui/help.h"
#include "view/diff.h"
#include "view/prof.h"
#include "view/tree.h"

/* Rows of a table and of changes: more are there, and nobody scrolls so far. */
#define MOST_ROWS 5000

void view_release(struct view *v)
{
	free(v->procedure);
	free(v->image);
	folds_release(&v->folds);
	pane_release(&v->pane);
	*v = (struct view){0};
}

/* --- what rows are, and what they are sorted by --- */

static const struct table_by {
	const char *name;
	struct row_by by;
	enum scope_kind level;
	bool of_owners;
} table_bys[] = {
	{"procedures", {{ROW_KEY_PROCEDURE}, 1}, SCOPE_PROCEDURE, false},
	{"images", {{ROW_KEY_IMAGE}, 1}, SCOPE_IMAGE, false},
	{"commands", {{OWNER_KEY_COMM}, 1}, SCOPE_ROOT, true},
	{"procedures of commands", {{OWNER_KEY_COMM, ROW_KEY_PROCEDURE}, 2}, SCOPE_PROCEDURE, true},
	{"cgroups", {{OWNER_KEY_CGROUP}, 1}, SCOPE_ROOT, true},
	{"addresses", {{ROW_KEY_PROCEDURE}, 1}, SCOPE_ADDRESS, false},
};

/* Whether rows of S can be B. */
static bool by_is_there(const struct table_by *b, const struct source *s)
{
	if (!b->of_owners)
		return true;
	if (s->ops->why_not(s, SOURCE_OWNERS) || !s->query)
		return false;
	return owner_key_check(s->query->profile, b->by.keys[0], NULL) >= 0;
}

bool view_next_by(struct view *v, const struct source *s)
{
	const unsigned was = v->by;

	if (v->kind != VIEW_TABLE)
		return false;
	do
		v->by = (v->by + 1) % (unsigned)n_elems(table_bys);
	while (v->by != was && !by_is_there(&table_bys[v->by], s));
	return v->by != was;
}

/* The columns of S that are shown, each with its exclusive and then its inclusive numbers, are the
 * keys; trees begin with the inclusive ones. */
static unsigned sort_column(const struct view *v, const struct source *s, bool *ret_inclusive)
{
	unsigned *order = xcalloc(s->columns.cols.n + 1, sizeof(*order));
	const unsigned n = cols_order(&s->columns, order);
	const unsigned column = n ? order[v->sort / 2 % n] : 0;
	const bool tree_down = v->kind == VIEW_TREE && v->form == TREE_DOWN;

	*ret_inclusive = (v->sort % 2 == 1) != tree_down;
	free(order);
	return column;
}

bool view_next_sort(struct view *v, const struct source *s)
{
	unsigned *order = xcalloc(s->columns.cols.n + 1, sizeof(*order));
	const unsigned n = 2 * cols_order(&s->columns, order);

	free(order);
	if (n < 2 || (v->kind != VIEW_TABLE && v->kind != VIEW_TREE))
		return false;
	v->sort = (v->sort + 1) % n;
	return true;
}

void view_add_sort(const struct view *v, const struct source *s, struct str *out)
{
	bool inclusive;
	const unsigned c = sort_column(v, s, &inclusive);

	if (!s->columns.cols.n)
		return;
	text_show(out, s->columns.cols.v[c].title);
	str_add(out, inclusive ? ", inclusive" : ", exclusive");
}

void view_add_title(const struct view *v, struct str *out)
{
	switch (v->kind) {
	case VIEW_TABLE:
		str_add(out, table_bys[v->by].name);
		break;
	case VIEW_TREE:
		str_add(out, v->form == TREE_DOWN ? "tree" : "tree of callers");
		break;
	case VIEW_NEIGHBOURS:
		str_add(out, v->neighbour == NEIGHBOUR_CALLERS ? "callers of " : "callees of ");
		text_show(out, v->procedure);
		break;
	case VIEW_CODE:
		text_show(out, v->procedure);
		break;
	case VIEW_CHANGES:
		str_add(out, "changes");
		break;
	case VIEW_HELP:
		str_add(out, "help");
		break;
	}
}

/* --- filling --- */

/* A document that is being written; it becomes V's when all went well. */
struct filling {
	struct view *v;
	const struct view_input *in;
	struct pane pane;
	struct emit emit;
	size_t open_at; /* where a listing opens: its line from 1; 0: at the top */
};

static void note_row(struct filling *f, const char *procedure, const char *image, uint64_t id)
{
	struct arena *a = &f->pane.arena;

	vec_push(&f->pane.rows, (struct pane_row){
					.procedure = procedure ? arena_strdup(a, procedure) : NULL,
					.image = image ? arena_strdup(a, image) : NULL,
					.id = id,
				});
}

/* The path that names IMAGE of S; NULL: none does. */
static const char *file_of(struct source *s, image_id image)
{
	return image == SCOPE_NO_IMAGE ? NULL : s->ops->image(s, image).file;
}

/* What a row of a table is, whatever second it is of. */
static uint64_t flat_row_id(const struct flat *f, const struct flat_row *r, const char *file)
{
	uint64_t id =
		hash_pair(hash_str(file ? file : ""), hash_str(r->procedure ? r->procedure : ""));

	if (f->level == SCOPE_ADDRESS)
		id = hash_pair(id, r->svma);
	if (f->source->query && f->by.n && f->by.keys[0] < N_OWNER_KEYS) {
		const struct profile *p = f->source->query->profile;
		const struct owner *o = &p->owners.v[r->member];

		id = hash_pair(id, owner_key_is_number(f->by.keys[0])
					   ? owner_value(o, f->by.keys[0])
					   : hash_str(owner_text(p, o, f->by.keys[0])));
	}
	return id;
}

static void print_flat(struct filling *x, struct flat *f)
{
	const struct prof_opts po = {.no_header = f->whose.procedure == NULL};

	vec_each (r, &f->rows) {
		const char *file = file_of(f->source, r->image);
		const bool named = r->kind >= SCOPE_PROCEDURE && !r->nameless;

		note_row(x, named ? r->procedure : NULL, file, flat_row_id(f, r, file));
	}
	prof_emit(&x->emit, f, &po);
}

static int fill_table(struct filling *x, struct err *err)
{
	struct source *s = x->in->source;
	const struct table_by *by = &table_bys[x->v->by];
	struct flat_opts o = {.by = by->by, .level = by->level, .keep_pct = 100};
	struct flat f = {0};
	bool inclusive;
	int rc;

	s->columns.sort = sort_column(x->v, s, &inclusive);
	o.most = x->in->most_rows ? x->in->most_rows : MOST_ROWS;
	o.inclusive = by->level != SCOPE_ROOT && by->level != SCOPE_ADDRESS;
	o.by_inclusive = o.inclusive && inclusive;
	rc = source_flat(s, &o, &f, err);
	if (rc >= 0)
		print_flat(x, &f);
	flat_release(&f);
	return rc;
}

static int fill_neighbours(struct filling *x, struct err *err)
{
	const struct neighbour_opts o = {
		.kind = x->v->neighbour, .procedure = x->v->procedure, .keep_pct = 100};
	struct flat f = {0};
	int rc = source_neighbours(x->in->source, &o, &f, err);

	if (rc >= 0)
		print_flat(x, &f);
	flat_release(&f);
	return rc;
}

static void print_tree(struct filling *x, struct tree_source *t, const struct tree_rows *all)
{
	struct shown_rows shown;
	struct tree_emit_opts o = {.form = x->v->form, .no_header = true, .rows_by = "procedure"};

	shown_rows_find(&shown, &x->v->folds, all, t);
	o.folded = shown.folded.v;
	vec_each (r, &shown.rows.rows) {
		const size_t i = (size_t)(r - shown.rows.rows.v);
		const struct scope *sc = &t->scopes->scopes.v[r->scope];
		const bool named = sc->kind == SCOPE_PROCEDURE && !sc->nameless;

		note_row(x, named ? sc->name : NULL, file_of(x->in->source, sc->image),
			 shown.ids.v[i]);
		x->pane.rows.v[i].can_fold = shown.can_fold.v[i];
		x->pane.rows.v[i].is_folded = shown.folded.v[i];
	}
	tree_emit(&x->emit, t, &shown.rows, &o);
	shown_rows_release(&shown);
}

static int fill_tree(struct filling *x, struct err *err)
{
	struct source *s = x->in->source;
	const struct tree_opts o = {.scopes.level = SCOPE_PROCEDURE};
	struct tree_rows_opts ro = {.form = x->v->form};
	struct tree_source *t = NULL;
	struct tree_rows rows = {0};
	int rc;

	s->columns.sort = sort_column(x->v, s, &ro.by_inclusive);
	rc = source_tree(s, &o, x->v->form, &t, err);
	if (rc >= 0)
		rc = tree_rows_init(&rows, t, &ro, err);
	if (rc >= 0)
		print_tree(x, t, &rows);
	tree_rows_release(&rows);
	tree_source_close(t);
	return rc;
}

static int fill_code(struct filling *x, struct err *err)
{
	const struct listing_opts o = {.name = x->v->procedure, .image = x->v->image};
	struct list_opts lo = {.no_header = true};
	struct sources *sources = sources_new();
	struct listing l;
	struct err *missing = &x->v->missing;
	int rc = source_listing(x->in->source, &o, sources, &l, err);

	if (rc >= 0) {
		lo.mode = list_mode_for(&l, x->v->mode, missing);
		x->open_at = list_emit(&x->emit, x->in->source, &l, &lo);
		if (!l.of_lines && !l.has_code && lo.mode != LIST_SOURCE)
			err_set(missing, -ENOENT, "no instructions, only addresses: %s",
				l.why_no_code.msg);
		if (missing->msg[0])
			emit_text(&x->emit, "%s\n", missing->msg);
		listing_close(&l);
	}
	sources_free(sources);
	return rc;
}

static int fill_changes(struct filling *x, struct err *err)
{
	const struct diff_opts o = {.level = SCOPE_PROCEDURE, .alpha = 0.05};
	const struct diff_view dv = {
		.all = true, .alpha = o.alpha, .names = {x->in->names[0], x->in->names[1]}};
	struct diff d;
	int rc;

	if (!x->in->other)
		return err_set(err, -ENOENT, "nothing to compare with yet");
	rc = diff_init(&d, x->in->other, x->in->source, &o, err);
	if (rc < 0)
		return rc;
	vec_each (r, &d.rows)
		if (diff_shows(&dv, r))
			note_row(x, r->row->procedure, r->row->image,
				 hash_pair(hash_str(r->row->procedure ? r->row->procedure : ""),
					   hash_str(r->row->image ? r->row->image : "")));
	diff_emit(&x->emit, &d, &dv);
	diff_release(&d);
	return 0;
}

static int fill_help(struct filling *x)
{
	str_add(x->emit.out, tui_help);
	return 0;
}

static int fill_kind(struct filling *x, struct err *err)
{
	switch (x->v->kind) {
	case VIEW_TABLE:
		return fill_table(x, err);
	case VIEW_TREE:
		return fill_tree(x, err);
	case VIEW_NEIGHBOURS:
		return fill_neighbours(x, err);
	case VIEW_CODE:
		return fill_code(x, err);
	case VIEW_CHANGES:
		return fill_changes(x, err);
	default:
		return fill_help(x);
	}
}

int view_fill(struct view *v, const struct view_input *in, struct err *err)
{
	struct filling x = {.v = v, .in = in};
	const struct pane_row *at = pane_row(&v->pane);
	const uint64_t id = at ? at->id : 0;
	const bool is_new = !v->pane.text.n;
	int rc;

	x.emit = (struct emit){
		.out = &x.pane.text,
		.format = EMIT_TABLE,
		.terminal = true,
		.colour = in->colour,
		.width = in->width < 20 ? 20 : in->width,
		.table_alone = true,
		.no_notes = in->live,
	};
	rc = fill_kind(&x, err);
	if (rc < 0) {
		pane_release(&x.pane);
		return rc;
	}
	if (!x.pane.text.n && (v->kind == VIEW_TABLE || v->kind == VIEW_TREE))
		str_add(&x.pane.text, in->live ? "No samples: nothing that is shown here ran.\n"
					       : "No samples.\n");
	x.pane.cursor = v->pane.cursor;
	x.pane.top = v->pane.top;
	x.pane.skip = v->pane.skip;
	x.pane.moved = v->pane.moved;
	pane_release(&v->pane);
	v->pane = x.pane;
	v->is_short = in->most_rows && v->kind == VIEW_TABLE;
	pane_settle(&v->pane, x.emit.rows_at, x.emit.rows_end);
	if (is_new && x.open_at > v->pane.head)
		pane_go(&v->pane, x.open_at - 1 - v->pane.head);
	else if (id && v->pane.moved)
		pane_find_row(&v->pane, id);
	return 0;
}
