/* SPDX-License-Identifier: BSD-2-Clause */
/* See tree.h.
 *
 *     inclusive       %  parent%  exclusive       %  procedure
 *            90  90.00%  100.00%          0   0.00%  _start [prog]
 *            90  90.00%  100.00%         10  10.00%  main
 *            60  60.00%   66.67%         60  60.00%  ├ hot
 *            20  20.00%   22.22%          0   0.00%  └ read [libc.so.6]
 *
 * The only row below another one stands straight beneath it, so that indentation grows with
 * branches, not with depth.  An image is named where it is another one than the row's before.  On a
 * screen names are cut so that the guides in front of them stay; when these take more than half of
 * the room, the outer ones become their number. */
#include "view/tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/amounts.h"
#include "view/about.h"

struct guides {
	VEC(bool) more;	      /* by guide: another row follows below */
	VEC(uint32_t) n_upto; /* by depth: guides down to the last row there */
};

struct printer {
	struct emit *e;
	struct tree_source *t;
	const struct tree_rows *rows;
	const struct tree_emit_opts *o;
	unsigned *order, n_shown;
	struct amounts *amounts; /* by column */
	struct emit_col *cols;
	unsigned n_cols;
	struct emit_cell *cells;
	struct guides guides;
	bool several_roots;
	struct arena arena;
};

/* --- columns --- */

static void add_col(struct printer *p, struct emit_col col)
{
	p->cols[p->n_cols++] = col;
}

/* The states of threads are one narrow column each beside another one. */
static bool is_narrow_column(const struct printer *p, const struct column *c)
{
	return c->kind == COLUMN_TIME && c != &p->t->columns.cols.v[p->order[0]];
}

/* The title of the table's column that shows WHAT, "incl" or "excl", of C. */
static const char *tree_title(struct printer *p, const struct column *c, const char *what)
{
	const bool is_only = p->n_shown == 1;
	_str_ struct str s = {0};

	if (is_only)
		str_addf(&s, "%susive%s", what, c->kind == COLUMN_TIME ? "(s)" : "");
	else if (is_narrow_column(p, c))
		str_add(&s, c->name);
	else
		str_addf(&s, "%s %s", c->title, what);
	return arena_strdup(&p->arena, str_get(&s));
}

/* In CSV a heading says all; in JSON the group does a part. */
static const char *key(struct printer *p, const char *group, const char *event)
{
	_str_ struct str s = {0};

	if (p->e->format != EMIT_CSV)
		return event;
	str_addf(&s, "%s %s", group, event);
	return arena_strdup(&p->arena, str_get(&s));
}

