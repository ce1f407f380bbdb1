/* SPDX-License-Identifier: BSD-2-Clause */
/* See tree.h.
 *
 * Each context is looked at once for each group of owners at the top of the tree, whatever number
 * of values it has: `memo` says which node it became and what is known of its path.  Nodes are made
 * parent first, in columns; so one pass backwards gives the inclusive counts.  At the end they are
 * numbered anew in preorder, and those without samples go. */
#include "query/samples/tree.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "query/rows/preorder.h"

/* --- what levels --- */

static const struct {
	const char *name;
	enum scope_kind level;
} levels[] = {{"procedure", SCOPE_PROCEDURE}, {"function", SCOPE_PROCEDURE},
	      {"symbol", SCOPE_PROCEDURE},    {"sym", SCOPE_PROCEDURE},
	      {"image", SCOPE_IMAGE},	      {"dso", SCOPE_IMAGE},
	      {"file", SCOPE_FILE},	      {"loop", SCOPE_LOOP},
	      {"line", SCOPE_LINE},	      {"srcline", SCOPE_LINE},
	      {"address", SCOPE_ADDRESS},     {"instruction", SCOPE_ADDRESS}};

static int add_level(const char *name, size_t n, struct tree_opts *o, bool *have_code,
		     struct err *err)
{
	enum owner_key k = owner_key_find(name, n);

	if (k < N_OWNER_KEYS) {
		for (unsigned i = 0; i < o->n_owners; i++)
			if (o->owners[i] == k)
				return 0;
		o->owners[o->n_owners++] = k;
		return 0;
	}
	for (size_t i = 0; i < n_elems(levels); i++) {
		if (strlen(levels[i].name) != n || memcmp(levels[i].name, name, n) != 0)
			continue;
		if (*have_code)
			return err_set(
				err, -EINVAL,
				"--by: only one of procedure, image, file, loop, line and address");
		*have_code = true;
		o->scopes.level = levels[i].level;
		return 0;
	}
	return err_set(err, -EINVAL,
		       "--by %.*s: must be procedure, image, line or address, behind any of comm, "
		       "pid, tid, cgroup, unit, container, pod, namespace, image-tag, version, "
		       "tenant, label, uid, exe, host",
		       (int)n, name);
}

int tree_parse_by(const char *text, struct tree_opts *ret, struct err *err)
{
	struct tree_opts o = *ret;
	bool have_code = false;
	int rc = 0;

	o.n_owners = 0;
	o.scopes.level = SCOPE_PROCEDURE;
	for (const char *s = text, *end; s && rc >= 0; s = *end ? end + 1 : NULL) {
		end = s + strcspn(s, ",");
		rc = add_level(s, (size_t)(end - s), &o, &have_code, err);
	}
	if (rc >= 0)
		*ret = o;
	return rc;
}

/* --- building --- */

/* What a context became: its node and, above, what its path has. */
#define NODE_BITS   28
#define NODE_MASK   ((1u << NODE_BITS) - 1)
#define HAS(flag)   ((uint32_t)(flag) << NODE_BITS)
#define N_STATES(n) ((n) <= NODE_MASK)

struct builder {
	struct tree *t;
	const struct profile *p;
	const struct tree_opts *o;
	bool fold;
	VEC(node_id) parent;
	VEC(scope_id) scope;
	VEC(uint64_t) exclusive;
	struct index index;
	uint32_t *memo;	     /* by context; 0: not looked at */
	VEC(ctx_id) touched; /* those with a memo, when it will be reset */
	VEC(ctx_id) path;    /* being looked at, innermost first */
};

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

static node_id add_node(struct builder *b, node_id parent, scope_id scope)
{
	node_id n = (node_id)b->parent.n;
	unsigned n_cols = b->t->q->n_cols;

	assert(N_STATES(n));
	vec_push(&b->parent, parent);
	vec_push(&b->scope, scope);
	vec_reserve(&b->exclusive, n_cols + 1); /* there are bytes also without columns */
	memset(b->exclusive.v + b->exclusive.n, 0, n_cols * sizeof(uint64_t));
	b->exclusive.n += n_cols;
	return n;
}

static node_id intern_node(struct builder *b, node_id parent, scope_id scope)
{
	struct node_key key = {parent, scope};
	uint64_t hash = hash_pair(parent, scope);
	uint32_t i = index_find(&b->index, hash, same_node, b, &key);

	if (i == INDEX_NONE) {
		i = add_node(b, parent, scope);
		index_add(&b->index, hash, i);
	}
	return i;
}

