/* SPDX-License-Identifier: BSD-2-Clause */
/* Trees of all contexts of an HPCToolkit database.
 *
 * Contexts are gone over once, each after its parent.  One that is shown becomes a node, with
 * others of its scope below the same node; one that is not belongs to the node it is in.
 *
 * What a node has of its own is made from the scope "function" F: of a procedure, what is in it and
 * in no procedure it calls.  A context reached by a call adds its F to its node.  A line, loop or
 * instruction that is a node takes its F from the node around it, which had it already.  So the own
 * amounts of all nodes add up to the whole, whatever the level.  From the root down people want to
 * see a procedure's F and a loop's without the loops in it (amount "exclusive"), though; and
 * inclusive amounts are those of the scope "execution" as long as no path is left out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "query/hpc/tree.h"
#include "query/rows/preorder.h"

/* Less than this share of a node is what rounding leaves. */
#define ROUNDING 1e-12

/* What is known below a context. */
struct state {
	node_id node;
	uint32_t function; /* HPC_NONE: in none that is known */
	uint32_t whole;	   /* its image or file, at these levels */
	uint8_t flags;	   /* SCOPES_* of the path */
};

struct builder {
	struct hpc_tree *t;
	size_t n_cols;
	bool fold, has_patterns, wants_own;
	VEC(struct state) stack; /* by depth + 1; [0] is the root's */
	VEC(node_id) parent;
	VEC(scope_id) scope;
	VEC(double) inclusive, shown, own; /* n_cols for each node */
	VEC(uint8_t) match;		   /* by scope: SCOPES_*, or NO_MATCH */
	struct index index;
	double *values;
};

#define NO_MATCH UINT8_MAX

/* --- nodes --- */

struct node_key {
	node_id parent;
	scope_id scope;
};

static bool same_node(const void *owner, uint32_t i, const void *key)
{
	const struct builder *b = owner;
	const struct node_key *k = key;

	return b->parent.v[i] == k->parent && b->scope.v[i] == k->scope;
}

#define add_zeros(vec, k)                                                                          \
	do {                                                                                       \
		vec_reserve(vec, k);                                                               \
		memset((vec)->v + (vec)->n, 0, (k) * sizeof(*(vec)->v));                           \
		(vec)->n += (k);                                                                   \
	} while (0)

static node_id add_node(struct builder *b, node_id parent, scope_id scope)
{
	vec_push(&b->parent, parent);
	vec_push(&b->scope, scope);
	add_zeros(&b->inclusive, b->n_cols);
	add_zeros(&b->shown, b->n_cols);
	add_zeros(&b->own, b->n_cols);
	return (node_id)b->parent.n - 1;
}

static node_id intern_node(struct builder *b, node_id parent, scope_id scope)
{
	struct node_key key = {parent, scope};
	uint64_t hash = hash_pair(parent, scope);
	uint32_t i;

	if (b->fold && b->scope.v[parent] == scope)
		return parent;
	i = index_find(&b->index, hash, same_node, b, &key);
	if (i == INDEX_NONE) {
		i = add_node(b, parent, scope);
		index_add(&b->index, hash, i);
	}
	return i;
}

/* --- contexts --- */

/* The image or file of what CTX is, HPC_NONE when it does not say. */
static int whole_of(const struct builder *b, const struct hpc_ctx *ctx, uint32_t *ret,
		    struct err *err)
{
	const bool images = b->t->o->scopes.level == SCOPE_IMAGE;
	struct hpc_function f;
	int rc = 0;

	*ret = images ? ctx->module : ctx->file;
	if (ctx->function == HPC_NONE)
		return 0;
	rc = hpc_meta_function(&b->t->q->db->meta, ctx->function, &f, err);
	if (rc >= 0)
		*ret = images ? f.module : f.file;
	return rc;
}

/* The scope CTX has at levels above procedures: *RET_IS_SHOWN unless it is in that of UP. */
static int find_whole(struct builder *b, const struct hpc_ctx *ctx, const struct state *up,
		      struct state *s, bool *ret_is_shown, scope_id *ret, struct err *err)
{
	enum scope_kind kind = hpc_ctx_kind(ctx, SCOPE_PROCEDURE);
	int rc = 0;

	*ret_is_shown = false;
	if (kind == SCOPE_ENTRY)
		return 0;
	rc = whole_of(b, ctx, &s->whole, err);
	if (kind != SCOPE_PROCEDURE && (s->whole == HPC_NONE || s->whole == up->whole)) {
		s->whole = up->whole;
		return rc;
	}
	*ret_is_shown = true;
	if (rc >= 0)
		rc = hpc_scopes_find_whole(&b->t->scopes, b->t->o->scopes.level, s->whole, ret,
					   err);
	return rc;
}