static void make_cols(struct printer *p)
{
	const struct columns *cols = &p->t->columns;
	const unsigned data = EMIT_IN_JSON | EMIT_IN_CSV;

	p->amounts = xcalloc(cols->cols.n + 1, sizeof(*p->amounts));
	vec_each (r, &p->rows->rows) {
		amounts_note(p->amounts, cols, r->inclusive);
		amounts_note(p->amounts, cols, r->exclusive);
	}
	p->order = xcalloc(cols->cols.n + 1, sizeof(*p->order));
	p->n_shown = cols_order(cols, p->order);
	p->cols = xcalloc((7 + 2 * MOST_MORE_COLS) * p->n_shown + 21, sizeof(*p->cols));
	add_col(p, (struct emit_col){"id", NULL, EMIT_U64, .in = data});
	add_col(p, (struct emit_col){"parent", NULL, EMIT_U64, .in = data});
	add_col(p, (struct emit_col){"depth", NULL, EMIT_U64, .in = data});
	for (unsigned i = 0; i < p->n_shown; i++) {
		const struct column *c = &cols->cols.v[p->order[i]];
		const struct column *first = &cols->cols.v[p->order[0]];
		const struct amounts *a =
			&p->amounts[p->order[c->kind == COLUMN_TIME && first->kind == COLUMN_TIME
						     ? 0
						     : i]];
		const bool is_narrow = is_narrow_column(p, c);
		const unsigned percent = c->adds_up && !is_narrow ? EMIT_IN_TABLE : EMIT_IN_NONE;

		add_col(p, amount_col(c, a, key(p, "inclusive", c->name), tree_title(p, c, "incl"),
				      "inclusive", 0));
		p->cols[p->n_cols - 1].spare = i && !is_narrow ? 1 : 0;
		add_col(p, (struct emit_col){"percent", "%", EMIT_PERCENT, .in = percent,
					     .hot = true, .spare = i ? EMIT_SPARE_UNSAID : 0});
		if (i == 0 && p->o->form != TREE_FLAT)
			add_col(p,
				(struct emit_col){"parent_percent", "parent%", EMIT_PERCENT,
						  .in = percent, .spare = EMIT_SPARE_UNSAID + 1});
		p->n_cols += amounts_more_cols(cols, p->order[i], a, "_inclusive", &p->arena,
					       p->cols + p->n_cols);
		add_col(p, amount_col(c, a, key(p, "exclusive", c->name), tree_title(p, c, "excl"),
				      "exclusive", is_narrow ? data : 0));
		p->cols[p->n_cols - 1].spare = EMIT_SPARE_UNSAID;
		add_col(p, (struct emit_col){"exclusive_percent", "excl%", EMIT_PERCENT,
					     .in = percent, .hot = true, .spare = i ? 3 : 2});
		if (c->weight) {
			const struct column *w = &cols->cols.v[c->weight - 1];

			add_col(p, amount_col(w, NULL, key(p, "inclusive_weight", w->name), NULL,
					      "inclusive_weights", data));
			add_col(p, amount_col(w, NULL, key(p, "exclusive_weight", w->name), NULL,
					      "exclusive_weights", data));
		}
		p->n_cols +=
			amounts_more_cols(cols, p->order[i], a, "", &p->arena, p->cols + p->n_cols);
	}
	add_col(p, (struct emit_col){"text", scope_kind_name(p->t->level), EMIT_STR,
				     .in = EMIT_IN_TABLE, .cut = TEXT_FILL});
	add_col(p, (struct emit_col){"kind", NULL, EMIT_STR, .in = data});
	add_col(p, (struct emit_col){"name", NULL, EMIT_STR, .in = data});
	add_col(p, (struct emit_col){"image", NULL, EMIT_STR, .in = data});
	add_col(p, (struct emit_col){"image_kind", NULL, EMIT_STR, .in = data});
	add_col(p, (struct emit_col){"svma", NULL, EMIT_HEX, .in = data});
	add_col(p, (struct emit_col){"file", NULL, EMIT_STR, .in = data});
	add_col(p, (struct emit_col){"line", NULL, EMIT_U64, .in = data});
	add_col(p, (struct emit_col){"inlined", NULL, EMIT_U64, .in = data});
	add_col(p, (struct emit_col){"hidden", NULL, EMIT_U64, .in = data});
	add_col(p, (struct emit_col){"contexts", NULL, EMIT_STR,
				     .in = p->t->contexts ? data : EMIT_IN_NONE});
	p->cells = xcalloc(p->n_cols, sizeof(*p->cells));
}

/* --- names --- */

static const struct scope *scope_of(const struct printer *p, const struct tree_row *r)
{
	return &p->t->scopes->scopes.v[r->scope];
}

static const char *basename_of(const char *path)
{
	const char *base = str_basename(path);

	return *path == '[' || !*base ? path : base;
}

/* Whether the name of a procedure ends with " [IMAGE]" already: HPCToolkit names those so that it
 * knows no source file of. */
static bool says_image(const char *name, const char *image)
{
	size_t n = strlen(name), k = strlen(image);

	return n > k + 2 && name[n - 1] == ']' && name[n - k - 2] == '[' &&
	       memcmp(name + n - k - 1, image, k) == 0;
}

/* " [libc.so.6]" when it is another image than the row's above; always for the kernel's. */
static void add_image(struct str *s, struct printer *p, const struct tree_row *r,
		      const struct scope *sc)
{
	const struct scope *up =
		r->parent == TREE_ROW_NONE ? NULL : scope_of(p, &p->rows->rows.v[r->parent]);
	const char *name;

	if (sc->kind <= SCOPE_IMAGE || sc->image == SCOPE_NO_IMAGE)
		return;
	if (up && up->image == sc->image && !p->t->is_kernel(p->t, sc))
		return;
	name = p->t->image_name(p->t, sc->image);
	if (strcmp(name, "[unknown]") == 0)
		return;
	name = basename_of(name);
	if (says_image(sc->name, name))
		return;
	str_addc(s, ' ');
	if (*name != '[')
		str_addc(s, '[');
	text_show(s, name);
	if (*name != '[')
		str_addc(s, ']');
}

