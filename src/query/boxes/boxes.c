/* SPDX-License-Identifier: BSD-2-Clause */
/* See boxes.h.  Rows come in preorder, so a box that is too small is left out by skipping the rows
 * below it, and what it had goes to the small box behind its siblings. */
#include "query/boxes/boxes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text_name.h"
#include "query/boxes/picture_text.h"

const char *flame_kind_name(enum flame_kind k)
{
	static const char *const names[N_FLAME_KINDS] = {
		"native",   "inlined", "kernel", "generated", "script",
		"nameless", "mark",    "wait",	 "owner",     "small",
	};

	return names[k];
}

const char *flame_change_name(enum flame_change c)
{
	static const char *const names[N_FLAME_CHANGES] = {
		"same", "grew", "grew_much", "new", "shrank", "shrank_much", "gone",
	};

	return names[c];
}

struct flame_maker {
	struct flame *f;
	struct tree_source *t;
	const struct tree_rows *rows;
	unsigned column;
	int runnable, blocked; /* columns of wall time's parts; -1: none */
	bool callers;
	size_t n_name_bytes, max_name_bytes;
	uint32_t small; /* the frame of small boxes */
};

/* --- numbers --- */

/* The column that boxes are as wide as: what rows are sorted by, or the
 * nearest one that adds up. */
static unsigned flame_column(const struct columns *c)
{
	unsigned weight = cols_weight(c, c->sort);

	return c->cols.v[weight].adds_up ? weight : c->hide;
}

/* What column I counts.  Columns of weights have what their samples stand for: nanoseconds of the
 * kernel's clocks (perf_event_open(2), PERF_COUNT_SW_CPU_CLOCK), else occurrences of the event. */
static const char *flame_unit(const struct columns *c, unsigned i)
{
	const char *name = c->cols.v[c->sort].name;

	if (c->cols.v[i].kind == COLUMN_REAL)
		return "";
	if (c->cols.v[i].kind == COLUMN_TIME)
		return "ns";
	if (i == c->sort || cols_weight(c, c->sort) != i)
		return "samples";
	return str_starts(name, "cpu-clock") || str_starts(name, "task-clock") ? "ns" : "events";
}

/* Whole numbers stay; metrics become thousand millionths of their whole, which loses nothing that
 * anybody can see. */
static double flame_scale(const struct column *c)
{
	if (c->kind != COLUMN_REAL || !(c->total > 0))
		return 1;
	return c->total / 1e9;
}

static uint64_t row_amount(const struct flame_maker *m, const struct tree_row *r)
{
	const double *amounts = m->callers || !r->inclusive ? r->exclusive : r->inclusive;
	double n = amounts[m->column] / m->f->scale;

	return n > 0 && n < 9e15 ? (uint64_t)llround(n) : 0;
}

/* The column called NAME, or -1. */
static int flame_column_named(const struct columns *c, const char *name)
{
	for (unsigned i = 0; i < c->cols.n; i++)
		if (strcmp(c->cols.v[i].name, name) == 0)
			return (int)i;
	return -1;
}

/* Adds what threads did besides running in R's own time, which is all of it where the rows below R
 * are not shown. */
static void row_states(const struct flame_maker *m, const struct tree_row *r, uint64_t *runnable,
		       uint64_t *blocked)
{
	const bool is_cut = r->n_hidden || r->depth + 1 == m->f->max_depth;
	const double *own = is_cut && !m->callers && r->inclusive ? r->inclusive : r->exclusive;

	if (!m->f->has_states || !own)
		return;
	*runnable += (uint64_t)llround(own[m->runnable] / m->f->scale);
	*blocked += (uint64_t)llround(own[m->blocked] / m->f->scale);
}

/* --- frames --- */

static const char *safe_text(struct flame_maker *m, const char *s)
{
	const char *kept = picture_text(&m->f->arena, s);

	m->n_name_bytes += strlen(kept);
	return kept;
}

static enum flame_kind scope_flame_kind(const struct flame_maker *m, const struct scope *sc)
{
	const char *image_kind;

	if (sc->truncated)
		return FLAME_MARK;
	if (sc->kind == SCOPE_OWNER || sc->kind == SCOPE_ENTRY)
		return FLAME_OWNER;
	if (sc->kind == SCOPE_MARK)
		return str_starts(sc->name, "[waiting") || str_starts(sc->name, "[blocked")
			       ? FLAME_WAIT
			       : FLAME_MARK;
	if (m->t->is_kernel(m->t, sc))
		return FLAME_KERNEL;
	if (sc->inlined)
		return FLAME_INLINED;
	image_kind = sc->image == SCOPE_NO_IMAGE ? NULL : m->t->image_kind(m->t, sc->image);
	if (image_kind && strcmp(image_kind, "jit") == 0)
		return FLAME_GENERATED;
	if (image_kind && strcmp(image_kind, "script") == 0)
		return FLAME_SCRIPT;
	return sc->nameless ? FLAME_NAMELESS : FLAME_NATIVE;
}

