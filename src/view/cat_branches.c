/* SPDX-License-Identifier: BSD-2-Clause */
/* See cat_branches.h. */
#include "view/cat_branches.h"

#include <stdlib.h>

#include "base/vec.h"

typedef VEC(struct branch) branch_rows;

static const struct emit_col cols[] = {
	{"event", NULL, EMIT_STR},
	{"count", NULL, EMIT_U64},
	{"mispredicted", "mispred", EMIT_U64},
	{"predicted", NULL, EMIT_U64},
	{"cycles", NULL, EMIT_U64},
	{"cycles_known", "of", EMIT_U64},
	{"from", NULL, EMIT_HEX},
	{"from_procedure", "procedure", EMIT_STR, .cut = TEXT_PATH},
	{"from_image", "image", EMIT_STR, .cut = TEXT_PATH},
	{"to", NULL, EMIT_HEX},
	{"to_procedure", "procedure", EMIT_STR, .cut = TEXT_PATH},
	{"to_image", "image", EMIT_STR, .cut = TEXT_PATH},
};

static int by_key(const void *x, const void *y)
{
	const struct branch *a = x, *b = y;

	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->to < b->to ? -1 : a->to > b->to;
}

static int by_count(const void *x, const void *y)
{
	const struct branch *a = x, *b = y;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return by_key(x, y);
}

static bool is_wanted(const struct query *q, const struct branch *b, const image_ids *images)
{
	const struct profile *p = q->profile;

	return (!q->wanted || q->wanted[b->owner]) && q->col_of[b->event] < q->n_cols &&
	       (image_ids_want(images, p->places.v[b->from].image) ||
		image_ids_want(images, p->places.v[b->to].image));
}

/* The branches wanted, those of different owners added up. */
static void cat_branches_gather(const struct query *q, const image_ids *images, branch_rows *ret)
{
	size_t n = 0;

	vec_each (b, &q->profile->branches)
		if (is_wanted(q, b, images))
			vec_push(ret, *b);
	if (!ret->n)
		return;
	qsort(ret->v, ret->n, sizeof(*ret->v), by_key);
	for (size_t i = 1; i < ret->n; i++) {
		struct branch *to = &ret->v[n];
		const struct branch *b = &ret->v[i];

		if (by_key(to, b) != 0) {
			ret->v[++n] = *b;
			continue;
		}
		to->count += b->count;
		to->n_predicted += b->n_predicted;
		to->n_mispredicted += b->n_mispredicted;
		to->cycles += b->cycles;
		to->n_cycles += b->n_cycles;
	}
	ret->n = n + 1;
	qsort(ret->v, ret->n, sizeof(*ret->v), by_count);
}

/* Address, procedure and image of PLACE, as three cells. */
static void put_end(struct query *q, place_id place, struct emit_cell *cell)
{
	const struct place *pl = &q->profile->places.v[place];
	struct procedure proc;
	bool named = resolver_find(q->resolver, &q->profile->images.v[pl->image], pl->svma, &proc);

	cell[0] = (struct emit_cell){.u = pl->svma};
	cell[1] = (struct emit_cell){.s = named ? proc.name : NULL, .none = !named};
	cell[2] = (struct emit_cell){.s = query_image_name(q, pl->image)};
}

size_t cat_branches_emit(struct emit *e, struct query *q, const image_ids *images)
{
	branch_rows rows = {0};
	size_t n;

	cat_branches_gather(q, images, &rows);
	emit_begin(e);
	emit_rows_by(e, "branch");
	emit_table(e, "rows", cols, n_elems(cols));
	vec_each (b, &rows) {
		struct emit_cell cells[n_elems(cols)] = {
			{.s = profile_str(q->profile, q->profile->events.v[b->event].name)},
			{.u = b->count},
			{.u = b->n_mispredicted},
			{.u = b->n_predicted},
			{.u = b->cycles, .none = !b->n_cycles},
			{.u = b->n_cycles, .none = !b->n_cycles},
		};

		put_end(q, b->from, &cells[6]);
		put_end(q, b->to, &cells[9]);
		emit_row(e, cells);
	}
	emit_table_end(e);
	emit_end(e);
	n = rows.n;
	vec_release(&rows);
	return n;
}
