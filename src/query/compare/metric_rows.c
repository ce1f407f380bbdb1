/* SPDX-License-Identifier: BSD-2-Clause */
/* See metric_rows.h.  Each set is a tree whose procedures are one row each; its rows with an amount
 * of their own become common rows. */
#include "query/compare/metric_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "query/compare/common_rows.h"

/* A set's rows. */
struct side_rows {
	struct tree_source *tree;
	struct tree_rows rows;
	uint32_t n_images; /* the last stands for rows of none */
	unsigned column;   /* of what samples weigh, where that is another */
	double unit;	   /* what 1 of it is worth */
};

/* --- the column --- */

/* The length of NAME without a unit, as in "CPUTIME (sec)". */
static size_t bare_length(const char *name)
{
	const char *unit = strstr(name, " (");

	return unit ? (size_t)(unit - name) : strlen(name);
}

static bool is_comparable(const struct column *c)
{
	return !c->hidden && c->adds_up && !c->expr && !c->estimate;
}

/* The column of S that means what NAME does; -1: none. */
static int find_same(const struct source *s, const char *name)
{
	const size_t n = bare_length(name);

	for (unsigned i = 0; i < s->columns.cols.n; i++) {
		const struct column *c = &s->columns.cols.v[i];

		if (is_comparable(c) && bare_length(c->name) == n &&
		    strncasecmp(c->name, name, n) == 0)
			return (int)i;
	}
	return -1;
}

static bool is_in_all(const struct set_rows *r, const struct column *c)
{
	if (!is_comparable(c))
		return false;
	for (unsigned k = 1; k < r->n_sets; k++)
		if (find_same(r->sides[k].source, c->name) < 0)
			return false;
	return true;
}

/* "the first set has metrics a, b; the second set has events c". */
static int nothing_common(const struct set_rows *r, struct err *err)
{
	_str_ struct str text = {0};
	char nth[24];

	for (unsigned k = 0; k < r->n_sets && k < 4; k++) {
		const struct source *s = r->sides[k].source;
		struct name_list there = {{0}, 0};

		vec_each (c, &s->columns.cols)
			if (is_comparable(c))
				name_list_add(&there, c->name);
		str_addf(&text, "%sthe %s set, %s %s, has %s %s", k ? "; " : "",
			 set_ordinal(k, nth), str_starts(s->format, "HPC") ? "an" : "a", s->format,
			 s->query ? "events" : "metrics", there.n ? there.text : "none");
	}
	err_set(err, -ENOENT, "no event or metric is in all sets: %s", str_get(&text));
	return -ENOENT;
}

static int choose_column(struct set_rows *r, struct err *err)
{
	const struct source *first = r->sides[0].source;
	const struct column *found = NULL;

	if (first->columns.cols.n && is_in_all(r, &first->columns.cols.v[first->columns.sort]))
		found = &first->columns.cols.v[first->columns.sort];
	for (size_t i = 0; !found && i < first->columns.cols.n; i++)
		if (is_in_all(r, &first->columns.cols.v[i]))
			found = &first->columns.cols.v[i];
	if (!found)
		return nothing_common(r, err);
	r->kind = ESTIMATE_EVENT;
	r->is_metric = true;
	r->unit = 1;
	r->event = r->name = arena_strdup(&r->arena, found->name);
	return 0;
}

/* --- rows --- */

/* Whether column C of Q, if there is one, is of an event whose periods are nanoseconds, which
 * metrics have in seconds. */
static bool is_clock(const struct query *q, unsigned c)
{
	return q && c < q->n_events && !*q->cols[c].measures &&
	       strcmp(profile_str(q->profile, q->profile->events.v[q->cols[c].event].unit), "ns") ==
		       0;
}

static int open_side(struct set_rows *r, unsigned k, bool mixed, struct side_rows *ret,
		     struct err *err)
{
	const struct tree_opts to = {.scopes = {.level = r->level, .no_inline = mixed}};
	const struct tree_rows_opts ro = {.form = TREE_FLAT};
	struct set_side *side = &r->sides[k];
	const struct columns *cols = &side->source->columns;
	const struct column *c;
	char nth[24];
	unsigned same;
	int rc;