/* Appends the name of SC's procedure or owner, or a short one. */
static void add_scope_name(struct str *out, const struct scope *sc, bool is_short)
{
	const bool is_procedure = sc->kind != SCOPE_OWNER && sc->kind != SCOPE_MARK;

	if (!sc->name || !*sc->name)
		str_add(out, "[unknown]");
	else if (is_short && is_procedure && !text_name_is_short(sc->name))
		text_add_short_name(out, sc->name);
	else
		str_add(out, sc->name);
}

/* What a box says; a nameless piece of code is called after its image. */
static const char *frame_name(struct flame_maker *m, const struct scope *sc, const char *image,
			      bool is_short)
{
	_str_ struct str s = {0};

	if (sc->kind == SCOPE_OWNER && owner_key_is_number(sc->owner))
		str_addf(&s, "%s ", owner_key_name(sc->owner));
	add_scope_name(&s, sc, is_short);
	if (sc->kind == SCOPE_PROCEDURE && *str_get(&s) == '[' && *image && *image != '[')
		str_addf(&s, " in %s", str_basename(image));
	if (sc->kind == SCOPE_LINE || sc->kind == SCOPE_LOOP) {
		str_add(&s, sc->kind == SCOPE_LOOP ? " loop at " : " ");
		str_addf(&s, "%s:%u", str_basename(sc->file ? sc->file : "?"), sc->line);
	} else if (sc->kind == SCOPE_ADDRESS) {
		str_addf(&s, " %#llx", (unsigned long long)sc->svma);
	}
	return safe_text(m, str_get(&s));
}

/* The short name of SC, whose name is FULL; FULL itself when that is short. */
static const char *frame_label(struct flame_maker *m, const struct scope *sc, const char *image,
			       const char *full)
{
	const char *label;

	if (!sc->name || text_name_is_short(sc->name))
		return full;
	label = frame_name(m, sc, image, true);
	return strcmp(label, full) == 0 ? full : label;
}

static uint32_t scope_frame(struct flame_maker *m, const struct scope *sc)
{
	const bool of_image = sc->image != SCOPE_NO_IMAGE && sc->kind != SCOPE_MARK;
	const char *image = of_image ? m->t->image_name(m->t, sc->image) : "";
	const char *name = frame_name(m, sc, image, false);
	struct flame_frame frame = {
		.kind = scope_flame_kind(m, sc),
		.name = name,
		.label = frame_label(m, sc, image, name),
		.image = safe_text(m, image),
		.file = safe_text(m, sc->file),
		.line = sc->line,
	};

	vec_push(&m->f->frames, frame);
	return (uint32_t)m->f->frames.n - 1;
}

/* --- boxes --- */