static uint8_t tree_all_match(struct builder *b, scope_id scope)
{
	while (b->match.n <= scope)
		vec_push(&b->match, NO_MATCH);
	if (b->match.v[scope] == NO_MATCH)
		b->match.v[scope] = hpc_scopes_match(&b->t->scopes, scope);
	return b->match.v[scope];
}

/* What patterns say of the path with CTX, whatever is shown of it. */
static int find_flags(struct builder *b, const struct hpc_ctx *ctx, struct state *s,
		      struct err *err)
{
	enum scope_kind kind = hpc_ctx_kind(ctx, SCOPE_PROCEDURE);
	uint32_t function = s->function;
	scope_id scope = 0;
	int rc = 0;

	if (!b->has_patterns || (kind != SCOPE_PROCEDURE && kind != SCOPE_ENTRY))
		return 0;
	rc = hpc_scopes_find(&b->t->scopes, ctx, SCOPE_PROCEDURE, &function, &scope, err);
	if (rc >= 0)
		s->flags |= tree_all_match(b, scope);
	return rc;
}

/* Whether paths of state S are wanted; adds F to what is left out when not. */
static bool is_kept(const struct builder *b, const struct state *s)
{
	return !(s->flags & SCOPES_IGNORE) &&
	       (!b->t->scopes.has_focus || (s->flags & SCOPES_FOCUS));
}

static void leave_out(struct builder *b, const struct state *s, const double *f)
{
	double *sums = b->t->left_out[s->flags & SCOPES_IGNORE ? 0 : 1];

	for (size_t i = 0; i < b->n_cols; i++)
		sums[i] += f[i];
}

static void tree_all_add(struct builder *b, double *to, double sign)
{
	for (size_t i = 0; i < b->n_cols; i++)
		to[i] += sign * b->values[i];
}

/* Looks AMOUNT of CTX up into B->values. */
static int look_up(struct builder *b, const struct hpc_ctx *ctx, enum hpc_amount amount,
		   struct err *err)
{
	memset(b->values, 0, (b->n_cols + 1) * sizeof(double));
	return hpc_query_values(b->t->q, &ctx->ctxId, 1, amount, b->values, err);
}

static double *at_node(double *of_nodes, const struct builder *b, node_id n)
{
	return of_nodes + (size_t)n * b->n_cols;
}

/* Adds the F of a procedure that is not shown to what is around it, up to the procedure. */
static void add_to_enclosing(struct builder *b, node_id n)
{
	for (;; n = b->parent.v[n]) {
		tree_all_add(b, at_node(b->shown.v, b, n), 1);
		if (!n || !b->t->scopes.scopes.scopes.v[b->scope.v[n]].nested)
			return;
	}
}

/* Counts CTX, whose state is S below UP. */
static int count(struct builder *b, const struct hpc_ctx *ctx, const struct state *up,
		 const struct state *s, bool is_shown, struct err *err)
{
	enum scope_kind kind = hpc_ctx_kind(ctx, SCOPE_PROCEDURE);
	bool is_called =
		ctx->relation != HPC_LEXICAL || kind == SCOPE_PROCEDURE || kind == SCOPE_ENTRY;
	int rc;

	if (!is_called && (!is_shown || s->node == up->node))
		return 0;
	rc = look_up(b, ctx, AMOUNT_FUNCTION, err);
	if (rc < 0)
		return rc;
	if (!is_kept(b, s)) {
		if (is_called)
			leave_out(b, s, b->values);
		return 0;
	}
	tree_all_add(b, at_node(b->own.v, b, s->node), 1);
	if (!is_called)
		tree_all_add(b, at_node(b->own.v, b, up->node), -1);
	if (!is_shown) {
		add_to_enclosing(b, s->node);
		return 0;
	}
	if (!b->wants_own) {
		rc = look_up(b, ctx, AMOUNT_EXCLUSIVE, err);
		tree_all_add(b, at_node(b->shown.v, b, s->node), 1);
	}
	if (rc >= 0 && s->node != up->node) {
		rc = look_up(b, ctx, AMOUNT_INCLUSIVE, err);
		tree_all_add(b, at_node(b->inclusive.v, b, s->node), 1);
	}
	return rc;
}

static int tree_all_take(struct builder *b, const struct hpc_ctx *ctx, size_t depth,
			 struct err *err)
{
	const struct scopes_opts *so = &b->t->o->scopes;
	enum scope_kind kind = hpc_ctx_kind(ctx, so->level);
	const struct state up = b->stack.v[depth];
	struct state s = up;
	scope_id scope = 0;
	bool is_inlined = kind == SCOPE_PROCEDURE && ctx->relation == HPC_INLINED_CALL;
	bool is_shown = !(is_inlined && so->no_inline);
	int rc = find_flags(b, ctx, &s, err);

