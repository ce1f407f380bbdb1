/* SPDX-License-Identifier: BSD-2-Clause */
/* See tree_source.h. */
#include "query/samples/tree_source.h"

#include <errno.h>
#include <stdlib.h>

struct sample_tree {
	struct tree_source source;
	struct tree tree;
	struct arena arena;
};

struct tree *tree_source_tree(struct tree_source *s)
{
	return &((struct sample_tree *)s)->tree;
}

static void node_amounts(struct tree_source *s, node_id n, double *inclusive, double *exclusive)
{
	const struct tree *t = tree_source_tree(s);

	for (unsigned c = 0; c < t->q->n_cols; c++) {
		if (inclusive)
			inclusive[c] += (double)tree_inclusive(t, n)[c];
		exclusive[c] += (double)tree_exclusive(t, n)[c];
	}
}

static const char *node_image_name(struct tree_source *s, image_id image)
{
	return query_image_name(tree_source_tree(s)->q, image);
}

static const char *node_image_kind(struct tree_source *s, image_id image)
{
	return image_kind_name(tree_source_tree(s)->q->profile->images.v[image].kind);
}

static bool node_is_kernel(struct tree_source *s, const struct scope *sc)
{
	return scope_is_kernel(tree_source_tree(s)->q->profile, sc);
}

/* Data tell shares of events alone, not of what is made of them. */
static void add_share(struct sample_tree *st, const char *key, const char *text, const uint64_t *n)
{
	const size_t n_cols = st->source.columns.cols.n;
	double *numbers = arena_alloc(&st->arena, (n_cols + 1) * sizeof(*numbers));

	for (size_t c = 0; c < n_cols; c++)
		numbers[c] = c < st->tree.q->n_cols ? (double)n[c] : 0;
	vec_push(&st->source.shares, (struct tree_share){key, text, numbers, st->tree.q->n_events});
}

/* Images with at least one percent of the samples in nameless scopes, or below one of these. */
static void find_nameless(struct sample_tree *st)
{
	const struct tree *t = &st->tree;
	const struct query *q = t->q;
	uint64_t *sums = xcalloc(q->profile->images.n + 1, sizeof(*sums));
	uint64_t *below = xcalloc(q->profile->images.n + 1, sizeof(*below));
	const uint64_t least = q->n_cols ? q->cols[q->sort].n_samples / 100 : 0;

	for (node_id i = 0; q->n_cols && i < t->n; i++) {
		const struct scope *sc = tree_scope(t, i);

		if (sc->nameless && sc->image != SCOPE_NO_IMAGE)
			sums[sc->image] += tree_exclusive(t, i)[q->sort];
		if (sc->nameless && sc->image != SCOPE_NO_IMAGE &&
		    tree_inclusive(t, i)[q->sort] > below[sc->image])
			below[sc->image] = tree_inclusive(t, i)[q->sort];
	}
	for (image_id im = 0; im < q->profile->images.n; im++)
		if (below[im] && (sums[im] >= least || below[im] >= least))
			vec_push(&st->source.images, im);
	free(below);
	free(sums);
}

static void close_sample_tree(struct tree_source *s)
{
	struct sample_tree *st = (struct sample_tree *)s;

	tree_release(&st->tree);
	vec_release(&s->shares);
	vec_release(&s->images);
	arena_release(&st->arena);
	free(st);
}

int tree_source_open(struct tree_source **ret, struct query *q, const struct columns *columns,
		     const struct tree_opts *o, struct err *err)
{
	struct sample_tree *st = xcalloc(1, sizeof(*st));
	struct tree *t = &st->tree;
	int rc = 0;

	for (unsigned i = 0; i < o->n_owners && rc >= 0 && !o->unknown_owners; i++)
		rc = owner_key_check(q->profile, o->owners[i], err);
	if (rc >= 0)
		rc = tree_init(t, q, o, err);
	if (rc < 0) {
		tree_release(t);
		free(st);
		return rc;
	}
	st->source = (struct tree_source){
		.columns = *columns,
		.scopes = &t->scopes,
		.level = t->level,
		.n_owner_levels = t->n_owner_levels,
		.parent = t->parent,
		.end = t->end,
		.scope = t->scope,
		.amounts = node_amounts,
		.image_name = node_image_name,
		.image_kind = node_image_kind,
		.is_kernel = node_is_kernel,
		.close = close_sample_tree,
	};
	add_share(st, "guessed", "of samples have frames guessed by frame pointer", t->n_guessed);
	add_share(st, "truncated", "of samples lack the outer part of their path", t->n_truncated);
	add_share(st, "ignored", "of samples are left out by --ignore", t->n_ignored);
	add_share(st, "not_in_focus", "of samples are left out by --focus", t->n_not_focus);
	find_nameless(st);
	*ret = &st->source;
	return 0;
}
