/* SPDX-License-Identifier: BSD-2-Clause */
/* See move.h. */
#include "model/move.h"

#include "base/alloc.h"
#include "model/fresh.h"

static void move_value(struct profile *p, uint32_t i, ctx_id ctx)
{
	struct value v = p->values.v[i];
	uint32_t to;

	if (!value_counts(&v))
		return;
	v.ctx = ctx;
	p->values.v[i].count = p->values.v[i].sum = 0;
	to = profile_add_value(p, &v);
	if (p->fresh)
		fresh_move_noted(p->fresh, i, to);
}

ctx_id *profile_move_places(struct profile *p, const place_id *to)
{
	const ctx_id n_ctxs = (ctx_id)p->ctxs.n;
	const uint32_t n_values = (uint32_t)p->values.n;
	ctx_id *moved = xcalloc(n_ctxs, sizeof(*moved));

	for (ctx_id i = 1; i < n_ctxs; i++) {
		const struct ctx c = p->ctxs.v[i];
		const ctx_id parent = moved[c.parent]; /* parents come first */

		moved[i] = parent == c.parent && to[c.place] == c.place
				   ? i
				   : profile_intern_ctx(p, parent, to[c.place]);
	}
	profile_each_used (p, i) {
		if (i >= n_values)
			break;
		if (moved[p->values.v[i].ctx] != p->values.v[i].ctx)
			move_value(p, i, moved[p->values.v[i].ctx]);
	}
	vec_each (t, &p->traces)
		vec_each (point, &t->points)
			point->ctx = moved[point->ctx];
	return moved;
}
