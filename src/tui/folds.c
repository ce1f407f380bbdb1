/* SPDX-License-Identifier: BSD-2-Clause */
/* See folds.h. */
#include "tui/folds.h"

#include <string.h>

void folds_release(struct folds *f)
{
	vec_release(&f->states);
	index_release(&f->index);
	*f = (struct folds){0};
}

static bool fold_same(const void *owner, uint32_t i, const void *key)
{
	return ((const struct folds *)owner)->states.v[i].id == *(const uint64_t *)key;
}

void folds_set_all(struct folds *f, bool open)
{
	folds_release(f);
	f->all_open = open;
	f->all_closed = !open;
}

void folds_set(struct folds *f, uint64_t id, bool open)
{
	const uint32_t i = index_find(&f->index, hash_u64(id), fold_same, f, &id);

	if (i != INDEX_NONE) {
		f->states.v[i].open = open;
		return;
	}
	vec_push(&f->states, (struct fold_state){id, open});
	index_add(&f->index, hash_u64(id), (uint32_t)f->states.n - 1);
}

bool folds_is_open(const struct folds *f, uint64_t id, double pct)
{
	const uint32_t i = index_find(&f->index, hash_u64(id), fold_same, f, &id);

	if (i != INDEX_NONE)
		return f->states.v[i].open;
	return f->all_open || (!f->all_closed && pct >= FOLDS_OPEN_PCT);
}

/* What R is called, without what differs from second to second. */
static uint64_t row_id(const struct tree_row *r, uint64_t above, struct tree_source *t)
{
	const struct scope *sc = &t->scopes->scopes.v[r->scope];
	uint64_t id = hash_pair(above + 1, hash_str(sc->name ? sc->name : ""));

	if (sc->image != SCOPE_NO_IMAGE)
		id = hash_pair(id, hash_str(t->image_name(t, sc->image)));
	if (sc->kind > SCOPE_PROCEDURE)
		id = hash_pair(id, hash_pair(sc->line, sc->svma));
	return hash_pair(id, sc->kind);
}

void shown_rows_find(struct shown_rows *ret, const struct folds *f, const struct tree_rows *all,
		     struct tree_source *t)
{
	const struct columns *c = &t->columns;
	const unsigned w = cols_weight(c, c->sort);
	const double whole = c->cols.n ? c->cols.v[w].total : 0;
	const size_t n = all->rows.n;
	/* By row of ALL: its number among those shown and its id. */
	uint32_t *number = xcalloc(n + 1, sizeof(*number));
	uint64_t *ids = xcalloc(n + 1, sizeof(*ids));
	bool *is_open = xcalloc(n + 1, sizeof(*is_open));

	*ret = (struct shown_rows){0};
	for (size_t i = 0; i < n; i++) {
		struct tree_row r = all->rows.v[i];
		const bool is_top = r.parent == TREE_ROW_NONE;
		const bool has_below = i + 1 < n && all->rows.v[i + 1].parent == i;
		const double *amounts = r.inclusive ? r.inclusive : r.exclusive;

		number[i] = TREE_ROW_NONE;
		if (!is_top && !is_open[r.parent])
			continue;
		ids[i] = row_id(&r, is_top ? 0 : ids[r.parent], t);
		is_open[i] = has_below &&
			     folds_is_open(f, ids[i], whole != 0 ? 100 * amounts[w] / whole : 0);
		r.parent = is_top ? TREE_ROW_NONE : number[r.parent];
		number[i] = (uint32_t)ret->rows.rows.n;
		vec_push(&ret->rows.rows, r);
		vec_push(&ret->ids, ids[i]);
		vec_push(&ret->folded, has_below && !is_open[i]);
		vec_push(&ret->can_fold, has_below);
	}
	free(number);
	free(ids);
	free(is_open);
}

void shown_rows_release(struct shown_rows *s)
{
	tree_rows_release(&s->rows);
	vec_release(&s->ids);
	vec_release(&s->folded);
	vec_release(&s->can_fold);
}
