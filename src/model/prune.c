/* SPDX-License-Identifier: BSD-2-Clause */
/* See prune.h.
 *
 * A parent is never rarer than its children, so what is kept is a tree with the root, and each
 * context has a lowest one above it that is kept.  A sample whose caller is kept has its path
 * whole, however rare the place itself is: a mark there would save nothing.  Marks at the root
 * are kept: they say why a path is not complete.
 *
 * Pruning again, of what was added since or with another share, treats marks as any context; but
 * below a mark there is never another one, as each sample's new path is made of what is kept above
 * it, the mark and its place alone. */
#include "model/prune.h"

#include <stdlib.h>
#include <string.h>

#include "model/trace.h"

bool prune_is_mark(const struct image *i)
{
	return i->kind == IMAGE_MARK && strcmp(i->path, PRUNE_MARK) == 0;
}

struct pruner {
	struct profile *p;
	/* By context that was there at the beginning. */
	bool *keep;
	ctx_id *to; /* where its samples go; 0: not known yet */
	place_id mark;
};

static bool is_mark_ctx(const struct pruner *r, ctx_id ctx)
{
	return ctx && r->p->ctxs.v[ctx].place == r->mark;
}

static uint64_t prune_weight(const struct profile *p, const struct value *v)
{
	return value_is_samples(p, v) ? value_amount(p, v) : 0;
}

void prune_sum(const struct profile *p, prune_sums *ret)
{
	ret->n = 0;
	for (size_t i = 0; i < p->events.n; i++)
		vec_push(ret, 0);
	vec_each (v, &p->values)
		ret->v[v->event] += prune_weight(p, v);
}

/* Keeps what has at least LEAST of EVENT.  SUMS: room for all contexts. */
static void keep_frequent(struct pruner *r, event_id event, double least, uint64_t *sums)
{
	const struct profile *p = r->p;

	memset(sums, 0, p->ctxs.n * sizeof(*sums));
	vec_each (v, &p->values)
		if (v->event == event)
			sums[v->ctx] += prune_weight(p, v);
	for (size_t i = p->ctxs.n; i-- > 1;)
		sums[p->ctxs.v[i].parent] += sums[i];
	for (size_t i = 1; i < p->ctxs.n; i++)
		r->keep[i] |= sums[i] && (double)sums[i] >= least;
}

/* The last of CTX and those above it that is kept. */
static ctx_id kept_above(const struct pruner *r, ctx_id ctx)
{
	while (!r->keep[ctx])
		ctx = r->p->ctxs.v[ctx].parent;
	return ctx;
}

static ctx_id find_new(struct pruner *r, ctx_id ctx)
{
	const struct ctx c = r->p->ctxs.v[ctx];
	ctx_id above;

	if (r->keep[c.parent])
		return ctx;
	above = kept_above(r, c.parent);
	if (is_mark_ctx(r, c.parent) && r->p->ctxs.v[c.parent].parent == above)
		return ctx;
	if (!is_mark_ctx(r, above))
		above = profile_intern_ctx(r->p, above, r->mark);
	return profile_intern_ctx(r->p, above, c.place);
}

static ctx_id new_of(struct pruner *r, ctx_id ctx)
{
	if (ctx && !r->to[ctx])
		r->to[ctx] = find_new(r, ctx);
	return r->to[ctx];
}

static void move_values(struct pruner *r)
{
	struct profile *p = r->p;
	const size_t n = p->values.n;

	for (size_t i = 0; i < n; i++) {
		struct value v = p->values.v[i];

		if (!value_counts(&v) || new_of(r, v.ctx) == v.ctx)
			continue;
		p->values.v[i].count = p->values.v[i].sum = 0;
		v.ctx = new_of(r, v.ctx);
		profile_add_value(p, &v);
	}
}

void profile_prune(struct profile *p, double share, const prune_sums *before)
{
	const size_t n = p->ctxs.n;
	prune_sums now = {0};
	struct pruner r = {.p = p};
	uint64_t *sums;
	image_id image;

	if (!(share > 0))
		return;
	r.keep = xcalloc(n, sizeof(*r.keep));
	r.to = xcalloc(n, sizeof(*r.to));
	sums = xcalloc(n, sizeof(*sums));
	r.keep[0] = true;
	prune_sum(p, &now);
	for (event_id e = 0; e < p->events.n; e++) {
		uint64_t old = before && e < before->n ? before->v[e] : 0;

		keep_frequent(&r, e, share * (double)(now.v[e] - old), sums);
	}
	vec_release(&now);
	free(sums);
	image = profile_intern_image(p, &(struct image){.kind = IMAGE_MARK, .path = PRUNE_MARK});
	r.mark = profile_intern_place(p, image, 0, 0);
	for (size_t i = 1; i < n; i++) {
		const struct ctx *c = &p->ctxs.v[i];

		if (!c->parent && p->images.v[p->places.v[c->place].image].kind == IMAGE_MARK &&
		    c->place != r.mark)
			r.keep[i] = true;
	}
	move_values(&r);
	vec_each (t, &p->traces)
		vec_each (point, &t->points)
			point->ctx = new_of(&r, point->ctx);
	free(r.keep);
	free(r.to);
}

bool *prune_marked(const struct profile *p)
{
	bool any = false, *ret;

	vec_each (i, &p->images)
		any |= prune_is_mark(i);
	if (!any)
		return NULL;
	ret = xcalloc(p->ctxs.n, sizeof(*ret));
	for (size_t i = 1; i < p->ctxs.n; i++) {
		const struct ctx *c = &p->ctxs.v[i];

		ret[i] = ret[c->parent] || prune_is_mark(&p->images.v[p->places.v[c->place].image]);
	}
	return ret;
}

void profile_n_pruned(const struct profile *p, uint64_t *ret)
{
	bool *marked = prune_marked(p);

	for (size_t i = 0; i < p->events.n; i++)
		ret[i] = 0;
	vec_each (v, &p->values)
		if (marked && marked[v->ctx] && value_is_samples(p, v))
			ret[v->event] += v->count;
	free(marked);
}
