/* SPDX-License-Identifier: BSD-2-Clause */
/* See tree.h.
 *
 * A node is the contexts of one scope below another node: a procedure called from several lines is
 * several contexts of a database and one row.  Opening a node decodes the children of its contexts,
 * and of those that the level does not show what is below, down to the next that it does; values
 * are looked up for these only. */
#include "query/hpc/tree.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A context below the node being opened. */
struct found {
	scope_id scope;
	struct hpc_spot spot;
};

typedef VEC(struct found) found_spots;
typedef VEC(struct hpc_spot) hpc_spots;

/* Those of one scope: COUNT spots, from FIRST on when they are parted. */
struct group {
	scope_id scope;
	size_t first, n;
};

typedef VEC(struct group) spot_groups;

/* Parts FOUND by scope into T->parted, in the order scopes come first. */
static void part(struct hpc_tree *t, const found_spots *found, spot_groups *groups)
{
	size_t at = 0;

	while (t->group_of.n < t->scopes.scopes.scopes.n)
		vec_push(&t->group_of, 0);
	vec_each (f, found) {
		uint32_t *group = &t->group_of.v[f->scope];

		if (!*group) {
			vec_push(groups, (struct group){.scope = f->scope});
			*group = (uint32_t)groups->n;
		}
		groups->v[*group - 1].n++;
	}
	vec_each (g, groups) {
		g->first = at;
		at += g->n;
		g->n = 0;
	}
	t->parted.n = 0;
	vec_reserve(&t->parted, found->n);
	vec_each (f, found) {
		struct group *g = &groups->v[t->group_of.v[f->scope] - 1];

		t->parted.v[g->first + g->n++] = f->spot;
	}
	vec_each (g, groups)
		t->group_of.v[g->scope] = 0;
}

/* A context can be decoded once in a sound file: its node's row is opened once. */
static int count_decoded(struct hpc_tree *t, const struct hpc_ctx *ctx, struct err *err)
{
	const struct hpc_meta *m = &t->q->db->meta;

	/* docs/formats/hpctoolkit.md: no {Ctx} or {Entry} has less than 0x18 bytes. */
	if (++t->n_decoded * 0x18 > m->sections[HPC_META_CONTEXT].sz)
		return err_set(err, -EBADMSG,
			       "%s+%#" PRIx64 ": {Ctx} pChildren: contexts go in circles", m->name,
			       ctx->at);
	return 0;
}

/* Appends what is shown of the children of PARENT (NULL: the roots), itself in FUNCTION, to FOUND;
 * contexts that are not shown go to HIDDEN. */
static int look_into(struct hpc_tree *t, const struct hpc_ctx *parent, uint32_t function,
		     found_spots *found, hpc_spots *hidden, struct err *err)
{
	const struct scopes_opts *so = &t->o->scopes;
	struct hpc_ctxs it;
	struct hpc_ctx ctx;
	int rc = hpc_ctxs_begin(&it, &t->q->db->meta, parent, err);

	while (rc >= 0 && (rc = hpc_ctxs_next(&it, &ctx, err)) > 0) {
		enum scope_kind kind = hpc_ctx_kind(&ctx, so->level);
		bool is_inlined = kind == SCOPE_PROCEDURE && ctx.relation == HPC_INLINED_CALL;
		bool is_hidden =
			!hpc_kind_is_shown(kind, so->level) || (is_inlined && so->no_inline);
		struct hpc_spot spot = {
			.pChildren = ctx.pChildren,
			.szChildren = ctx.szChildren,
			.ctxId = ctx.ctxId,
			.function = function,
		};

		rc = count_decoded(t, &ctx, err);
		if (rc >= 0 && is_hidden) {
			if (spot.szChildren)
				vec_push(hidden, spot);
			continue;
		}
		if (rc >= 0) {
			scope_id scope = 0;

			rc = hpc_scopes_find(&t->scopes, &ctx, so->level, &spot.function, &scope,
					     err);
			if (rc >= 0)
				vec_push(found, (struct found){scope, spot});
		}
	}
	return rc;
}

static int look_below(struct hpc_tree *t, const struct hpc_spot *spot, found_spots *found,
		      hpc_spots *hidden, struct err *err)
{
	struct hpc_ctx parent = {
		.pChildren = spot->pChildren, .szChildren = spot->szChildren, .ctxId = spot->ctxId};

	return spot->szChildren ? look_into(t, &parent, spot->function, found, hidden, err) : 0;
}

/* Makes the parted spots of G a node, if they have values. */
static int add_node(struct hpc_tree *t, const struct group *g, tree_children *ret, struct err *err)
{
	const struct hpc_spot *spots = t->parted.v + g->first;
	size_t n_cols = t->q->cols.n, at = t->amounts.n, n = g->n;
	uint32_t *ids = xcalloc(n, sizeof(*ids));
	bool any = false;
	int rc;

	for (size_t i = 0; i < n; i++)
		ids[i] = spots[i].ctxId;
	vec_reserve(&t->amounts, 2 * n_cols);
	memset(t->amounts.v + at, 0, 2 * n_cols * sizeof(double));
	rc = hpc_query_both(t->q, ids, n, t->amounts.v + at, t->amounts.v + at + n_cols, err);
	free(ids);
	for (size_t i = 0; i < 2 * n_cols; i++)
		any |= t->amounts.v[at + i] != 0;
	if (rc < 0 || !any)
		return rc;
	t->amounts.n += 2 * n_cols;
	vec_push(ret, (struct tree_child){(node_id)t->nodes.n, g->scope});
	vec_push(&t->nodes, (struct hpc_tree_node){g->scope, t->spots.n, (uint32_t)n});
	for (size_t i = 0; i < n; i++)
		vec_push(&t->spots, spots[i]);
	return 0;
}

