/* SPDX-License-Identifier: BSD-2-Clause */
/* See sampled.h. */
#include "model/sampled.h"

#include <stdlib.h>

static int compare_sampled(const void *a, const void *b)
{
	const struct sampled_place *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return x->svma < y->svma ? -1 : x->svma > y->svma;
}

static void see_place(const struct profile *p, place_id at, bool is_caller, bool *seen,
		      sampled_places *ret)
{
	if (seen[at])
		return;
	seen[at] = true;
	vec_push(ret, (struct sampled_place){p->places.v[at].image, at, p->places.v[at].svma,
					     is_caller});
}

void sampled_places_of(const struct profile *p, sampled_places *ret)
{
	bool *seen = xcalloc(p->places.n + 1, sizeof(*seen));
	bool *passed = xcalloc(p->ctxs.n + 1, sizeof(*passed));

	vec_each (v, &p->values)
		if (v->ctx != 0)
			see_place(p, p->ctxs.v[v->ctx].place, false, seen, ret);
	vec_each (v, &p->values)
		for (ctx_id ctx = v->ctx; ctx != 0 && !passed[ctx]; ctx = p->ctxs.v[ctx].parent) {
			passed[ctx] = true;
			see_place(p, p->ctxs.v[ctx].place, true, seen, ret);
		}
	free(passed);
	free(seen);
	vec_sort(ret, compare_sampled);
}
