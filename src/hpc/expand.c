/* SPDX-License-Identifier: BSD-2-Clause */
/* See expand.h.
 *
 * First each place that a used context has becomes a chain of elements, what its contexts have in
 * common; places are gone through image by image in order of address, so that an image's symbols
 * and lines are in memory for a while only.  Then each context walks its place's chain down from
 * its caller's node.  Callers have smaller numbers than what they called, so that one pass over
 * the contexts does it. */
#include "hpc/expand.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "hpc/call_sites.h"

/* A place's elements in the pool, outermost first, and where threads begin that begin there. */
struct chain {
	uint32_t first;
	uint16_t n;
	uint8_t entry; /* enum hpc_entry_point */
	bool nameless; /* no symbol says what it is */
};

/* The most scopes of one place.  Deeper ones are left out. */
#define MOST_SCOPES 256

struct expander {
	struct contexts *c;
	struct query *q;
	struct chain *chains; /* by place */
	bool *is_caller;      /* by place: some context calls there */
	VEC(struct lexical) pool;
	/* of the image at hand: */
	const struct image *im;
	uint32_t module;
	const struct symtab *st;
	uint32_t proc; /* the last procedure, and where it is defined */
	uint32_t proc_file, proc_line;
	struct code_scope scopes[MOST_SCOPES];
};

/* --- places --- */

/* What runs first in a thread, by the names that libraries give it. */
static enum hpc_entry_point entry_of(const char *function)
{
	static const char *const main_thread[] = {"_start", "__libc_start_main", "_dl_start_user"};
	static const char *const threads[] = {"clone",		 "clone3",	 "__clone",
					      "__clone3",	 "start_thread", "thread_start",
					      "__clone_internal"};

	for (size_t i = 0; i < n_elems(main_thread); i++)
		if (strcmp(function, main_thread[i]) == 0)
			return HPC_ENTRY_MAIN_THREAD;
	for (size_t i = 0; i < n_elems(threads); i++)
		if (strcmp(function, threads[i]) == 0)
			return HPC_ENTRY_THREAD;
	return HPC_ENTRY_UNKNOWN;
}

static void add_function(struct expander *x, const struct hpc_function *f, uint8_t relation)
{
	vec_push(&x->pool, (struct lexical){.function = contexts_function(x->c, f),
					    .relation = relation,
					    .lexicalType = HPC_FUNCTION,
					    .flags = HPC_HAS_FUNCTION});
}

static void add_line(struct expander *x, const struct code_scope *line)
{
	if (line->file && line->line)
		vec_push(&x->pool, (struct lexical){.file = contexts_file(x->c, line->file),
						    .line = line->line,
						    .relation = HPC_LEXICAL,
						    .lexicalType = HPC_LINE,
						    .flags = HPC_HAS_SRC_LOC});
}

/* What stands for the source file where none is known, as HPCToolkit has it: "[libc.so.6]". */
static uint32_t no_file(struct expander *x)
{
	_mem_ char *name = xasprintf("[%s]", str_basename(x->c->modules.v[x->module].path));

	return contexts_file(x->c, name);
}

/* Loops are told apart by where they begin in the module, as HPCToolkit does: two may have one
 * line.  The format wants a file and line of each. */
static void add_loop(struct expander *x, const struct code_scope *loop)
{
	bool known = loop->file && loop->line;

	vec_push(&x->pool,
		 (struct lexical){.module = x->module,
				  .offset = loop->svma,
				  .file = known ? contexts_file(x->c, loop->file) : no_file(x),
				  .line = known ? loop->line : 0,
				  .relation = HPC_LEXICAL,
				  .lexicalType = HPC_LOOP,
				  .flags = HPC_HAS_POINT | HPC_HAS_SRC_LOC});
}

static void add_inlined(struct expander *x, const struct code_scope *call)
{
	const struct hpc_function f = {.name = call->name ? call->name : "[no symbol]",
				       .module = x->module,
				       .file = HPC_NONE};

	add_function(x, &f, HPC_INLINED_CALL);
}

/* Where procedure PROC, which begins at START, is defined; places of one come together. */
static void find_definition(struct expander *x, uint32_t proc, uint64_t start)
{
	const char *file;

	if (proc == x->proc)
		return;
	x->proc = proc;
	x->proc_file = HPC_NONE;
	x->proc_line = 0;
	if (resolver_declaration(x->q->resolver, x->im, start, &file, &x->proc_line))
		x->proc_file = contexts_file(x->c, file);
}