/* The state of a context at PLACE whose caller's is STATE. */
static uint32_t step(struct builder *b, uint32_t state, place_id place)
{
	const struct scopes *s = &b->t->scopes;
	uint32_t flags = (state & ~NODE_MASK) | HAS(s->flags[place]), n;
	node_id node = state & NODE_MASK;
	const scope_id *scopes;

	if (flags & HAS(SCOPES_IGNORE))
		return node | flags;
	scopes = scopes_of_place(s, place, &n);
	for (uint32_t i = 0; i < n; i++)
		if (!b->fold || b->scope.v[node] != scopes[i])
			node = intern_node(b, node, scopes[i]);
	return node | flags;
}

/* The state of CTX below node START. */
static uint32_t find_state(struct builder *b, ctx_id ctx, node_id start, bool keep_touched)
{
	uint32_t state;

	for (; ctx && !b->memo[ctx]; ctx = b->p->ctxs.v[ctx].parent)
		vec_push(&b->path, ctx);
	state = ctx ? b->memo[ctx] : start;
	while (b->path.n) {
		ctx = b->path.v[--b->path.n];
		state = step(b, state, b->p->ctxs.v[ctx].place);
		b->memo[ctx] = state;
		if (keep_touched)
			vec_push(&b->touched, ctx);
	}
	return state;
}

static bool wants_value(const struct builder *b, const struct value *v)
{
	unsigned n;

	query_shares(b->t->q, v, &n);
	return n && image_ids_want(b->o->images, profile_leaf(b->p, v->ctx)->image);
}

static void add_value(struct builder *b, const struct value *v, node_id start, bool keep_touched)
{
	struct tree *t = b->t;
	uint32_t state;

	if (!wants_value(b, v))
		return;
	state = find_state(b, v->ctx, start, keep_touched);
	if (state & HAS(SCOPES_IGNORE)) {
		query_add_value(t->q, v, t->n_ignored);
		return;
	}
	if (b->o->scopes.focus && !(state & HAS(SCOPES_FOCUS))) {
		query_add_value(t->q, v, t->n_not_focus);
		return;
	}
	if (state & HAS(SCOPES_GUESSED))
		query_add_value(t->q, v, t->n_guessed);
	if (state & HAS(SCOPES_MARKED))
		query_add_value(t->q, v, t->n_truncated);
	query_add_value(t->q, v, b->exclusive.v + (size_t)(state & NODE_MASK) * t->q->n_cols);
}

/* The node at the top that OWNER's samples are below. */
static node_id owner_node(struct builder *b, const struct owner *o)
{
	node_id node = 0;

	for (unsigned i = 0; i < b->o->n_owners; i++) {
		enum owner_key k = b->o->owners[i];
		struct scope sc = {.kind = SCOPE_OWNER,
				   .image = SCOPE_NO_IMAGE,
				   .proc = PROC_NONE,
				   .svma = owner_value(o, k),
				   .owner = k};

		if (!owner_is_known(o, k)) {
			sc.name = owner_stand_in(o, k);
		} else if (owner_key_is_number(k)) {
			_mem_ char *text = owner_number_text(b->p, o, k);

			sc.name = arena_strdup(&b->t->scopes.arena, text);
		} else {
			sc.name = owner_text(b->p, o, k);
		}
		node = intern_node(b, node, scopes_intern(&b->t->scopes, &sc));
	}
	return node;
}

/* Values by owners' nodes, one node after the other, so that a memo serves one node at a time. */
static void add_values_by_owner(struct builder *b)
{
	const struct profile *p = b->p;
	uint32_t *group_of = xcalloc(p->owners.n + 1, sizeof(*group_of)), *of_node, *sorted;
	_vec_ VEC(node_id) starts = {0};
	size_t *at;

	for (owner_id o = 0; o < p->owners.n; o++)
		group_of[o] = owner_node(b, &p->owners.v[o]);
	of_node = xcalloc(b->parent.n, sizeof(*of_node));
	for (owner_id o = 0; o < p->owners.n; o++) {
		node_id start = group_of[o];

		if (!of_node[start]) {
			vec_push(&starts, start);
			of_node[start] = (uint32_t)starts.n;
		}
		group_of[o] = of_node[start] - 1;
	}
	free(of_node);
	at = xcalloc(starts.n + 1, sizeof(*at));
	sorted = xcalloc(p->values.n + 1, sizeof(*sorted));
	vec_each (v, &p->values)
		at[group_of[v->owner] + 1]++;
	for (size_t g = 1; g <= starts.n; g++)
		at[g] += at[g - 1];
	for (size_t i = 0; i < p->values.n; i++)
		sorted[at[group_of[p->values.v[i].owner]]++] = (uint32_t)i;
	for (size_t g = 0, i = 0; g < starts.n; g++) {
		for (; i < at[g]; i++)
			add_value(b, &p->values.v[sorted[i]], starts.v[g], true);
		vec_each (ctx, &b->touched)
			b->memo[*ctx] = 0;
		b->touched.n = 0;
	}
	free(group_of);
	free(at);
	free(sorted);
}

/* --- settling --- */

