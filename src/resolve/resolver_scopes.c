/* SPDX-License-Identifier: BSD-2-Clause */
/* The scopes of a place: functions, inlined functions and loops in the order they are nested.
 *
 * Two things nest around an instruction, independently: the functions it was inlined from (DWARF)
 * and the loops it runs in (the instructions).  Each loop has a home, the chain of functions it was
 * written in (procedure_loops.c).  Going through the loops from outside and ending at the
 * instruction's own chain, each adds the functions that it does not have in common with the one
 * before.  So a loop's position depends on the loops around it alone and is the same for all its
 * instructions. */
#include <errno.h>

#include "base/alloc.h"
#include "resolve/resolver_impl.h"

#define MAX_CACHE_BYTES (64u << 20)

struct key {
	const void *image;
	uint32_t proc;
};

static bool same_procedure(const void *owner, uint32_t i, const void *key)
{
	const struct loop_cache_entry *e = &((const struct loop_cache *)owner)->v.v[i];
	const struct key *k = key;

	return e->image == k->image && e->proc == k->proc;
}

static void resolver_scopes_forget(struct loop_cache *c)
{
	vec_each (e, &c->v) {
		if (e->loops)
			procedure_loops_release(e->loops);
		free(e->loops);
	}
	c->v.n = 0;
	c->n_bytes = 0;
	index_clear(&c->by_proc);
}

void loop_cache_release(struct loop_cache *c)
{
	resolver_scopes_forget(c);
	vec_release(&c->v);
	index_release(&c->by_proc);
}

void resolver_entry_close_code(struct resolver_entry *e)
{
	if (e->code)
		code_file_close(e->code);
	free(e->code);
	e->code = NULL;
	e->code_tried = false;
}

struct code_file *resolver_entry_code(struct resolver *r, struct resolver_entry *e,
				      const struct image *im)
{
	if (e->code_tried)
		return e->code;
	e->code_tried = true;
	if (im->flags & IMAGE_OFFSETS) /* not svmas */
		return NULL;
	e->code = xmalloc(sizeof(*e->code));
	if (resolver_open_code_file(r, im, e->code, NULL) < 0) {
		free(e->code);
		e->code = NULL;
	}
	return e->code;
}

static const struct loop_cache_entry *find_loops(struct resolver *r, struct resolver_entry *e,
						 const struct image *im, uint32_t proc)
{
	struct key key = {.image = e, .proc = proc};
	uint64_t hash = hash_pair((uint64_t)(uintptr_t)e, proc);
	struct loop_cache *c = &r->loops;
	uint32_t i = index_find(&c->by_proc, hash, same_procedure, c, &key);
	struct loop_cache_entry new = {.image = e, .proc = proc};
	struct loop_source s;

	if (i != INDEX_NONE)
		return &c->v.v[i];
	if (c->n_bytes > MAX_CACHE_BYTES)
		resolver_scopes_forget(c);
	s = (struct loop_source){.code = resolver_entry_code(r, e, im),
				 .symtab = e->result.symtab,
				 .frames = &r->frames,
				 .lines = resolver_entry_lines(r, e, im),
				 .image = e};
	new.loops = xmalloc(sizeof(*new.loops));
	procedure_loops_init(new.loops, &s, proc, &new.whole);
	c->n_bytes += new.loops->n_bytes + sizeof(new);
	index_add(&c->by_proc, hash, (uint32_t)c->v.n);
	vec_push(&c->v, new);
	return &c->v.v[c->v.n - 1];
}

static const struct procedure_loops *loops_of(struct resolver *r, struct resolver_entry *e,
					      const struct image *im, uint32_t proc)
{
	const struct loop_cache_entry *found = find_loops(r, e, im, proc);

	/* A cold part's are kept with the procedure. */
	if (found->whole != proc)
		found = find_loops(r, e, im, found->whole);
	return found->loops;
}

struct writer {
	struct resolver *r;
	struct code_scope *ret;
	size_t n, max;
	bool args;
	struct frame_chain inside; /* the functions written last */
};

static void resolver_scopes_add(struct writer *w, struct code_scope s)
{
	if (w->n < w->max)
		w->ret[w->n] = s;
	w->n++;
}