/* The procedure that a place is in. */
static void add_procedure(struct expander *x, struct chain *chain, const struct code_scope *scope)
{
	struct hpc_function f = {.name = "[no symbol]", .module = x->module, .file = HPC_NONE};

	if (x->im->kind == IMAGE_UNKNOWN)
		f.name = "[unknown]";
	else if (scope->name)
		f.name = scope->name;
	if (scope->proc != PROC_NONE) {
		f.offset = symtab_get(x->st, scope->proc).start;
		find_definition(x, scope->proc, f.offset);
		f.file = x->proc_file;
		f.line = x->proc_line;
	}
	add_function(x, &f, HPC_CALL);
	chain->entry = (uint8_t)entry_of(f.name);
	chain->nameless = !scope->name || str_starts(scope->name, SYMTAB_UNNAMED);
}

/* A place that is no code. */
static void expand_mark(struct expander *x, struct chain *chain)
{
	const char *text = x->im->path;
	size_t n = strlen(text);
	struct hpc_function f = {.module = HPC_NONE, .file = HPC_NONE};
	_mem_ char *name = NULL;

	/* As HPCToolkit writes what is no function: "<...>". */
	if (n > 2 && text[0] == '[' && text[n - 1] == ']')
		name = xasprintf("<%.*s>", (int)(n - 2), text + 1);
	f.name = name ? name : text;
	chain->first = (uint32_t)x->pool.n;
	if (strcmp(text, IMAGE_MAIN_ROOT) == 0)
		chain->entry = HPC_ENTRY_MAIN_THREAD;
	else if (strcmp(text, IMAGE_THREAD_ROOT) == 0)
		chain->entry = HPC_ENTRY_THREAD;
	if (chain->entry != HPC_ENTRY_UNKNOWN)
		return; /* the entry itself */
	add_function(x, &f, HPC_CALL);
	chain->n = 1;
}

/* SVMA is the place's, INSN where its instruction begins. */
static void expand_place(struct expander *x, struct chain *chain, uint64_t svma, uint64_t insn)
{
	size_t n = 1;

	x->scopes[0] = (struct code_scope){.kind = CODE_FUNCTION, .proc = PROC_NONE};
	if (x->im->kind != IMAGE_UNKNOWN)
		n = resolver_scopes(x->q->resolver, x->im, svma, true, x->scopes, MOST_SCOPES);
	if (n > MOST_SCOPES)
		n = MOST_SCOPES;
	chain->first = (uint32_t)x->pool.n;
	for (size_t i = 0; i < n; i++) {
		const struct code_scope *s = &x->scopes[i];

		if (s->kind == CODE_FUNCTION)
			add_procedure(x, chain, s);
		else if (s->kind == CODE_LOOP)
			add_loop(x, s);
		else if (s->kind == CODE_LINE)
			add_line(x, s);
		else
			add_inlined(x, s);
	}
	vec_push(&x->pool, (struct lexical){.module = x->module,
					    .offset = insn,
					    .relation = HPC_LEXICAL,
					    .lexicalType = HPC_INSTRUCTION,
					    .flags = HPC_HAS_POINT});
	chain->n = (uint16_t)(x->pool.n - chain->first);
}

static void expand_image(struct expander *x, image_id image, const struct spot *spots, size_t n)
{
	uint64_t *insns;

	x->im = &x->q->profile->images.v[image];
	if (x->im->kind == IMAGE_MARK) {
		for (size_t i = 0; i < n; i++)
			expand_mark(x, &x->chains[spots[i].place]);
		return;
	}
	x->module = contexts_module(x->c, query_image_name(x->q, image));
	x->st = resolver_image(x->q->resolver, x->im)->symtab;
	x->proc = PROC_NONE;
	insns = xcalloc(n, sizeof(*insns));
	call_sites_find(x->q, image, spots, n, x->is_caller, insns);
	for (size_t i = 0; i < n; i++)
		expand_place(x, &x->chains[spots[i].place], spots[i].svma, insns[i]);
	free(insns);
	resolver_rest(x->q->resolver, x->im);
}

static void expand_places(struct expander *x, const bool *used)
{
	const struct profile *p = x->q->profile;
	bool *seen = xcalloc(p->places.n + 1, sizeof(*seen));
	_vec_ VEC(struct spot) spots = {0};

	for (ctx_id ctx = 1; ctx < p->ctxs.n; ctx++) {
		place_id pl = p->ctxs.v[ctx].place;

		if (!used[ctx] || seen[pl])
			continue;
		seen[pl] = true;
		vec_push(&spots, (struct spot){p->places.v[pl].svma, p->places.v[pl].image, pl});
	}
	free(seen);
	vec_sort(&spots, spot_compare);
	for (size_t i = 0, next; i < spots.n; i = next) {
		for (next = i; next < spots.n && spots.v[next].image == spots.v[i].image;)
			next++;
		expand_image(x, spots.v[i].image, spots.v + i, next - i);
	}
}