/* Whether the row above says which procedure this is a part of. */
static bool is_part_of_above(const struct printer *p, const struct tree_row *r,
			     const struct scope *sc)
{
	const struct scope *up =
		r->parent == TREE_ROW_NONE ? NULL : scope_of(p, &p->rows->rows.v[r->parent]);

	return sc->nested && up && p->o->form == TREE_DOWN && strcmp(up->name, sc->name) == 0;
}

/* "prog.c:12", "[no line]", "loop at prog.c:12", "0x401000"; nothing for a procedure. */
static void add_where(struct str *s, const struct scope *sc)
{
	if (sc->kind == SCOPE_LOOP)
		str_add(s, "loop at ");
	if (sc->kind == SCOPE_LOOP || (sc->kind == SCOPE_LINE && sc->line)) {
		text_show(s, str_basename(sc->file ? sc->file : "?"));
		str_addf(s, ":%" PRIu32, sc->line);
	} else if (sc->kind == SCOPE_LINE) {
		str_add(s, "[no line]");
	}
	if (sc->kind == SCOPE_ADDRESS)
		str_addf(s, "%#" PRIx64, sc->svma);
}

/* What stands behind the name of a row's scope. */
static void add_rest(struct str *s, struct printer *p, const struct tree_row *r,
		     const struct scope *sc)
{
	if (sc->inlined)
		str_add(s, " (inlined)");
	if (is_part_of_above(p, r, sc))
		return;
	if (sc->kind == SCOPE_LOOP || sc->kind == SCOPE_ADDRESS ||
	    (sc->kind == SCOPE_LINE && sc->line)) {
		str_addc(s, ' ');
		add_where(s, sc);
	}
	add_image(s, p, r, sc);
}

static void add_name(struct str *s, const struct printer *p, const struct scope *sc,
		     const struct tree_row *r)
{
	if (r->n_hidden) {
		str_addf(s, "(%" PRIu32 " hidden)", r->n_hidden);
		return;
	}
	if (sc->kind == SCOPE_OWNER && owner_key_is_number(sc->owner))
		str_addf(s, "%s ", owner_key_name(sc->owner));
	if (is_part_of_above(p, r, sc))
		add_where(s, sc);
	else
		emit_add_name(p->e, s, sc->name);
}

/* --- guides --- */

/* Whether R stands indented below its parent rather than straight beneath it. */
static bool is_branch(const struct printer *p, const struct tree_row *r)
{
	const struct tree_row *up;

	if (r->parent == TREE_ROW_NONE)
		return false;
	up = &p->rows->rows.v[r->parent];
	return !r->only || scope_of(p, up)->kind == SCOPE_OWNER ||
	       (up->parent == TREE_ROW_NONE && p->several_roots);
}

/* Appends the guides in front of R's name and returns their width. */
static size_t add_guides(struct str *s, struct printer *p, const struct tree_row *r,
			 size_t all_room)
{
	struct guides *g = &p->guides;
	uint32_t n = r->depth ? g->n_upto.v[r->depth - 1] : 0, from = 0;
	bool branch = is_branch(p, r);
	size_t width = 0, before;

	g->n_upto.n = r->depth;
	vec_push(&g->n_upto, n + branch);
	g->more.n = n;
	if (branch)
		vec_push(&g->more, !r->last);
	if (all_room != SIZE_MAX && 2 * (size_t)(n + branch) > all_room / 2) {
		from = n + branch - (uint32_t)(all_room / 8);
		before = s->n;
		str_addf(s, "+%" PRIu32 " ", from);
		width = s->n - before;
	}
	for (uint32_t i = from; i < n; i++, width += 2)
		str_add(s, g->more.v[i] ? "│ " : "  ");
	if (branch) {
		str_add(s, r->last ? "└ " : "├ ");
		width += 2;
	}
	return width;
}

