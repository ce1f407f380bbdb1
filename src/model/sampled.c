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

void sampled_places_of(const struct profile *p, sampled_places *ret)
{
	bool *seen = xcalloc(p->places.n + 1, sizeof(*seen));

	vec_each (v, &p->values) {
		const place_id at = p->ctxs.v[v->ctx].place;

		if (v->ctx == 0 || seen[at])
			continue;
		seen[at] = true;
		vec_push(ret,
			 (struct sampled_place){p->places.v[at].image, at, p->places.v[at].svma});
	}
	free(seen);
	vec_sort(ret, compare_sampled);
}
