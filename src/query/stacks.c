/* SPDX-License-Identifier: BSD-2-Clause */
/* See stacks.h.  Samples have addresses and owners; of any other source the rows of its tree are
 * taken, which have names. */
#include "query/stacks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "query/samples/runs.h"
#include "query/samples/stacks.h"

struct tree_filler {
	struct tree_source *t;
	struct stacks *to;
	uint32_t *place_of; /* by scope + 1; 0: none yet */
	uint32_t *image_of; /* by image + 1, of N_IMAGES */
	size_t n_images, n_places;
	VEC(unsigned) cols; /* the tree's column of each exported one */
	VEC(double) scales;
	VEC(uint32_t) path; /* by depth: the node */
};

static void add_tree_columns(struct tree_filler *f)
{
	const struct columns *cs = &f->t->columns;

	for (unsigned i = 0; i < cs->cols.n; i++) {
		const struct column *c = &cs->cols.v[i];
		const bool is_sec = c->kind == COLUMN_REAL && str_ends(c->name, " (sec)");

		if (c->hidden || !c->adds_up)
			continue;
		if (i == cs->hide)
			f->to->main_column = (unsigned)f->to->columns.n;
		vec_push(&f->cols, i);
		vec_push(&f->scales, is_sec ? 1e9 : 1);
		vec_push(&f->to->columns,
			 (struct stack_column){c->name, c->name,
					       is_sec || c->kind == COLUMN_TIME ? "nanoseconds"
										: "count",
					       STACK_WEIGHT, 0, 0});
	}
}

static uint32_t tree_image(struct tree_filler *f, image_id id)
{
	struct flat_image im;
	struct stack_image new = {.kind = IMAGE_FILE};

	if (id == SCOPE_NO_IMAGE)
		return STACK_NO_IMAGE;
	if (id >= f->n_images) {
		const size_t n = (size_t)id * 2 + 16;

		f->image_of = xrealloc(f->image_of, n, sizeof(*f->image_of));
		memset(f->image_of + f->n_images, 0, (n - f->n_images) * sizeof(*f->image_of));
		f->n_images = n;
	}
	if (!f->image_of[id]) {
		im = f->t->source->ops->image(f->t->source, id);
		if (im.kind && strcmp(im.kind, "jit") == 0)
			new.kind = IMAGE_JIT;
		new.path = arena_strdup(&f->to->arena, im.path ? im.path : "");
		if (im.id)
			build_id_format(im.id, new.build_id);
		vec_push(&f->to->images, new);
		f->image_of[id] = (uint32_t)f->to->images.n;
	}
	return f->image_of[id] - 1;
}

/* A place for each scope: its one line is in the function that the scope is. */
static uint32_t tree_place(struct tree_filler *f, scope_id id)
{
	struct stacks *to = f->to;
	const struct scope *sc = &f->t->scopes->scopes.v[id];
	struct stack_function fn = {.svma = sc->svma, .line = sc->line, .nameless = sc->nameless};

	if (id >= f->n_places) {
		const size_t n = (size_t)id * 2 + 64;

		f->place_of = xrealloc(f->place_of, n, sizeof(*f->place_of));
		memset(f->place_of + f->n_places, 0, (n - f->n_places) * sizeof(*f->place_of));
		f->n_places = n;
	}
	if (f->place_of[id])
		return f->place_of[id] - 1;
	fn.file = sc->file ? arena_strdup(&to->arena, sc->file) : "";
	fn.image = tree_image(f, sc->image);
	if (sc->nameless && *sc->name == '[' && !sc->inlined && fn.image != STACK_NO_IMAGE)
		fn.name = stacks_bare_name(to->images.v[fn.image].path, &to->arena);
	else
		fn.name = arena_strdup(&to->arena, *sc->name ? sc->name : "[unknown]");
	fn.linked = fn.name;
	fn.is_mark = sc->kind == SCOPE_MARK || sc->kind == SCOPE_ENTRY;
	if (fn.image != STACK_NO_IMAGE && f->t->is_kernel && f->t->is_kernel(f->t, sc))
		to->images.v[fn.image].is_kernel = true;
	vec_push(&to->lines,
		 (struct stack_line){(uint32_t)to->functions.n, sc->line, fn.file, 0, sc->inlined});
	vec_push(&to->functions, fn);
	vec_push(&to->places, (struct stack_place){.image = fn.image,
						   .svma = sc->svma,
						   .first_line = (uint32_t)to->lines.n - 1,
						   .n_lines = 1});
	f->place_of[id] = (uint32_t)to->places.n;
	return f->place_of[id] - 1;
}