/* The text of row NUMBER, in ALL_ROOM columns. */
static void fill_row(void *ctx, uint64_t number, size_t all_room, struct str *ret)
{
	struct printer *p = ctx;
	const struct tree_row *r = &p->rows->rows.v[number];
	const struct scope *sc = scope_of(p, r);
	struct str name = {0}, rest = {0};
	size_t used = add_guides(ret, p, r, all_room), room, rest_width;

	if (p->o->folded && p->o->folded[number])
		str_add(&name, "+ ");
	add_name(&name, p, sc, r);
	if (!r->n_hidden)
		add_rest(&rest, p, r, sc);
	if (all_room == SIZE_MAX) {
		str_add(ret, str_get(&name));
		str_add(ret, str_get(&rest));
	} else {
		rest_width = text_width(str_get(&rest));
		room = all_room > used ? all_room - used : 0;
		room = room < 12 ? 12 : room;
		/* The name gives way before what is behind it, down to half of the room. */
		if (rest_width > room / 2 && text_width(str_get(&name)) + rest_width > room)
			rest_width = room / 2;
		text_add_cut(ret, str_get(&name), TEXT_NAME, room - rest_width);
		if (rest.n)
			text_add_cut(ret, rest.v, TEXT_END, rest_width);
	}
	str_release(&name);
	str_release(&rest);
}

/* --- rows --- */

static struct emit_cell *count_cells(struct printer *p, struct emit_cell *cell,
				     const struct tree_row *r)
{
	const struct columns *cols = &p->t->columns;
	const double *up = r->parent == TREE_ROW_NONE ? NULL : p->rows->rows.v[r->parent].inclusive;
	const struct emit_cell none = {.none = true};

	for (unsigned i = 0; i < p->n_shown; i++) {
		const unsigned k = p->order[i], w = cols_weight(cols, k);
		const double whole = cols->cols.v[w].total;

		*cell++ = r->inclusive ? amount_cell(p->e, cols, k, r->inclusive) : none;
		*cell++ = r->inclusive ? percent_cell(r->inclusive[w], whole) : none;
		if (i == 0 && p->o->form != TREE_FLAT)
			*cell++ = r->inclusive ? percent_cell(r->inclusive[w], up ? up[w] : whole)
					       : none;
		cell += amounts_more_cells(p->e, cols, k, r->inclusive, !r->inclusive, cell);
		*cell++ = amount_cell(p->e, cols, k, r->exclusive);
		*cell++ = percent_cell(r->exclusive[w], whole);
		if (w != k) {
			*cell++ = r->inclusive ? amount_cell(p->e, cols, w, r->inclusive) : none;
			*cell++ = amount_cell(p->e, cols, w, r->exclusive);
		}
		cell += amounts_more_cells(p->e, cols, k, r->exclusive, false, cell);
	}
	return cell;
}

static const char *kind_text(const struct tree_row *r, const struct scope *sc)
{
	if (r->n_hidden)
		return "hidden";
	return sc->kind == SCOPE_OWNER ? owner_key_name(sc->owner) : scope_kind_name(sc->kind);
}

static const char *contexts_text(struct printer *p, const struct tree_row *r)
{
	_str_ struct str s = {0};

	if (!p->t->contexts || r->n_hidden || p->e->format == EMIT_TABLE)
		return NULL;
	p->t->contexts(p->t, r->node, &s);
	return arena_strdup(&p->arena, str_get(&s));
}