static void add_place(struct writer *w, enum code_scope_kind kind, const struct frame *f)
{
	const char *file = f->file == FRAME_NO_TEXT ? NULL : w->r->frames.files.v[f->file];

	resolver_scopes_add(w, (struct code_scope){.kind = kind,
						   .column = f->column,
						   .line = f->line,
						   .file = file,
						   .proc = PROC_NONE});
}

/* Goes into the functions of C that the scope before is not in. */
static void resolver_scopes_enter(struct writer *w, struct frame_chain c)
{
	size_t i = frame_chain_common(w->inside, c);

	for (i = i ? i : 1; i < c.n; i++) {
		add_place(w, CODE_LINE, &c.v[i - 1]);
		resolver_scopes_add(
			w, (struct code_scope){.kind = CODE_INLINED,
					       .name = frames_name(&w->r->frames, &c.v[i], w->args),
					       .proc = PROC_NONE});
	}
	w->inside = c;
}

#define MAX_LOOPS 64 /* around one place; of more, the outermost */

size_t resolver_scopes(struct resolver *r, const struct image *im, uint64_t svma, bool args,
		       struct code_scope *ret, size_t max)
{
	struct resolver_entry *e = resolver_entry_find(r, im);
	struct writer w = {.r = r, .ret = ret, .max = max, .args = args};
	uint32_t proc = symtab_find(e->result.symtab, svma), loops[MAX_LOOPS];
	const struct procedure_loops *p =
		proc == PROC_NONE || e->kind == IMAGE_SCRIPT ? NULL : loops_of(r, e, im, proc);
	struct resolved_frame first = {.proc = PROC_NONE};
	struct frame_chain place;
	size_t n;

	place.n = resolver_entry_frames(r, e, im, svma, &place.v);
	resolver_name_procedure(r, e, svma, args, &place.v[0], &first);
	resolver_scopes_add(
		&w,
		(struct code_scope){.kind = CODE_FUNCTION, .name = first.name, .proc = first.proc});
	w.inside = (struct frame_chain){.v = place.v, .n = 1};
	n = p ? loops_find_chain(&p->loops, svma, loops, MAX_LOOPS) : 0;
	for (size_t i = 0; i < n && i < MAX_LOOPS; i++) {
		const struct loop *l = &p->loops.v.v[loops[i]];
		struct frame_chain home = procedure_loops_home(p, loops[i]);

		resolver_scopes_enter(&w, home);
		add_place(&w, CODE_LOOP, &home.v[home.n - 1]);
		if (w.n <= max) {
			ret[w.n - 1].svma = l->header;
			ret[w.n - 1].irreducible = l->irreducible;
		}
	}
	resolver_scopes_enter(&w, place);
	add_place(&w, CODE_LINE, &place.v[place.n - 1]);
	return w.n;
}

size_t resolver_sites(struct resolver *r, const struct image *im, uint64_t svma,
		      struct resolved_site *ret, size_t max)
{
	struct resolver_entry *e = resolver_entry_find(r, im);
	struct lines *l = resolver_entry_lines(r, e, im);
	struct inline_scope scopes[INLINES_MAX];
	struct line at = {0};
	size_t n = l ? inlines_find(l, svma, scopes, INLINES_MAX) : 0;

	if (n > max)
		n = max;
	if (n)
		lines_find(l, svma, &at);
	for (size_t i = 0; i < n; i++) {
		const struct inline_scope *next = i + 1 < n ? &scopes[i + 1] : NULL;

		ret[i] = (struct resolved_site){
			.linked = scopes[i].name,
			.start_line = scopes[i].decl_line,
			.line = next ? next->line : at.line,
			.discriminator = next ? next->discriminator : at.discriminator,
		};
	}
	return n;
}

bool resolver_declaration(struct resolver *r, const struct image *im, uint64_t start,
			  const char **ret_file, uint32_t *ret_line)
{
	struct resolver_entry *e = resolver_entry_find(r, im);
	struct lines *l = resolver_entry_lines(r, e, im);

	return l && lines_declaration(l, start, ret_file, ret_line);
}