	side->q = side->source->query;
	same = (unsigned)find_same(side->source, r->name);
	c = &cols->cols.v[same];
	ret->column = cols_weight(cols, same);
	/* Weights are counts of the event already. */
	ret->unit = ret->column == same ? c->unit : 1;
	if (is_clock(side->q, same))
		ret->unit *= 1e-9;
	side->amount = cols->cols.v[ret->column].total * ret->unit;
	side->n_samples = side->q ? (uint64_t)c->total : 0;
	if (!(side->amount > 0))
		return err_set(err, -ENOENT, "the %s set has nothing of %s", set_ordinal(k, nth),
			       c->name);
	rc = source_tree(side->source, &to, TREE_FLAT, &ret->tree, err);
	return rc < 0 ? rc : tree_rows_init(&ret->rows, ret->tree, &ro, err);
}

static const struct scope *row_scope(const struct side_rows *s, const struct tree_row *row)
{
	return &s->tree->scopes->scopes.v[row->scope];
}

static uint32_t row_image(const struct side_rows *s, const struct scope *sc)
{
	return sc->image == SCOPE_NO_IMAGE ? s->n_images - 1 : sc->image;
}

static double row_amount(const struct side_rows *s, const struct tree_row *row)
{
	return row->exclusive[s->column] * s->unit;
}

static void add_images(struct common_rows *c, unsigned k, struct side_rows *s)
{
	s->n_images = 1;
	vec_each (row, &s->rows.rows) {
		const struct scope *sc = row_scope(s, row);

		if (sc->image != SCOPE_NO_IMAGE && sc->image + 2 > s->n_images)
			s->n_images = sc->image + 2;
	}
	common_rows_size(c, k, s->n_images);
	vec_each (row, &s->rows.rows) {
		const struct scope *sc = row_scope(s, row);
		const uint32_t im = row_image(s, sc);
		const bool none = sc->image == SCOPE_NO_IMAGE;
		const char *path = none ? "[unknown]" : s->tree->image_name(s->tree, sc->image);

		if (row_amount(s, row) == 0 || c->image_of[k][im] != INDEX_NONE)
			continue;
		common_image_add(c, k, im,
				 none || !s->tree->image_kind
					 ? NULL
					 : s->tree->image_kind(s->tree, sc->image),
				 arena_strdup(&c->r->arena, path), "");
	}
}

static int find_wanted_images(struct common_rows *c, struct err *err)
{
	struct name_list there = {{0}, 0};

	for (size_t i = 0; c->names && i < c->names->n; i++) {
		const char *name = c->names->v[i];
		bool found = false;

		vec_each (im, &c->images) {
			if (strcmp(im->path, name) != 0 &&
			    strcmp(str_basename(im->path), name) != 0)
				continue;
			c->images.v[im->same_as].is_wanted = found = true;
		}
		if (found)
			continue;
		vec_each (im, &c->images)
			name_list_add(&there, str_basename(im->path));
		return err_set(err, -ENOENT, "no values in an image '%s'; there are: %s", name,
			       there.text);
	}
	return 0;
}

static void add_rows(struct common_rows *c, unsigned k, const struct side_rows *s)
{
	vec_each (row, &s->rows.rows) {
		const struct scope *sc = row_scope(s, row);
		const double amount = row_amount(s, row);
		const uint32_t im = row_image(s, sc);
		const struct line_key line = {.file = sc->file, .line = sc->line};

		if (amount == 0 || !common_image_is_wanted(c, k, im))
			continue;
		common_row_find(c, k, sc, im, "", sc->kind == SCOPE_LINE ? &line : NULL)
			->amount[k] += amount;
	}
}

int metric_rows_init(struct set_rows *r, struct source *const *sets, const opt_list *images,
		     struct err *err)
{
	struct side_rows *sides = xcalloc(r->n_sets, sizeof(*sides));
	struct common_rows c;
	bool mixed = false;
	int rc = choose_column(r, err);

	common_rows_init(&c, r, images);
	for (unsigned k = 0; k < r->n_sets; k++)
		mixed |= sets[k]->query != NULL;
	for (unsigned k = 0; k < r->n_sets && rc >= 0; k++)
		rc = open_side(r, k, mixed, &sides[k], err);
	for (unsigned k = 0; k < r->n_sets && rc >= 0; k++)
		add_images(&c, k, &sides[k]);
	if (rc >= 0) {
		common_images_join(&c);
		rc = find_wanted_images(&c, err);
	}
	for (unsigned k = 0; k < r->n_sets && rc >= 0; k++)
		add_rows(&c, k, &sides[k]);
	common_rows_release(&c);
	for (unsigned k = 0; k < r->n_sets; k++) {
		tree_rows_release(&sides[k].rows);
		tree_source_close(sides[k].tree);
	}
	free(sides);
	return rc;
}