static void emit_tree_row(struct printer *p, const struct tree_row *r)
{
	const struct scope *sc = scope_of(p, r);
	bool of_image = !r->n_hidden && sc->image != SCOPE_NO_IMAGE && sc->kind != SCOPE_MARK;
	bool has_svma = of_image && (sc->proc != PROC_NONE || sc->kind == SCOPE_ADDRESS);
	struct emit_cell *cell = p->cells;

	*cell++ = (struct emit_cell){.u = (uint64_t)(r - p->rows->rows.v)};
	*cell++ = (struct emit_cell){.u = r->parent, .none = r->parent == TREE_ROW_NONE};
	*cell++ = (struct emit_cell){.u = r->depth};
	cell = count_cells(p, cell, r);
	*cell++ = (struct emit_cell){.u = (uint64_t)(r - p->rows->rows.v)};
	*cell++ = (struct emit_cell){.s = kind_text(r, sc)};
	*cell++ = (struct emit_cell){.s = r->n_hidden ? NULL : sc->name};
	*cell++ = (struct emit_cell){.s = of_image ? p->t->image_name(p->t, sc->image) : NULL};
	*cell++ = (struct emit_cell){.s = of_image ? p->t->image_kind(p->t, sc->image) : NULL};
	*cell++ = (struct emit_cell){.u = sc->svma, .none = !has_svma};
	*cell++ = (struct emit_cell){.s = sc->file};
	*cell++ = (struct emit_cell){.u = sc->line, .none = !sc->line};
	*cell++ = (struct emit_cell){.u = sc->inlined, .none = !of_image};
	*cell++ = (struct emit_cell){.u = r->n_hidden, .none = !r->n_hidden};
	*cell++ = (struct emit_cell){.s = contexts_text(p, r)};
	emit_row(p->e, p->cells);
}

/* Whether people see R's numbers in the row above it, whose inclusive and exclusive counts differ
 * by them: all it called is hidden. */
static bool is_told_above(const struct printer *p, const struct tree_row *r)
{
	return p->e->format == EMIT_TABLE && p->o->form == TREE_DOWN && r->n_hidden && r->only &&
	       r->parent != TREE_ROW_NONE;
}

/* --- all --- */

static void emit_rows(struct emit *e, struct tree_source *t, const struct tree_rows *rows,
		      const struct tree_emit_opts *o)
{
	struct printer p = {.e = e, .t = t, .rows = rows, .o = o};

	e->fill = fill_row;
	e->fill_ctx = &p;
	vec_each (r, &rows->rows)
		p.several_roots |= r->depth == 0 && !r->only;
	make_cols(&p);
	emit_rows_by(e, o->rows_by);
	emit_table(e, "rows", p.cols, p.n_cols);
	vec_each (r, &rows->rows)
		if (!is_told_above(&p, r))
			emit_tree_row(&p, r);
	emit_table_end(e);
	vec_release(&p.guides.more);
	vec_release(&p.guides.n_upto);
	arena_release(&p.arena);
	free(p.amounts);
	free(p.order);
	free(p.cols);
	free(p.cells);
}

/* --- what stands above and below --- */

/* The column that people are told of, and what it is a share of. */
static void emit_share(struct emit *e, const struct columns *c, const struct tree_share *s,
		       bool quiet)
{
	struct json *j = emit_json(e);
	const double whole = c->cols.n ? c->cols.v[c->hide].total : 0;

	if (j) {
		json_key(j, s->key);
		json_begin(j, '{');
		for (size_t i = 0; s->n && i < s->n_told; i++) {
			const bool is_metric = c->cols.v[i].kind == COLUMN_REAL;

			if (is_metric && (c->cols.v[i].hidden || c->cols.v[i].expr))
				continue;
			json_key(j, c->cols.v[i].name);
			if (is_metric)
				json_double(j, s->n[i]);
			else
				json_u64(j, (uint64_t)s->n[i]);
		}
		json_end(j, '}');
	} else if (!quiet && s->n && whole != 0 && s->n[c->hide] != 0) {
		emit_text(e, "%.2f %% %s\n", 100 * s->n[c->hide] / whole, s->text);
	}
}

static void emit_shares(struct emit *e, const struct tree_source *t, const struct tree_emit_opts *o)
{
	static const char *const forms[] = {"down", "callers", "flat"};
	struct json *j = emit_json(e);
	size_t before;

	if (j) {
		json_key(j, "form");
		json_str(j, forms[o->form]);
	}
	before = e->out->n;
	vec_each (s, &t->shares)
		emit_share(e, &t->columns, s, o->no_header);
	if (e->out->n > before)
		emit_text(e, "\n");
}

void tree_emit(struct emit *e, struct tree_source *t, const struct tree_rows *rows,
	       const struct tree_emit_opts *o)
{
	emit_begin(e);
	about_emit(e, t->source, o->no_header);
	emit_shares(e, t, o);
	emit_rows(e, t, rows, o);
	about_images_emit(e, t->source, t->images.v, t->images.n);
	emit_end(e);
}
