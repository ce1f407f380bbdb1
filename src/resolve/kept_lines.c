/* SPDX-License-Identifier: BSD-2-Clause */
/* Kept lines as struct lines: one unit that was read, whose arrays come from no DWARF. */
#include "resolve/kept_code.h"

#include "base/alloc.h"
#include "resolve/lines_impl.h"

/* TEXT of K in L. */
static uint32_t lines_text(struct lines *l, const struct kept_code *k, uint32_t text)
{
	return text == KEPT_NONE ? LINES_NO_TEXT : lines_intern(l, k->texts.v[text]);
}

static void add_rows(struct lines *l, struct lines_unit *u, const struct kept_code *k,
		     const struct kept_proc *p)
{
	vec_each (r, &p->rows)
		vec_push(&u->rows,
			 (struct lines_row){
				 .svma = r->svma,
				 .file = r->file == KEPT_NONE ? 0 : lines_text(l, k, r->file),
				 .line = r->line,
				 .discriminator = r->discriminator,
				 .column = r->column,
				 .end = r->file == KEPT_NONE,
			 });
	/* What follows is another's. */
	if (p->rows.v[p->rows.n - 1].svma < p->end)
		vec_push(&u->rows, (struct lines_row){.svma = p->end, .end = true});
}

static void add_scopes(struct lines *l, struct lines_unit *u, const struct kept_code *k,
		       const struct kept_proc *p)
{
	const uint32_t first = (uint32_t)u->scopes.n;

	vec_each (s, &p->scopes)
		vec_push(&u->scopes, (struct lines_scope){
					     .parent = s->parent == KEPT_NONE ? LINES_NO_SCOPE
									      : first + s->parent,
					     .is_named = true,
					     .has_call = true,
					     .name = lines_text(l, k, s->name),
					     .column = s->column,
					     .line = s->line,
					     .file = lines_text(l, k, s->file),
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

struct lines *kept_lines(const struct kept_code *k)
{
	struct lines *l = NULL;
	struct lines_unit *u;

	vec_each (p, &k->procs) {
		if (!p->rows.n)
			continue;
		if (!l) {
			l = xcalloc(1, sizeof(*l));
			l->fd = l->alt_fd = -1;
			l->is_indexed = true;
			vec_push(&l->units, (struct lines_unit){.is_read = true,
								.has_decls = true,
								.has_scopes = true});
		}
		u = &l->units.v[0];
		vec_push(&l->spans,
			 (struct lines_span){.start = p->start, .end = p->end, .max_end = p->end});
		add_rows(l, u, k, p);
		add_scopes(l, u, k, p);
		vec_each (d, &p->decls)
			vec_push(&u->decls, (struct lines_decl){.svma = d->svma,
								.file = lines_text(l, k, d->file),
								.line = d->line});
	}
	if (l)
		vec_sort(&l->units.v[0].decls, compare_decls);
	return l;
}