static int compare_amounts(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* The least amount of a box so that no more than MAX have it. */
static uint64_t least_amount(const struct flame_maker *m, size_t max)
{
	const size_t n = m->rows->rows.n;
	uint64_t *amounts, least;

	if (n <= max)
		return 0;
	amounts = xcalloc(n, sizeof(*amounts));
	for (size_t i = 0; i < n; i++)
		amounts[i] = row_amount(m, &m->rows->rows.v[i]);
	qsort(amounts, n, sizeof(*amounts), compare_amounts);
	least = amounts[max] + 1;
	free(amounts);
	return least;
}

struct open_box {
	size_t box;			   /* its number */
	uint64_t small, runnable, blocked; /* of what is too small below it */
	uint32_t n_small;
};

typedef VEC(struct open_box) open_boxes;

/* The deepest open box is complete: what was too small below it becomes its last child. */
static void close_box(struct flame_maker *m, open_boxes *open)
{
	const struct open_box *o = &open->v[--open->n];

	if (o->small)
		vec_push(&m->f->boxes, (struct flame_box){.depth = (uint32_t)open->n,
							  .frame = m->small,
							  .n_small = o->n_small,
							  .total = o->small,
							  .runnable = o->runnable,
							  .blocked = o->blocked});
}

static void add_box(struct flame_maker *m, open_boxes *open, const struct tree_row *r, uint64_t n,
		    uint32_t *frame_of)
{
	struct flame_box box = {.depth = r->depth, .n_small = r->n_hidden, .total = n};

	if (r->n_hidden) {
		box.frame = m->small;
	} else {
		if (!frame_of[r->scope])
			frame_of[r->scope] = scope_frame(m, &m->t->scopes->scopes.v[r->scope]) + 1;
		box.frame = frame_of[r->scope] - 1;
	}
	row_states(m, r, &box.runnable, &box.blocked);
	vec_push(open, (struct open_box){.box = m->f->boxes.n});
	vec_push(&m->f->boxes, box);
}

/* R lies below a row that is too small and has samples or not: COUNTS. */
static void skip_row(const struct flame_maker *m, const struct tree_row *r, bool counts,
		     struct open_box *parent)
{
	parent->n_small += counts && row_amount(m, r) ? 1 : 0;
	if (!m->callers)
		row_states(m, r, &parent->runnable, &parent->blocked);
}

/* Makes boxes of all rows with LEAST or more.  False: their names are more than there may be. */
static bool make_boxes(struct flame_maker *m, uint64_t least)
{
	uint32_t *frame_of = xcalloc(m->t->scopes->scopes.n + 1, sizeof(*frame_of));
	open_boxes open = {0};
	size_t i = 0;

	m->f->frames.n = m->f->boxes.n = m->n_name_bytes = 0;
	arena_release(&m->f->arena);
	vec_push(&m->f->frames,
		 (struct flame_frame){
			 .kind = FLAME_SMALL, .name = "", .label = "", .image = "", .file = ""});
	vec_push(&open, (struct open_box){0});
	while (i < m->rows->rows.n && m->n_name_bytes <= m->max_name_bytes) {
		const struct tree_row *r = &m->rows->rows.v[i];
		uint64_t n = row_amount(m, r);

		while (open.n > (size_t)r->depth + 1)
			close_box(m, &open);
		if (n && n >= least) {
			add_box(m, &open, r, n, frame_of);
			i++;
			continue;
		}
		open.v[open.n - 1].small += n;
		open.v[open.n - 1].n_small += r->n_hidden ? r->n_hidden : n != 0;
		row_states(m, r, &open.v[open.n - 1].runnable, &open.v[open.n - 1].blocked);
		for (i++; i < m->rows->rows.n && m->rows->rows.v[i].depth > r->depth; i++)
			skip_row(m, &m->rows->rows.v[i], n != 0, &open.v[open.n - 1]);
	}
	while (open.n)
		close_box(m, &open);
	vec_release(&open);
	free(frame_of);
	return m->n_name_bytes <= m->max_name_bytes;
}

/* What a box has beyond its children is its own, and with them it has its total.  Rounding may
 * leave children with more than their parent, which then grows. */
void flame_settle(struct flame *f)
{
	VEC(uint64_t) below = {0};

	for (size_t i = f->boxes.n; i-- > 0;) {
		struct flame_box *b = &f->boxes.v[i];
		uint64_t children;

		while (below.n < (size_t)b->depth + 2)
			vec_push(&below, 0);
		children = below.v[b->depth + 1];
		if (b->total < children + b->self)
			b->total = children + b->self;
		b->self = b->total - children;
		below.v[b->depth + 1] = 0;
		below.v[b->depth] += b->total;
	}
	f->shown = below.n ? below.v[0] : 0;
	vec_release(&below);
}

/* Where rows have the states of all that passed, boxes get those of their own. */
static void settle_states(struct flame *f)
{
	VEC(struct flame_box *) path = {0};

	vec_each (b, &f->boxes) {
		path.n = b->depth;
		vec_push(&path, b);
		if (b->depth) {
			struct flame_box *p = path.v[b->depth - 1];

			p->runnable -= b->runnable < p->runnable ? b->runnable : p->runnable;
			p->blocked -= b->blocked < p->blocked ? b->blocked : p->blocked;
		}
	}
	vec_release(&path);
}

/* What threads did is part of their own time, whatever rounding did. */
static void bound_states(struct flame *f)
{
	vec_each (b, &f->boxes) {
		b->blocked = b->blocked < b->self ? b->blocked : b->self;
		b->runnable =
			b->runnable < b->self - b->blocked ? b->runnable : b->self - b->blocked;
	}
}

void flame_init(struct flame *f, struct tree_source *t, const struct tree_rows *rows,
		const struct flame_opts *o)
{
	struct flame_maker m = {
		.f = f,
		.t = t,
		.rows = rows,
		.callers = o->form == TREE_CALLERS,
		.column = flame_column(&t->columns),
		.runnable = flame_column_named(&t->columns, "runnable"),
		.blocked = flame_column_named(&t->columns, "blocked"),
		.max_name_bytes = o->max_name_bytes ? o->max_name_bytes : FLAME_NAME_BYTES,
	};
	const struct column *c = &t->columns.cols.v[m.column];
	size_t max = o->max_boxes ? o->max_boxes : FLAME_BOXES;

	*f = (struct flame){
		.callers = m.callers, .scale = flame_scale(c), .max_depth = o->max_depth};
	f->has_states = strcmp(c->name, "wall") == 0 && m.runnable >= 0 && m.blocked >= 0;
	f->least = least_amount(&m, max);
	while (!make_boxes(&m, f->least)) {
		uint64_t more = least_amount(&m, max /= 2);

		f->least = more > f->least ? more : f->least + 1;
	}
	if (f->has_states && m.callers)
		settle_states(f);
	flame_settle(f);
	bound_states(f);
	f->unit = flame_unit(&t->columns, m.column);
	f->event = safe_text(&m, t->columns.cols.v[t->columns.sort].name);
	f->title = safe_text(&m, o->title && *o->title ? o->title : "flame graph");
	f->account = arena_strdup(&f->arena, o->account ? o->account : "");
	f->total = c->total > 0 ? (uint64_t)llround(c->total / f->scale) : f->shown;
	if (f->total < f->shown)
		f->total = f->shown;
}

void flame_release(struct flame *f)
{
	vec_release(&f->frames);
	vec_release(&f->boxes);
	arena_release(&f->arena);
}