static int open_node(struct tree_source *s, node_id node, tree_children *ret, struct err *err)
{
	struct hpc_tree *t = (struct hpc_tree *)s;
	const struct hpc_tree_node *n = &t->nodes.v[node];
	found_spots found = {0};
	hpc_spots hidden = {0};
	spot_groups groups = {0};
	int rc = 0;

	if (node == 0)
		rc = look_into(t, NULL, HPC_NONE, &found, &hidden, err);
	for (uint32_t i = 0; rc >= 0 && i < n->n; i++)
		rc = look_below(t, &t->spots.v[n->first + i], &found, &hidden, err);
	while (rc >= 0 && hidden.n) {
		struct hpc_spot spot = hidden.v[--hidden.n];

		rc = look_below(t, &spot, &found, &hidden, err);
	}
	if (rc >= 0)
		part(t, &found, &groups);
	for (size_t i = 0; rc >= 0 && i < groups.n; i++)
		rc = add_node(t, &groups.v[i], ret, err);
	vec_release(&groups);
	vec_release(&found);
	vec_release(&hidden);
	return rc;
}

/* --- as a source --- */

static void node_amounts(struct tree_source *s, node_id n, double *inclusive, double *exclusive)
{
	struct hpc_tree *t = (struct hpc_tree *)s;
	size_t n_cols = t->q->cols.n;
	const double *a = t->amounts.v + 2 * n_cols * n;

	for (size_t i = 0; i < n_cols; i++) {
		if (inclusive)
			inclusive[i] += a[i];
		exclusive[i] += a[n_cols + i];
	}
}

static const char *node_image(struct tree_source *s, image_id image)
{
	return hpc_scopes_image(&((struct hpc_tree *)s)->scopes, image);
}

static const char *node_image_kind(struct tree_source *s, image_id image)
{
	return NULL;
}

static bool node_is_kernel(struct tree_source *s, const struct scope *sc)
{
	return false;
}

/* Rows of lines are of lines; a procedure is one of them for what no line is known of. */
static bool node_is_listed(struct tree_source *s, node_id n)
{
	struct hpc_tree *t = (struct hpc_tree *)s;
	size_t n_cols = t->q->cols.n;
	const double *exclusive = t->amounts.v + 2 * n_cols * n + n_cols;

	if (s->scopes->scopes.v[s->scope[n]].kind == s->level)
		return true;
	for (size_t i = 0; i < n_cols; i++)
		if (exclusive[i] != 0)
			return true;
	return false;
}

static void node_contexts(struct tree_source *s, node_id node, struct str *ret)
{
	const struct hpc_tree *t = (const struct hpc_tree *)s;
	const struct hpc_tree_node *n = &t->nodes.v[node];

	for (uint32_t i = 0; i < n->n; i++)
		str_addf(ret, "%s%" PRIu32, i ? "+" : "", t->spots.v[n->first + i].ctxId);
}

static void add_left_out(struct hpc_tree *t, const char *key, const char *text, const double *n)
{
	vec_push(&t->source.shares, (struct tree_share){key, text, n, t->q->cols.n});
}

static void close_hpc_tree(struct tree_source *s)
{
	struct hpc_tree *t = (struct hpc_tree *)s;

	hpc_scopes_release(&t->scopes);
	vec_release(&s->shares);
	vec_release(&t->nodes);
	vec_release(&t->spots);
	vec_release(&t->amounts);
	vec_release(&t->parted);
	vec_release(&t->group_of);
	free(t->parent);
	free(t->end);
	free(t->scope);
	free(t->left_out[0]);
	free(t->left_out[1]);
	free(t);
}

/* Makes T one that is opened row by row. */
static void begin_lazily(struct hpc_tree *t)
{
	const size_t n_cols = t->q->cols.n;

	t->source.contexts = node_contexts;
	vec_push(&t->nodes, (struct hpc_tree_node){0});
	vec_reserve(&t->amounts, 2 * n_cols);
	memset(t->amounts.v, 0, 2 * n_cols * sizeof(double));
	t->amounts.n = 2 * n_cols;
}

int hpc_tree_open(struct hpc_tree **ret, struct hpc_query *q, const struct hpc_tree_opts *o,
		  struct err *err)
{
	const struct scopes_opts *so = &o->scopes;
	const bool all = o->form != TREE_DOWN || so->focus || so->ignore || so->no_inline ||
			 o->fold_recursion || so->level < SCOPE_PROCEDURE;
	struct hpc_tree *t = xcalloc(1, sizeof(*t));
	int rc;

	*t = (struct hpc_tree){
		.q = q,
		.opts = *o,
		.o = &t->opts,
		.source = {.level = so->level,
			   .amounts = node_amounts,
			   .open = open_node,
			   .image_name = node_image,
			   .image_kind = node_image_kind,
			   .is_kernel = node_is_kernel,
			   .is_listed = node_is_listed,
			   .close = close_hpc_tree,
			   .columns = q->columns /* borrowed: they remain the query's */},
	};
	rc = hpc_scopes_init(&t->scopes, q->db, so->focus, so->ignore, err);
	if (rc < 0) {
		free(t);
		return rc;
	}
	t->source.scopes = &t->scopes.scopes;
	if (!all)
		begin_lazily(t);
	else
		rc = hpc_tree_read_all(t, err);
	if (rc < 0) {
		close_hpc_tree(&t->source);
		return rc;
	}
	add_left_out(t, "ignored", "is left out by --ignore", t->left_out[0]);
	add_left_out(t, "not_in_focus", "is left out by --focus", t->left_out[1]);
	*ret = t;
	return 0;
}
