/* SPDX-License-Identifier: BSD-2-Clause */
/* See path_texts.h.  Each row comes behind the one above it, so the text of a path is that of its
 * parent, which is kept, and one name. */
#include "query/rows/path_texts.h"

#include <string.h>

#include "query/source.h"

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

static int by_text(const void *a, const void *b, void *texts)
{
	const struct path_text *x = a, *y = b;

	return strcmp((const char *)texts + x->at, (const char *)texts + y->at);
}

static void add_paths(struct path_texts *ret, struct tree_source *t, const struct tree_rows *rows)
{
	_vec_ VEC(size_t) ends = {0}; /* of the names in PATH */
	_str_ struct str path = {0};

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
		vec_push(&ret->paths, (struct path_text){ret->texts.n, n});
		str_addn(&ret->texts, path.v, path.n + 1);
	}
}

/* Sorts the paths and adds up those of one text. */
static void join_paths(struct path_texts *ret)
{
	const char *texts = ret->texts.v;
	size_t n = 0;

	if (!ret->paths.n)
		return;
	qsort_r(ret->paths.v, ret->paths.n, sizeof(*ret->paths.v), by_text, ret->texts.v);
	for (size_t i = 1; i < ret->paths.n; i++) {
		const struct path_text *p = &ret->paths.v[i];

		if (strcmp(texts + ret->paths.v[n].at, texts + p->at) == 0)
			ret->paths.v[n].amount += p->amount;
		else
			ret->paths.v[++n] = *p;
	}
	ret->paths.n = n + 1;
}

int path_texts_init(struct path_texts *ret, struct tree_source *t, struct err *err)
{
	const struct tree_rows_opts o = {.form = TREE_DOWN};
	struct tree_rows rows = {0};
	int rc = 0;

	*ret = (struct path_texts){0};
	if (t->columns.cols.n)
		rc = tree_rows_init(&rows, t, &o, err);
	if (rc >= 0)
		add_paths(ret, t, &rows);
	join_paths(ret);
	tree_rows_release(&rows);
	return rc;
}

void path_texts_release(struct path_texts *p)
{
	vec_release(&p->paths);
	str_release(&p->texts);
}
