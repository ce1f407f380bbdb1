/* SPDX-License-Identifier: BSD-2-Clause */
/* Kept lines as struct lines: one unit that was read, whose arrays come from no DWARF. */
#include "resolve/kept_code.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "resolve/lines_impl.h"

/* Where texts of K are in L, + 1; 0: not there yet.  Thousands of rows name the same few files. */
struct numbering {
	struct lines *l;
	const struct kept_code *k;
	uint32_t *at;
};

static uint32_t lines_text(struct numbering *n, uint32_t text)
{
	if (text == KEPT_NONE)
		return LINES_NO_TEXT;
	if (!n->at[text])
		n->at[text] = lines_intern(n->l, n->k->texts.v[text]) + 1;
	return n->at[text] - 1;
}

static void add_rows(struct numbering *n, struct lines_unit *u, const struct kept_proc *p)
{
	vec_each (r, &p->rows)
		vec_push(&u->rows,
			 (struct lines_row){
				 .svma = r->svma,
				 .file = r->file == KEPT_NONE ? 0 : lines_text(n, r->file),
				 .line = r->line,
				 .discriminator = r->discriminator,
				 .column = r->column,
				 .end = r->file == KEPT_NONE,
			 });
	/* What follows is another's. */
	if (p->rows.v[p->rows.n - 1].svma < p->end)
		vec_push(&u->rows, (struct lines_row){.svma = p->end, .end = true});
	vec_each (d, &p->decls)
		vec_push(&u->decls, (struct lines_decl){.svma = d->svma,
							.file = lines_text(n, d->file),
							.line = d->line});
}

static void add_scopes(struct numbering *n, struct lines_unit *u, const struct kept_proc *p)
{
	const uint32_t first = (uint32_t)u->scopes.n;

	vec_each (s, &p->scopes)
		vec_push(&u->scopes, (struct lines_scope){
					     .parent = s->parent == KEPT_NONE ? LINES_NO_SCOPE
									      : first + s->parent,
					     .is_named = true,
					     .has_call = true,
					     .name = lines_text(n, s->name),
					     .column = s->column,
					     .line = s->line,
					     .file = lines_text(n, s->file),
				     });
	vec_each (s, &p->scope_starts)
		vec_push(&u->scope_starts,
			 (struct lines_scope_start){
				 .svma = s->svma,
				 .scope = s->scope == KEPT_NONE ? LINES_NO_SCOPE : first + s->scope,
			 });
	vec_push(&u->scope_starts,
		 (struct lines_scope_start){.svma = p->end, .scope = LINES_NO_SCOPE});
}

static int compare_decls(const void *a, const void *b)
{
	const struct lines_decl *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->svma < y->svma ? -1 : x->svma > y->svma;
}

struct lines *kept_lines(const struct kept_code *k, bool scopes_only)
{
	struct numbering n = {.k = k};
	struct lines_unit *u;

	vec_each (p, &k->procs) {
		if (!p->rows.n)
			continue;
		if (!n.l) {
			n.at = xcalloc(k->texts.n + 1, sizeof(*n.at));
			n.l = xcalloc(1, sizeof(*n.l));
			n.l->fd = n.l->alt_fd = -1;
			n.l->is_indexed = true;
			vec_push(&n.l->units, (struct lines_unit){.is_read = true,
								  .has_decls = true,
								  .has_scopes = true});
		}
		u = &n.l->units.v[0];
		vec_push(&n.l->spans,
			 (struct lines_span){.start = p->start, .end = p->end, .max_end = p->end});
		if (!scopes_only)
			add_rows(&n, u, p);
		add_scopes(&n, u, p);
	}
	if (n.l)
		vec_sort(&n.l->units.v[0].decls, compare_decls);
	free(n.at);
	return n.l;
}
