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

/* SEEN tells by place where RET has it, plus one. */
static void see_place(const struct profile *p, place_id at, bool is_caller, uint64_t n,
		      uint32_t *seen, sampled_places *ret)
{
	struct sampled_place *s;

	if (!seen[at]) {
		vec_push(ret, (struct sampled_place){.image = p->places.v[at].image,
						     .place = at,
						     .svma = p->places.v[at].svma,
						     .is_caller = is_caller});
		seen[at] = (uint32_t)ret->n;
	}
	s = &ret->v[seen[at] - 1];
	if (s->is_caller == is_caller)
		s->n += n;
}

void sampled_places_of(const struct profile *p, sampled_places *ret)
{
	uint32_t *seen = xcalloc(p->places.n + 1, sizeof(*seen));
	bool *passed = xcalloc(p->ctxs.n + 1, sizeof(*passed));

	vec_each (v, &p->values)
		if (v->ctx != 0)
			see_place(p, p->ctxs.v[v->ctx].place, false, v->count, seen, ret);
	vec_each (v, &p->values)
		for (ctx_id ctx = v->ctx; ctx != 0 && !passed[ctx]; ctx = p->ctxs.v[ctx].parent) {
			passed[ctx] = true;
			see_place(p, p->ctxs.v[ctx].place, true, v->count, seen, ret);
		}
	free(passed);
	free(seen);
	sampled_places_sort(ret);
}

void sampled_places_sort(sampled_places *places)
{
	vec_sort(places, compare_sampled);
}