/* Sums of all below, by node as they were made. */
static uint64_t *sum_up(const struct builder *b)
{
	unsigned n_cols = b->t->q->n_cols;
	size_t n = b->parent.n;
	uint64_t *sums = xcalloc(n * n_cols + 1, sizeof(*sums));

	for (size_t i = n; i-- > 0;)
		for (unsigned c = 0; c < n_cols; c++) {
			sums[i * n_cols + c] += b->exclusive.v[i * n_cols + c];
			if (i)
				sums[(size_t)b->parent.v[i] * n_cols + c] += sums[i * n_cols + c];
		}
	return sums;
}

static bool has_samples(const uint64_t *sums, size_t node, unsigned n_cols)
{
	for (unsigned c = 0; c < n_cols; c++)
		if (sums[node * n_cols + c])
			return true;
	return false;
}

/* Numbers the nodes with samples in preorder. */
static struct preorder put_in_order(const struct builder *b, const uint64_t *sums)
{
	size_t n = b->parent.n;
	bool *keep = xcalloc(n, sizeof(*keep));
	struct preorder p;

	for (size_t i = 0; i < n; i++)
		keep[i] = has_samples(sums, i, b->t->q->n_cols);
	preorder_init(&p, b->parent.v, n, keep);
	free(keep);
	return p;
}

static void tree_settle(struct builder *b)
{
	struct tree *t = b->t;
	uint64_t *sums = sum_up(b);
	const node_id *order;
	size_t bytes = t->q->n_cols * sizeof(uint64_t);
	struct preorder p;

	index_release(&b->index);
	p = put_in_order(b, sums);
	order = p.old;
	t->n = p.n;
	t->parent = p.parent;
	t->end = p.end;
	vec_release(&b->parent);
	t->scope = xcalloc(t->n, sizeof(*t->scope));
	for (node_id i = 0; i < t->n; i++)
		t->scope[i] = b->scope.v[order[i]];
	vec_release(&b->scope);
	t->exclusive = xmalloc(t->n * bytes + 1);
	for (node_id i = 0; i < t->n; i++)
		memcpy((char *)t->exclusive + i * bytes, (char *)b->exclusive.v + order[i] * bytes,
		       bytes);
	vec_release(&b->exclusive);
	t->inclusive = xmalloc(t->n * bytes + 1);
	for (node_id i = 0; i < t->n; i++)
		memcpy((char *)t->inclusive + i * bytes, (char *)sums + order[i] * bytes, bytes);
	free(sums);
	free(p.old);
}

/* The places of all contexts with samples that count, and of their callers. */
static bool *find_used(struct builder *b)
{
	const struct profile *p = b->p;
	bool *used = xcalloc(p->places.n + 1, sizeof(*used));
	bool *seen = xcalloc(p->ctxs.n + 1, sizeof(*seen));

	vec_each (v, &p->values) {
		if (!wants_value(b, v))
			continue;
		for (ctx_id x = v->ctx; x && !seen[x]; x = p->ctxs.v[x].parent) {
			seen[x] = true;
			used[p->ctxs.v[x].place] = true;
		}
	}
	free(seen);
	return used;
}

int tree_init(struct tree *t, struct query *q, const struct tree_opts *o, struct err *err)
{
	struct builder b = {.t = t, .p = q->profile, .o = o};
	bool *used;
	int rc;

	*t = (struct tree){.q = q, .level = o->scopes.level, .n_owner_levels = o->n_owners};
	used = find_used(&b);
	rc = scopes_init(&t->scopes, q, &o->scopes, used, err);
	free(used);
	if (rc < 0)
		return rc;
	t->n_guessed = xcalloc(q->n_cols + 1, sizeof(*t->n_guessed));
	t->n_truncated = xcalloc(q->n_cols + 1, sizeof(*t->n_truncated));
	t->n_ignored = xcalloc(q->n_cols + 1, sizeof(*t->n_ignored));
	t->n_not_focus = xcalloc(q->n_cols + 1, sizeof(*t->n_not_focus));
	/* Two procedures of one image that call each other are that image all the while. */
	b.fold = o->fold_recursion || o->scopes.level == SCOPE_IMAGE;
	b.memo = xcalloc(q->profile->ctxs.n + 1, sizeof(*b.memo));
	add_node(&b, 0, 0);
	if (o->n_owners)
		add_values_by_owner(&b);
	else
		vec_each (v, &q->profile->values)
			add_value(&b, v, 0, false);
	free(b.memo);
	vec_release(&b.touched);
	vec_release(&b.path);
	tree_settle(&b);
	return 0;
}

void tree_release(struct tree *t)
{
	scopes_release(&t->scopes);
	free(t->parent);
	free(t->end);
	free(t->scope);
	free(t->exclusive);
	free(t->inclusive);
	free(t->n_guessed);
	free(t->n_truncated);
	free(t->n_ignored);
	free(t->n_not_focus);
	*t = (struct tree){0};
}
