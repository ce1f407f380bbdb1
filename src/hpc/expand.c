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

/* A place's elements in the pool, outermost first, and where threads begin that begin there. */
struct chain {
	uint32_t first;
	uint16_t n;
	uint16_t entry; /* enum hpc_entry_point */
};

struct expander {
	struct contexts *c;
	struct query *q;
	struct chain *chains; /* by place */
	VEC(struct lexical) pool;
	/* of the image at hand: */
	const struct image *im;
	uint32_t module;
	const struct symtab *st;
	struct resolved_frame frames[RESOLVER_MAX_FRAMES];
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

static void add_line(struct expander *x, const struct resolved_frame *frame)
{
	if (frame->file && frame->line)
		vec_push(&x->pool, (struct lexical){.file = contexts_file(x->c, frame->file),
						    .line = frame->line,
						    .relation = HPC_LEXICAL,
						    .lexicalType = HPC_LINE,
						    .flags = HPC_HAS_SRC_LOC});
}

/* The procedure that SVMA is in. */
static struct hpc_function procedure(struct expander *x, const struct resolved_frame *frame,
				     uint64_t svma)
{
	struct hpc_function f = {
		.name = "[no symbol]", .module = x->module, .file = HPC_NONE, .offset = svma};
	uint32_t i = x->im->kind == IMAGE_UNKNOWN ? PROC_NONE : frame->proc;

	if (x->im->kind == IMAGE_UNKNOWN) {
		f.name = "[unknown]";
		f.offset = 0;
	} else if (i != PROC_NONE) {
		f.name = resolver_name(x->q->resolver, x->im, i, true);
		f.offset = symtab_get(x->st, i).start;
	} else {
		f.offset = 0;
	}
	return f;
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
	add_function(x, &f, HPC_CALL);
	chain->n = 1;
}

static void expand_place(struct expander *x, struct chain *chain, uint64_t svma)
{
	struct resolved_frame *frames = x->frames;
	size_t n = 1;

	frames[0] = (struct resolved_frame){.proc = PROC_NONE};
	if (x->im->kind != IMAGE_UNKNOWN)
		n = resolver_frames(x->q->resolver, x->im, svma, true, frames, RESOLVER_MAX_FRAMES);
	if (n > RESOLVER_MAX_FRAMES)
		n = RESOLVER_MAX_FRAMES;
	chain->first = (uint32_t)x->pool.n;
	for (size_t i = 0; i < n; i++) {
		struct hpc_function f = {.module = x->module, .file = HPC_NONE};

		if (i == 0)
			f = procedure(x, &frames[0], svma);
		else
			f.name = frames[i].name ? frames[i].name : "[no symbol]";
		add_function(x, &f, i ? HPC_INLINED_CALL : HPC_CALL);
		if (i == 0)
			chain->entry = (uint16_t)entry_of(f.name);
		add_line(x, &frames[i]);
	}
	vec_push(&x->pool, (struct lexical){.module = x->module,
					    .offset = svma,
					    .relation = HPC_LEXICAL,
					    .lexicalType = HPC_INSTRUCTION,
					    .flags = HPC_HAS_POINT});
	chain->n = (uint16_t)(x->pool.n - chain->first);
}

static void expand_image(struct expander *x, image_id image, const struct spot *spots, size_t n)
{
	x->im = &x->q->profile->images.v[image];
	if (x->im->kind == IMAGE_MARK) {
		for (size_t i = 0; i < n; i++)
			expand_mark(x, &x->chains[spots[i].place]);
		return;
	}
	x->module = contexts_module(x->c, query_image_name(x->q, image));
	x->st = resolver_image(x->q->resolver, x->im)->symtab;
	for (size_t i = 0; i < n; i++)
		expand_place(x, &x->chains[spots[i].place], spots[i].svma);
	resolver_rest(x->q->resolver, x->im);
}

static void expand_places(struct expander *x, const bool *used)
{
	const struct profile *p = x->q->profile;
	bool *seen = xcalloc(p->places.n + 1, sizeof(*seen));
	VEC(struct spot) spots = {0};

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
	vec_release(&spots);
}

/* --- contexts --- */

/* Where a path begins whose outermost place PL is: a path that was followed to its end in user
 * space, through code without names, is the main thread's; one place alone says nothing. */
static enum hpc_entry_point entry_point(const struct expander *x, place_id pl, bool has_callees)
{
	enum image_kind kind = x->q->profile->images.v[x->q->profile->places.v[pl].image].kind;
	const struct chain *chain = &x->chains[pl];

	if (chain->entry != HPC_ENTRY_UNKNOWN)
		return kind == IMAGE_FILE ? chain->entry : HPC_ENTRY_UNKNOWN;
	if (!has_callees || kind != IMAGE_FILE)
		return HPC_ENTRY_UNKNOWN;
	return HPC_ENTRY_MAIN_THREAD;
}

static uint32_t descend(const struct expander *x, uint32_t node, const struct chain *chain)
{
	for (uint32_t i = 0; i < chain->n; i++)
		node = contexts_child(x->c, node, &x->pool.v[chain->first + i]);
	return node;
}

uint32_t *expand_contexts(struct contexts *c, struct query *q, const bool *used_)
{
	const struct profile *p = q->profile;
	struct expander x = {.c = c, .q = q};
	uint32_t *nodes = xcalloc(p->ctxs.n + 1, sizeof(*nodes));
	bool *used = xcalloc(p->ctxs.n + 1, sizeof(*used));
	bool *calls = xcalloc(p->ctxs.n + 1, sizeof(*calls));

	memcpy(used, used_, p->ctxs.n * sizeof(*used));
	for (size_t ctx = p->ctxs.n; ctx-- > 1;) {
		if (!used[ctx])
			continue;
		used[p->ctxs.v[ctx].parent] = true;
		calls[p->ctxs.v[ctx].parent] = true;
	}
	x.chains = xcalloc(p->places.n + 1, sizeof(*x.chains));
	expand_places(&x, used);
	for (ctx_id ctx = 0; ctx < p->ctxs.n; ctx++) {
		const struct ctx *k = &p->ctxs.v[ctx];
		uint32_t parent;

		nodes[ctx] = HPC_NONE;
		if (ctx == 0 || !used[ctx])
			continue;
		parent = k->parent ? nodes[k->parent]
				   : contexts_entry(c, entry_point(&x, k->place, calls[ctx]));
		nodes[ctx] = descend(&x, parent, &x.chains[k->place]);
	}
	vec_release(&x.pool);
	free(x.chains);
	free(used);
	free(calls);
	return nodes;
}
