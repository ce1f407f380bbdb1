/* SPDX-License-Identifier: BSD-2-Clause */
/* See propagate.h.  The scopes are HPCToolkit's (reference: FORMATS.md 4.0 "Performance Metrics",
 * and what its databases show): function takes in children that are enclosed, not called; lex_aware
 * is the same but that a loop leaves out the loops in it, wherever they are below; execution takes
 * in all.
 *
 * A touched context gets the next free slot.  In the end its number in order is its position among
 * the set bits.  While values are carried up, in[IN_LEX_AWARE] is the value without loops of every
 * context; what it is to be is settled on the way. */
#include "hpc/propagate.h"

#include <stdlib.h>
#include <string.h>

const char *metric_scope_name(enum metric_scope s)
{
	static const char *const names[] = {"point", "function", "lex_aware", "execution"};

	return names[s];
}

void ctx_tree_init(struct ctx_tree *t, const struct contexts *c)
{
	t->n = (uint32_t)c->nodes.n + 1;
	t->parent = xcalloc(t->n, sizeof(*t->parent));
	t->flags = xcalloc(t->n, sizeof(*t->flags));
	vec_each (node, &c->nodes) {
		t->parent[node->ctxId] =
			node->parent == HPC_NONE ? HPC_ROOT_CTX : c->nodes.v[node->parent].ctxId;
		t->flags[node->ctxId] = (node->relation == HPC_LEXICAL ? TREE_LEXICAL : 0) |
					(node->lexicalType == HPC_LOOP ? TREE_LOOP : 0) |
					(contexts_is_instruction(node) ? TREE_INSTRUCTION : 0);
	}
}

void ctx_tree_release(struct ctx_tree *t)
{
	free(t->parent);
	free(t->flags);
	*t = (struct ctx_tree){0};
}

void propagate_init(struct propagate *w, const struct ctx_tree *t, unsigned n_metrics)
{
	size_t n = t->n;

	*w = (struct propagate){.tree = t, .n_metrics = n_metrics};
	w->slot = xcalloc(n, sizeof(*w->slot));
	do {
		n = (n + 63) / 64;
		w->bits[w->n_levels++] = xcalloc(n, sizeof(uint64_t));
	} while (n > 1);
}

void propagate_release(struct propagate *w)
{
	for (unsigned i = 0; i < w->n_levels; i++)
		free(w->bits[i]);
	free(w->slot);
	vec_release(&w->cells);
	vec_release(&w->touched);
	*w = (struct propagate){0};
}

/* Sets CTXID's bit; false when it was set. */
static bool propagate_touch(struct propagate *w, uint32_t ctxId)
{
	uint64_t *word = &w->bits[0][ctxId / 64], bit = 1ULL << ctxId % 64, before = *word;

	if (before & bit)
		return false;
	*word |= bit;
	for (unsigned l = 1; l < w->n_levels && !before; l++) {
		ctxId /= 64;
		word = &w->bits[l][ctxId / 64];
		before = *word;
		*word |= 1ULL << ctxId % 64;
	}
	return true;
}

static void add_slot(struct propagate *w, uint32_t ctxId)
{
	w->slot[ctxId] = (uint32_t)w->touched.n;
	vec_push(&w->touched, ctxId);
	vec_reserve(&w->cells, w->n_metrics);
	memset(w->cells.v + w->cells.n, 0, w->n_metrics * sizeof(*w->cells.v));
	w->cells.n += w->n_metrics;
}

void propagate_add(struct propagate *w, uint32_t ctxId, unsigned metric, uint64_t n)
{
	for (uint32_t c = ctxId; propagate_touch(w, c); c = w->tree->parent[c]) {
		add_slot(w, c);
		if (c == HPC_ROOT_CTX)
			break;
	}
	w->cells.v[(size_t)w->slot[ctxId] * w->n_metrics + metric].in[IN_POINT] += n;
}

/* Puts the touched contexts in order and clears their bits. */
static void sort_touched(struct propagate *w)
{
	uint32_t at[PROPAGATE_LEVELS] = {0}; /* the word of each level */
	unsigned l = w->n_levels - 1;
	size_t n = 0;

	for (;;) {
		uint64_t *word = &w->bits[l][at[l]];

		if (!*word) {
			if (++l == w->n_levels)
				break;
			continue;
		}
		if (l == 0) {
			for (uint64_t left = *word; left; left &= left - 1)
				w->touched.v[n++] = at[0] * 64 + (uint32_t)__builtin_ctzll(left);
			*word = 0;
			continue;
		}
		at[l - 1] = at[l] * 64 + (uint32_t)__builtin_ctzll(*word);
		*word &= *word - 1;
		l--;
	}
}

/* Carries a context's values to its parent. */
static void carry(const struct cell *from, struct cell *to, uint8_t flags)
{
	to->in[IN_EXECUTION] += from->in[IN_EXECUTION];
	if (!(flags & TREE_LEXICAL))
		return;
	to->in[IN_FUNCTION] += from->in[IN_FUNCTION];
	if (!(flags & TREE_LOOP))
		to->in[IN_LEX_AWARE] += from->in[IN_LEX_AWARE];
}

void propagate_finish(struct propagate *w)
{
	sort_touched(w);
	for (size_t i = w->touched.n; i-- > 0;) {
		uint32_t c = w->touched.v[i], parent = w->tree->parent[c];
		struct cell *own = &w->cells.v[(size_t)w->slot[c] * w->n_metrics];
		struct cell *up = &w->cells.v[(size_t)w->slot[parent] * w->n_metrics];
		uint8_t flags = w->tree->flags[c];

		for (unsigned m = 0; m < w->n_metrics; m++) {
			uint64_t point = own[m].in[IN_POINT];

			own[m].in[IN_FUNCTION] += point;
			own[m].in[IN_LEX_AWARE] += point;
			own[m].in[IN_EXECUTION] += point;
			if (c != HPC_ROOT_CTX)
				carry(&own[m], &up[m], flags);
			if (!(flags & TREE_LOOP))
				own[m].in[IN_LEX_AWARE] = own[m].in[IN_FUNCTION];
		}
	}
}

void propagate_reset(struct propagate *w)
{
	w->touched.n = 0;
	w->cells.n = 0;
}
