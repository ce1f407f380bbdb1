/* SPDX-License-Identifier: BSD-2-Clause */
/* See folded.h.  Each row comes behind the one above it, so the text of a path is that of its
 * parent, which is kept, and one name.  Lines are sorted, so that they do not depend on the order
 * things were recorded in, and procedures of one name in different images are one. */
#include "view/folded.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

struct stack {
	size_t at; /* of its text */
	double n;
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

static void add_scope(struct str *s, struct tree_source *t, const struct scope *sc)
{
	const bool code = sc->kind == SCOPE_PROCEDURE && sc->image != SCOPE_NO_IMAGE;
	struct flat_image im = {.path = ""};
	const char *name = sc->name;
	bool bare, is_jit;

	if (code)
		im = t->source->ops->image(t->source, sc->image);
	is_jit = im.kind && strcmp(im.kind, "jit") == 0;
	bare = code && !sc->inlined && sc->proc == PROC_NONE && *name == '[' && im.file;
	if (bare)
		name = str_basename(im.file);
	if (bare && *name != '[')
		str_addc(s, '[');
	add_name(s, *name ? name : "[unknown]", sc->kind == SCOPE_OWNER);
	if (bare && *name != '[')
		str_addc(s, ']');
	if (sc->inlined)
		str_add(s, "_[i]");
	else if (t->is_kernel && t->is_kernel(t, sc))
		str_add(s, "_[k]");
	else if (is_jit)
		str_add(s, "_[j]");
}

/* Collects the text of each path with an amount, with a NUL behind it. */
static void collect(struct tree_source *t, const struct tree_rows *rows, struct str *texts,
		    struct stacks *ret)
{
	VEC(size_t) ends = {0}; /* of the names in PATH */
	struct str path = {0};

	vec_each (row, &rows->rows) {
		double n = row->exclusive[t->columns.hide];

		ends.n = row->depth;
		path.n = ends.n ? ends.v[ends.n - 1] : 0;
		if (ends.n)
			str_addc(&path, ';');
		add_scope(&path, t, &t->scopes->scopes.v[row->scope]);
		vec_push(&ends, path.n);
		if (!(n > 0))
			continue;
		vec_push(ret, (struct stack){texts->n, n});
		str_addn(texts, path.v, path.n + 1);
	}
	str_release(&path);
	vec_release(&ends);
}

static int compare_stacks(const void *a, const void *b, void *arg)
{
	const struct stack *x = a, *y = b;
	const char *texts = arg;

	return strcmp(texts + x->at, texts + y->at);
}

int folded_write(struct str *out, struct tree_source *t, double scale, uint64_t *ret_sum,
		 struct err *err)
{
	const struct tree_rows_opts o = {.form = TREE_DOWN};
	struct stacks stacks = {0};
	struct str texts = {0};
	struct tree_rows rows = {0};
	int rc = 0;

	*ret_sum = 0;
	if (t->columns.cols.n)
		rc = tree_rows_init(&rows, t, &o, err);
	if (!rc)
		collect(t, &rows, &texts, &stacks);
	if (stacks.n > 1)
		qsort_r(stacks.v, stacks.n, sizeof(*stacks.v), compare_stacks, texts.v);
	for (size_t i = 0; i < stacks.n; i++) {
		double n = stacks.v[i].n;
		uint64_t whole;

		while (i + 1 < stacks.n &&
		       compare_stacks(&stacks.v[i], &stacks.v[i + 1], texts.v) == 0)
			n += stacks.v[++i].n;
		whole = (uint64_t)llround(n * scale);
		if (!whole)
			continue;
		str_add(out, texts.v + stacks.v[i].at);
		str_addf(out, " %" PRIu64 "\n", whole);
		*ret_sum += whole;
	}
	tree_rows_release(&rows);
	vec_release(&stacks);
	str_release(&texts);
	return rc;
}
