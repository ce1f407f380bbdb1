/* SPDX-License-Identifier: BSD-2-Clause */
/* See cat_branches.h. */
#include "view/cat_branches.h"

#include "query/samples/branch_rows.h"

static const struct emit_col cols[] = {
	{"event", NULL, EMIT_STR, .cut = TEXT_END, .spare = 1},
	{"count", NULL, EMIT_U64},
	{"mispredicted", "mispred", EMIT_U64},
	{"predicted", NULL, EMIT_U64, .spare = 2},
	{"cycles", NULL, EMIT_U64},
	{"cycles_known", "of", EMIT_U64},
	{"from", NULL, EMIT_HEX},
	{"from_procedure", "procedure", EMIT_STR, .cut = TEXT_NAME},
	{"from_image", "image", EMIT_STR, .cut = TEXT_PATH, .spare = 1},
	{"to", NULL, EMIT_HEX},
	{"to_procedure", "procedure", EMIT_STR, .cut = TEXT_NAME},
	{"to_image", "image", EMIT_STR, .cut = TEXT_PATH, .spare = 1},
};

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
	_vec_ branch_rows rows = {0};

	branch_rows_gather(q, images, &rows);
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
	return rows.n;
}