	if (rc >= 0 && is_shown && so->level < SCOPE_PROCEDURE) {
		rc = find_whole(b, ctx, &up, &s, &is_shown, &scope, err);
	} else if (rc >= 0 && is_shown) {
		is_shown = hpc_kind_is_shown(kind, so->level);
		if (is_shown)
			rc = hpc_scopes_find(&b->t->scopes, ctx, so->level, &s.function, &scope,
					     err);
	}
	if (rc >= 0 && is_shown)
		s.node = intern_node(b, up.node, scope);
	if (rc >= 0)
		rc = count(b, ctx, &up, &s, is_shown, err);
	b->stack.n = depth + 1;
	vec_push(&b->stack, s);
	return rc;
}

/* --- settling --- */

/* Takes away what rounding left of nodes that have nothing of their own. */
static void tree_all_clean(struct builder *b)
{
	for (size_t i = 0; i < b->own.n; i++)
		if (fabs(b->own.v[i]) < ROUNDING * fabs(b->inclusive.v[i]))
			b->own.v[i] = 0;
}

/* Inclusive amounts anew, of the paths that are kept. */
static void sum_up(struct builder *b)
{
	memset(b->inclusive.v, 0, b->inclusive.n * sizeof(double));
	for (size_t i = b->parent.n; i-- > 0;) {
		double *mine = at_node(b->inclusive.v, b, (node_id)i);
		double *up = at_node(b->inclusive.v, b, b->parent.v[i]);

		for (size_t c = 0; c < b->n_cols; c++) {
			mine[c] += b->own.v[i * b->n_cols + c];
			if (i)
				up[c] += mine[c];
		}
	}
}

static bool *find_kept(const struct builder *b)
{
	bool *keep = xcalloc(b->parent.n, sizeof(*keep));

	for (size_t i = b->parent.n; i-- > 0;) {
		for (size_t c = 0; c < b->n_cols; c++)
			keep[i] |= b->inclusive.v[i * b->n_cols + c] != 0 ||
				   b->shown.v[i * b->n_cols + c] != 0 ||
				   b->own.v[i * b->n_cols + c] != 0;
		keep[b->parent.v[i]] |= keep[i];
	}
	return keep;
}

static void tree_all_settle(struct builder *b)
{
	struct hpc_tree *t = b->t;
	const double *exclusive = b->wants_own ? b->own.v : b->shown.v;
	size_t bytes = b->n_cols * sizeof(double);
	struct preorder p;
	bool *keep;

	tree_all_clean(b);
	if (b->has_patterns)
		sum_up(b);
	keep = find_kept(b);
	preorder_init(&p, b->parent.v, b->parent.n, keep);
	free(keep);
	t->parent = p.parent;
	t->end = p.end;
	t->scope = xcalloc(p.n, sizeof(*t->scope));
	vec_reserve(&t->amounts, 2 * b->n_cols * p.n);
	for (node_id i = 0; i < p.n; i++) {
		double *to = t->amounts.v + 2 * b->n_cols * i;

		t->scope[i] = b->scope.v[p.old[i]];
		memcpy(to, b->inclusive.v + b->n_cols * p.old[i], bytes);
		memcpy(to + b->n_cols, exclusive + b->n_cols * p.old[i], bytes);
	}
	t->amounts.n = 2 * b->n_cols * p.n;
	t->source.parent = t->parent;
	t->source.end = t->end;
	t->source.scope = t->scope;
	free(p.old);
}

int hpc_tree_read_all(struct hpc_tree *t, struct err *err)
{
	struct builder b = {
		.t = t,
		.n_cols = t->q->cols.n,
		.fold = t->o->fold_recursion || t->o->scopes.level < SCOPE_PROCEDURE,
		.has_patterns = t->scopes.has_focus || t->scopes.has_ignore,
		.wants_own = t->o->form != TREE_DOWN || t->o->scopes.level < SCOPE_PROCEDURE,
	};
	struct hpc_walk walk;
	struct hpc_ctx ctx;
	size_t depth;
	int rc;

	b.values = xcalloc(b.n_cols + 1, sizeof(*b.values));
	t->left_out[0] = xcalloc(b.n_cols + 1, sizeof(double));
	t->left_out[1] = xcalloc(b.n_cols + 1, sizeof(double));
	vec_push(&b.stack, (struct state){.function = HPC_NONE, .whole = HPC_NONE});
	add_node(&b, 0, 0);
	hpc_walk_begin(&walk, &t->q->db->meta);
	while ((rc = hpc_walk_next(&walk, &ctx, &depth, err)) > 0) {
		rc = tree_all_take(&b, &ctx, depth, err);
		if (rc < 0)
			break;
	}
	hpc_walk_release(&walk);
	if (rc >= 0)
		tree_all_settle(&b);
	vec_release(&b.stack);
	vec_release(&b.parent);
	vec_release(&b.scope);
	vec_release(&b.inclusive);
	vec_release(&b.shown);
	vec_release(&b.own);
	vec_release(&b.match);
	index_release(&b.index);
	free(b.values);
	return rc;
}
