/* SPDX-License-Identifier: BSD-2-Clause */
/* See folded.h.  The nodes come in preorder, so the text of a path is that of its parent, which is
 * kept, and one name.  Lines are sorted, so that they do not depend on the order things were
 * recorded in, and procedures of one name in different images are one. */
#include "view/folded.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* The path down to a node whose last descendant is before END. */
struct level {
	node_id end;
	size_t n_bytes;
};

struct stack {
	size_t at; /* of its text */
	uint64_t n;
};

struct stacks {
	struct stack *v;
	size_t n, cap;
};

static void add_name(struct str *s, const char *name, bool is_owner)
{
	for (; *name; name++) {
		unsigned char c = (unsigned char)*name;

		if (c == ';')
			str_addc(s, ':');
		else if (c < 0x20 || c == 0x7f)
			str_addc(s, '?');
		else
			str_addc(s, is_owner && c == ' ' ? '_' : *name);
	}
}

static void add_scope(struct str *s, struct tree *t, const struct scope *sc)
{
	const struct profile *p = t->q->profile;
	bool code = sc->kind == SCOPE_PROCEDURE && sc->image != SCOPE_NO_IMAGE;
	const char *name = sc->name;
	bool bare = code && !sc->inlined && sc->proc == PROC_NONE && *name == '[' &&
		    p->images.v[sc->image].kind != IMAGE_UNKNOWN;

	if (bare)
		name = str_basename(p->images.v[sc->image].path);
	if (bare && *name != '[')
		str_addc(s, '[');
	add_name(s, *name ? name : "[unknown]", sc->kind == SCOPE_OWNER);
	if (bare && *name != '[')
		str_addc(s, ']');
	if (sc->inlined)
		str_add(s, "_[i]");
	else if (scope_is_kernel(p, sc))
		str_add(s, "_[k]");
	else if (code && p->images.v[sc->image].kind == IMAGE_JIT)
		str_add(s, "_[j]");
}

/* Collects the text of each path with samples, with a NUL behind it. */
static void collect(struct tree *t, struct str *texts, struct stacks *ret)
{
	VEC(struct level) levels = {0};
	struct str path = {0};

	for (node_id i = 1; t->q->n_cols && i < t->n; i++) {
		uint64_t n = tree_exclusive(t, i)[t->q->sort];

		while (levels.n && i >= levels.v[levels.n - 1].end)
			levels.n--;
		path.n = levels.n ? levels.v[levels.n - 1].n_bytes : 0;
		if (levels.n)
			str_addc(&path, ';');
		add_scope(&path, t, tree_scope(t, i));
		vec_push(&levels, (struct level){t->end[i], path.n});
		if (!n)
			continue;
		vec_push(ret, (struct stack){texts->n, n});
		str_addn(texts, path.v, path.n + 1);
	}
	str_release(&path);
	vec_release(&levels);
}

static int compare_stacks(const void *a, const void *b, void *arg)
{
	const struct stack *x = a, *y = b;
	const char *texts = arg;

	return strcmp(texts + x->at, texts + y->at);
}

uint64_t folded_write(struct str *out, struct tree *t)
{
	struct stacks stacks = {0};
	struct str texts = {0};
	uint64_t sum = 0;

	collect(t, &texts, &stacks);
	if (stacks.n > 1)
		qsort_r(stacks.v, stacks.n, sizeof(*stacks.v), compare_stacks, texts.v);
	for (size_t i = 0; i < stacks.n; i++) {
		uint64_t n = stacks.v[i].n;

		while (i + 1 < stacks.n &&
		       compare_stacks(&stacks.v[i], &stacks.v[i + 1], texts.v) == 0)
			n += stacks.v[++i].n;
		str_add(out, texts.v + stacks.v[i].at);
		str_addf(out, " %" PRIu64 "\n", n);
		sum += n;
	}
	vec_release(&stacks);
	str_release(&texts);
	return sum;
}
