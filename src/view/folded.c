/* SPDX-License-Identifier: BSD-2-Clause */
/* See folded.h.  The nodes come in preorder, so the text of a path is that of its parent, which is
 * kept, and one name. */
#include "view/folded.h"

#include <inttypes.h>
#include <string.h>

#include "base/vec.h"

/* The path down to a node whose last descendant is before END. */
struct level {
	node_id end;
	size_t n_bytes;
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

uint64_t folded_write(struct str *out, struct tree *t)
{
	VEC(struct level) levels = {0};
	struct str path = {0};
	uint64_t sum = 0;

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
		str_addn(out, path.v, path.n);
		str_addf(out, " %" PRIu64 "\n", n);
		sum += n;
	}
	str_release(&path);
	vec_release(&levels);
	return sum;
}