static void add_tree_row(struct tree_filler *f, const struct tree_row *row)
{
	struct stacks *to = f->to;
	const uint32_t node = (uint32_t)to->nodes.n;
	bool any = false;

	f->path.n = row->depth;
	vec_push(&to->nodes, (struct stack_node){row->depth ? f->path.v[row->depth - 1] : 0,
						 tree_place(f, row->scope)});
	vec_push(&f->path, node);
	vec_each (c, &f->cols)
		any |= row->exclusive[*c] > 0;
	if (!any)
		return;
	vec_push(&to->values, (struct stack_value){node, 0});
	for (size_t i = 0; i < f->cols.n; i++) {
		const double n = row->exclusive[f->cols.v[i]] * f->scales.v[i];

		vec_push(&to->amounts, n > 0 ? (uint64_t)llround(n) : 0);
	}
}

static int tree_stacks(struct source *s, const struct stacks_opts *o, struct stacks *ret,
		       struct err *err)
{
	const struct tree_opts to = {
		.scopes = {.level = SCOPE_PROCEDURE, .no_args = true, .no_inline = o->no_inline}};
	const struct tree_rows_opts ro = {.form = TREE_DOWN};
	struct tree_filler f = {.to = ret};
	struct tree_rows rows = {0};
	int rc = 0;

	if (o->images && o->images->n)
		rc = source_needs(s, SOURCE_SAMPLES, "an image", err);
	if (rc >= 0)
		rc = source_tree(s, &to, TREE_DOWN, &f.t, err);
	if (rc >= 0 && f.t->columns.cols.n)
		rc = tree_rows_init(&rows, f.t, &ro, err);
	if (rc >= 0) {
		add_tree_columns(&f);
		vec_push(&ret->owners, (struct stack_owner){"", "", "", "", 0, 0, -1});
		vec_each (row, &rows.rows)
			add_tree_row(&f, row);
		ret->host = ret->command = ret->kernel = "";
	}
	tree_rows_release(&rows);
	tree_source_close(f.t);
	free(f.place_of);
	free(f.image_of);
	vec_release(&f.cols);
	vec_release(&f.scales);
	vec_release(&f.path);
	return rc;
}

int source_stacks(struct source *s, const struct stacks_opts *o, struct stacks *ret,
		  struct err *err)
{
	int rc;

	*ret = (struct stacks){0};
	vec_push(&ret->functions, (struct stack_function){.name = "[all]",
							  .linked = "[all]",
							  .file = "",
							  .image = STACK_NO_IMAGE,
							  .is_mark = true});
	vec_push(&ret->lines, (struct stack_line){0, 0, ""});
	vec_push(&ret->places, (struct stack_place){.image = STACK_NO_IMAGE, .n_lines = 1});
	vec_push(&ret->nodes, (struct stack_node){0, 0});
	rc = s->query ? samples_stacks(s->query, &s->columns, o, ret, err)
		      : tree_stacks(s, o, ret, err);
	if (rc >= 0) {
		ret->input = s->path ? s->path : "";
		stacks_settle(ret);
	}
	if (rc >= 0 && s->query && o->runs)
		samples_runs(s->query, ret);
	return rc;
}