/* --- contexts --- */

/* Where a path begins whose outermost place PL is.  One that was followed to its end through code
 * without names is taken for the main thread's: the libraries that begin other threads have names.
 * One place alone says nothing. */
static enum hpc_entry_point entry_point(const struct expander *x, place_id pl, bool has_callees)
{
	enum image_kind kind = x->q->profile->images.v[x->q->profile->places.v[pl].image].kind;
	const struct chain *chain = &x->chains[pl];

	if (kind == IMAGE_MARK)
		return (enum hpc_entry_point)chain->entry;
	if (kind != IMAGE_FILE)
		return HPC_ENTRY_UNKNOWN;
	return has_callees && chain->nameless ? HPC_ENTRY_MAIN_THREAD
					      : (enum hpc_entry_point)chain->entry;
}

/* Returns the node that the elements [FIRST, END) of CHAIN lead to from NODE. */
static uint32_t descend(const struct expander *x, uint32_t node, const struct chain *chain,
			uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++)
		node = contexts_child(x->c, node, &x->pool.v[chain->first + i]);
	return node;
}

/* Returns how many elements of CHAIN a called function stands below: all, or all but the
 * instruction. */
static uint32_t n_to_calls(const struct expander *x, const struct chain *chain,
			   enum calls_from from)
{
	const struct lexical *last;

	if (!chain->n)
		return 0;
	last = &x->pool.v[chain->first + chain->n - 1];
	return from == CALLS_FROM_LINE && last->lexicalType == HPC_INSTRUCTION ? chain->n - 1U
									       : chain->n;
}

/* SET and the callers of what is in it, in fresh memory. */
static bool *with_callers(const struct profile *p, const bool *set)
{
	bool *all = xcalloc(p->ctxs.n + 1, sizeof(*all));

	memcpy(all, set, p->ctxs.n * sizeof(*all));
	for (size_t ctx = p->ctxs.n; ctx-- > 1;)
		if (all[ctx])
			all[p->ctxs.v[ctx].parent] = true;
	return all;
}

uint32_t *expand_contexts(struct contexts *c, struct query *q, enum calls_from from,
			  const bool *used_, const bool *own_)
{
	const struct profile *p = q->profile;
	struct expander x = {.c = c, .q = q};
	uint32_t *nodes = xcalloc(p->ctxs.n + 1, sizeof(*nodes));
	uint32_t *callers =
		xcalloc(p->ctxs.n + 1, sizeof(*callers)); /* by context: of what it calls */
	bool *used = with_callers(p, used_), *own = with_callers(p, own_);
	bool *calls = xcalloc(p->ctxs.n + 1, sizeof(*calls));

	for (size_t ctx = p->ctxs.n; ctx-- > 1;)
		if (used[ctx])
			calls[p->ctxs.v[ctx].parent] = true;
	x.is_caller = xcalloc(p->places.n + 1, sizeof(*x.is_caller));
	for (ctx_id ctx = 1; ctx < p->ctxs.n; ctx++)
		if (calls[ctx])
			x.is_caller[p->ctxs.v[ctx].place] = true;
	x.chains = xcalloc(p->places.n + 1, sizeof(*x.chains));
	expand_places(&x, own);
	for (ctx_id ctx = 0; ctx < p->ctxs.n; ctx++) {
		const struct ctx *k = &p->ctxs.v[ctx];
		const struct chain *chain = &x.chains[k->place];
		uint32_t parent, n;

		nodes[ctx] = HPC_NONE;
		if (ctx == 0 || !own[ctx])
			continue;
		parent = k->parent ? callers[k->parent]
				   : contexts_entry(c, entry_point(&x, k->place, calls[ctx]), NULL);
		n = n_to_calls(&x, chain, from);
		callers[ctx] = nodes[ctx] = descend(&x, parent, chain, 0, n);
		if (own_[ctx])
			nodes[ctx] = descend(&x, nodes[ctx], chain, n, chain->n);
	}
	free(callers);
	vec_release(&x.pool);
	free(x.chains);
	free(x.is_caller);
	free(used);
	free(own);
	free(calls);
	return nodes;
}
