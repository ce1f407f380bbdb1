/* SPDX-License-Identifier: BSD-2-Clause */
/* Depth-first order and dominators.
 *
 * The dominators are Lengauer's and Tarjan's ("A fast algorithm for finding dominators in a
 * flowgraph", TOPLAS 1, 1979) in the version with path compression only: it needs edges x
 * log(nodes) steps whatever the graph, where simpler ways have graphs that take the square. Nothing
 * recurses: the depth of a graph of code is the length of a procedure. */
#include "resolve/graph.h"

#include <stdlib.h>

#include "base/alloc.h"

static void graph_fill(uint32_t *v, size_t n, uint32_t value)
{
	for (size_t i = 0; i < n; i++)
		v[i] = value;
}

static uint32_t *new_numbers(size_t n, uint32_t value)
{
	uint32_t *v = xcalloc(n ? n : 1, sizeof(*v));

	if (value)
		graph_fill(v, n, value);
	return v;
}

/* Gives NODE the next number. */
static uint32_t graph_visit(struct graph_order *o, uint32_t node, uint32_t parent, uint32_t tree)
{
	uint32_t i = o->n++;

	o->node[i] = node;
	o->number[node] = i;
	o->parent[i] = parent;
	o->tree[i] = tree;
	return i;
}

/* Turns round the edges that stay in a tree. */
static void add_predecessors(struct graph_order *o, const struct graph *g)
{
	uint32_t *at;

	o->first_in = new_numbers((size_t)o->n + 1, 0);
	for (unsigned pass = 0; pass < 2; pass++) {
		at = o->first_in;
		for (uint32_t i = 0; i < o->n; i++) {
			uint32_t node = o->node[i];

			for (uint32_t e = g->first[node]; e < g->first[node + 1]; e++) {
				uint32_t to = o->number[g->succ[e]];

				if (o->tree[to] != o->tree[i])
					continue;
				/* First count, then fill from the end of each node's. */
				if (pass == 0)
					at[to]++;
				else
					o->in[--at[to]] = i;
			}
		}
		if (pass == 1)
			break;
		for (uint32_t i = 1; i <= o->n; i++)
			at[i] += at[i - 1];
		o->in = new_numbers(at[o->n], 0);
	}
}

void graph_order_init(struct graph_order *o, const struct graph *g)
{
	uint32_t *next = new_numbers(g->n, 0); /* edge to follow, by number */

	*o = (struct graph_order){
		.node = new_numbers(g->n, 0),
		.number = new_numbers(g->n, GRAPH_NONE),
		.parent = new_numbers(g->n, GRAPH_NONE),
		.last = new_numbers(g->n, 0),
		.tree = new_numbers(g->n, 0),
	};
	for (uint32_t r = 0; r < g->n_roots; r++) {
		uint32_t i;

		if (o->number[g->roots[r]] != GRAPH_NONE)
			continue;
		i = graph_visit(o, g->roots[r], GRAPH_NONE, r);
		next[i] = g->first[o->node[i]];
		while (i != GRAPH_NONE) {
			uint32_t to;

			if (next[i] == g->first[o->node[i] + 1]) {
				o->last[i] = o->n - 1;
				i = o->parent[i];
				continue;
			}
			to = g->succ[next[i]++];
			if (o->number[to] != GRAPH_NONE)
				continue;
			i = graph_visit(o, to, i, r);
			next[i] = g->first[to];
		}
	}
	free(next);
	add_predecessors(o, g);
}

void graph_order_release(struct graph_order *o)
{
	free(o->node);
	free(o->number);
	free(o->parent);
	free(o->last);
	free(o->tree);
	free(o->first_in);
	free(o->in);
	*o = (struct graph_order){0};
}

/* The forest of nodes that were looked at already. */
struct forest {
	uint32_t *ancestor, *label, *semi;
	uint32_t *path; /* scratch */
};

/* The node with the lowest semidominator on the way from V up to, but without, the root of V's tree
 * in the forest.  Makes the way short for the next time. */
static uint32_t eval(struct forest *f, uint32_t v)
{
	uint32_t n = 0, above;

	if (f->ancestor[v] == GRAPH_NONE)
		return v;
	for (uint32_t u = v; f->ancestor[f->ancestor[u]] != GRAPH_NONE; u = f->ancestor[u])
		f->path[n++] = u;
	while (n-- > 0) {
		uint32_t u = f->path[n];

		above = f->ancestor[u];
		if (f->semi[f->label[above]] < f->semi[f->label[u]])
			f->label[u] = f->label[above];
		f->ancestor[u] = f->ancestor[above];
	}
	return f->label[v];
}

uint32_t *graph_dominators(const struct graph_order *o)
{
	uint32_t *idom = new_numbers(o->n, GRAPH_NONE);
	uint32_t *bucket = new_numbers(o->n, GRAPH_NONE); /* of whose semidominator this is */
	uint32_t *more = new_numbers(o->n, GRAPH_NONE);	  /* the next in the bucket */
	struct forest f = {
		.ancestor = new_numbers(o->n, GRAPH_NONE),
		.label = new_numbers(o->n, 0),
		.semi = new_numbers(o->n, 0),
		.path = new_numbers(o->n, 0),
	};

	for (uint32_t i = 0; i < o->n; i++)
		f.label[i] = f.semi[i] = i;
	for (uint32_t w = o->n; w-- > 0;) {
		uint32_t parent = o->parent[w];

		if (parent == GRAPH_NONE)
			continue;
		for (uint32_t e = o->first_in[w]; e < o->first_in[w + 1]; e++) {
			uint32_t u = eval(&f, o->in[e]);

			if (f.semi[u] < f.semi[w])
				f.semi[w] = f.semi[u];
		}
		more[w] = bucket[f.semi[w]];
		bucket[f.semi[w]] = w;
		f.ancestor[w] = parent;
		for (uint32_t v = bucket[parent]; v != GRAPH_NONE; v = more[v]) {
			uint32_t u = eval(&f, v);

			idom[v] = f.semi[u] < f.semi[v] ? u : parent;
		}
		bucket[parent] = GRAPH_NONE;
	}
	for (uint32_t w = 0; w < o->n; w++)
		if (idom[w] != GRAPH_NONE && idom[w] != f.semi[w])
			idom[w] = idom[idom[w]];
	free(bucket);
	free(more);
	free(f.ancestor);
	free(f.label);
	free(f.semi);
	free(f.path);
	return idom;
}
