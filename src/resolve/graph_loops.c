/* SPDX-License-Identifier: BSD-2-Clause */
/* The nest of loops of a graph.
 *
 * Havlak's way ("Nesting of reducible and irreducible loops", TOPLAS 19, 1997), which is Tarjan's
 * with irreducible loops.  Nodes are taken from the deepest to the root of the depth-first order. A
 * node W that edges lead back to from below is a header.  From the origins of these edges one goes
 * backwards until W; what is met is the loop.  It is then merged into W, so that the loops around
 * it meet one node and each loop costs only its own.  An edge from elsewhere that enters such a
 * loop is kept at its header, for the loops around it to follow.
 *
 * Whether a loop is natural the dominators say: its header dominates the origins of the edges back.
 * Only in a loop that is not can there be ways in from elsewhere. */
#include "resolve/graph.h"

#include <errno.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/vec.h"

struct way {
	uint32_t from;
	uint32_t next; /* another one into the same loop */
};

struct finder {
	const struct graph_order *o;
	uint32_t *merged;     /* union-find: into which header */
	uint32_t *header;     /* of the innermost loop around the number, itself not counted */
	uint32_t *seen;	      /* the header it was last met for */
	uint32_t *ways;	      /* first of the ways into an irreducible loop, by header */
	uint32_t *pre, *post; /* of the tree of dominators */
	uint8_t *flags;
	VEC(struct way) all_ways;
	VEC(uint32_t) body;
	uint64_t n_steps, max_steps;
};

enum { IS_HEADER = 1, IS_IRREDUCIBLE = 2 };

static uint32_t *new_numbers(uint32_t n, uint32_t value)
{
	uint32_t *v = xcalloc((size_t)n + 1, sizeof(*v));

	for (uint32_t i = 0; i < n; i++)
		v[i] = value;
	return v;
}

static bool is_below(const struct finder *f, uint32_t w, uint32_t v)
{
	return w <= v && v <= f->o->last[w];
}

static bool dominates(const struct finder *f, uint32_t w, uint32_t v)
{
	return f->pre[w] <= f->pre[v] && f->pre[v] < f->post[w];
}

/* Numbers the tree of dominators so that `dominates` is two comparisons.  A dominator has a lower
 * number than what it dominates. */
static void number_dominators(struct finder *f)
{
	uint32_t n = f->o->n, *idom = graph_dominators(f->o), roots = 0;
	uint32_t *next = new_numbers(n, 0);

	for (uint32_t i = 0; i < n; i++)
		f->post[i] = 1; /* how many it dominates */
	for (uint32_t i = n; i-- > 0;)
		if (idom[i] != GRAPH_NONE)
			f->post[idom[i]] += f->post[i];
	for (uint32_t i = 0; i < n; i++) {
		uint32_t *at = idom[i] == GRAPH_NONE ? &roots : &next[idom[i]];

		f->pre[i] = *at;
		next[i] = *at + 1;
		*at += f->post[i];
		f->post[i] += f->pre[i];
	}
	free(next);
	free(idom);
}

static uint32_t resolve_graph_loops_find(struct finder *f, uint32_t i)
{
	while (f->merged[i] != i) {
		f->merged[i] = f->merged[f->merged[i]];
		i = f->merged[i];
	}
	return i;
}

static void add_way(struct finder *f, uint32_t w, uint32_t from)
{
	uint32_t next = f->ways[w];

	f->ways[w] = (uint32_t)f->all_ways.n;
	vec_push(&f->all_ways, (struct way){.from = from, .next = next});
	f->flags[w] |= IS_IRREDUCIBLE;
}

/* Meets the node of number Y on the way back to W. */
static void meet(struct finder *f, uint32_t w, uint32_t y)
{
	uint32_t at = resolve_graph_loops_find(f, y);

	if (!is_below(f, w, at)) {
		add_way(f, w, y);
	} else if (at != w && f->seen[at] != w) {
		f->seen[at] = w;
		vec_push(&f->body, at);
	}
}

/* Finds the loop of header W, if it is one. */
static bool find_loop(struct finder *f, uint32_t w)
{
	const struct graph_order *o = f->o;

	f->body.n = 0;
	for (uint32_t e = o->first_in[w]; e < o->first_in[w + 1]; e++) {
		uint32_t v = o->in[e];

		if (!is_below(f, w, v))
			continue;
		f->flags[w] |= IS_HEADER;
		if (!dominates(f, w, v))
			f->flags[w] |= IS_IRREDUCIBLE;
		meet(f, w, v);
	}
	for (size_t i = 0; i < f->body.n; i++) {
		uint32_t x = f->body.v[i];

		f->n_steps += 1 + o->first_in[x + 1] - o->first_in[x];
		for (uint32_t e = o->first_in[x]; e < o->first_in[x + 1]; e++)
			if (!is_below(f, x, o->in[e]))
				meet(f, w, o->in[e]);
		for (uint32_t k = f->ways[x]; k != GRAPH_NONE; k = f->all_ways.v[k].next) {
			f->n_steps++;
			meet(f, w, f->all_ways.v[k].from);
		}
		if (f->n_steps > f->max_steps)
			return false;
	}
	vec_each (x, &f->body) {
		f->header[*x] = w;
		f->merged[*x] = w;
	}
	return true;
}

static uint32_t common(const struct graph_loops *l, uint32_t a, uint32_t b)
{
	while (a != b) {
		if (a == GRAPH_NONE || b == GRAPH_NONE)
			return GRAPH_NONE;
		/* A parent has a lower number. */
		if (a > b)
			a = l->v[a].parent;
		else
			b = l->v[b].parent;
	}
	return a;
}

/* Where code that nothing leads to comes back: for each number of its tree the loop. */
struct goals {
	const struct graph *g;
	const struct graph_order *o;
	const struct graph_loops *l;
	uint32_t *loop;	  /* GRAPH_NONE: none */
	uint8_t *divided; /* there are two, neither in the other: LOOP is around both */
	VEC(uint32_t) changed;
};

/* Number I also comes back to LOOP. */
static void add_goal(struct goals *s, uint32_t i, uint32_t loop, bool divided)
{
	uint32_t old = s->loop[i], both = common(s->l, old, loop);

	divided |= s->divided[i] || (both != old && both != loop);
	if (!divided && both == old) /* the inner one */
		both = loop;
	else if (!divided)
		both = old;
	if (both == old && divided == s->divided[i])
		return;
	s->loop[i] = both;
	s->divided[i] = divided;
	vec_push(&s->changed, i);
}

/* Finds the goals of the tree of numbers FIRST .. LAST. */
static bool find_goals(struct goals *s, struct finder *f, uint32_t first, uint32_t last)
{
	const struct graph_order *o = s->o;

	for (uint32_t i = first; i <= last; i++) {
		uint32_t node = o->node[i];

		for (uint32_t e = s->g->first[node]; e < s->g->first[node + 1]; e++) {
			uint32_t to = s->g->succ[e];

			if (o->tree[o->number[to]] != o->tree[i])
				add_goal(s, i, s->l->of_node[to], false);
		}
	}
	while (s->changed.n) {
		uint32_t i = s->changed.v[--s->changed.n];

		f->n_steps += 1 + o->first_in[i + 1] - o->first_in[i];
		if (f->n_steps > f->max_steps)
			return false;
		for (uint32_t e = o->first_in[i]; e < o->first_in[i + 1]; e++)
			add_goal(s, o->in[e], s->loop[i], s->divided[i]);
	}
	return true;
}

/* Numbers the loops, tree by tree, parents first; false when they are too deep. */
static bool graph_loops_collect(struct finder *f, const struct graph *g, struct graph_loops *ret)
{
	const struct graph_order *o = f->o;
	uint32_t *loop = new_numbers(o->n, GRAPH_NONE); /* by number of its header */
	struct goals s = {.g = g,
			  .o = o,
			  .l = ret,
			  .loop = new_numbers(o->n, GRAPH_NONE),
			  .divided = xcalloc((size_t)o->n + 1, 1)};
	bool ok = true;

	for (uint32_t root = 0; root < o->n && ok; root = o->last[root] + 1) {
		ok = !root || find_goals(&s, f, root, o->last[root]);
		for (uint32_t i = root; i <= o->last[root] && ok; i++) {
			uint32_t around =
				f->header[i] == GRAPH_NONE ? s.loop[i] : loop[f->header[i]];

			ret->of_node[o->node[i]] = around;
			if (!(f->flags[i] & IS_HEADER))
				continue;
			loop[i] = ret->n;
			ret->of_node[o->node[i]] = ret->n;
			ret->v[ret->n++] = (struct graph_loop){
				.header = o->node[i],
				.parent = around,
				.depth = around == GRAPH_NONE ? 0 : ret->v[around].depth + 1,
				.irreducible = f->flags[i] & IS_IRREDUCIBLE,
			};
			ok = ret->v[ret->n - 1].depth < GRAPH_MAX_DEPTH;
		}
	}
	free(loop);
	free(s.loop);
	free(s.divided);
	vec_release(&s.changed);
	return ok;
}

int graph_loops_find(const struct graph *g, const struct graph_order *o, struct graph_loops *ret)
{
	uint32_t n = o->n, n_loops = 0;
	struct finder f = {
		.o = o,
		.merged = new_numbers(n, 0),
		.header = new_numbers(n, GRAPH_NONE),
		.seen = new_numbers(n, GRAPH_NONE),
		.ways = new_numbers(n, GRAPH_NONE),
		.pre = new_numbers(n, 0),
		.post = new_numbers(n, 0),
		.flags = xcalloc((size_t)n + 1, 1),
		/* Code of compilers needs as many as it has edges, and few more. */
		.max_steps = 64 * ((uint64_t)n + o->first_in[n]) + 65536,
	};
	bool ok = true;

	*ret = (struct graph_loops){0};
	for (uint32_t i = 0; i < n; i++)
		f.merged[i] = i;
	number_dominators(&f);
	for (uint32_t w = n; w-- > 0 && ok;) {
		ok = find_loop(&f, w);
		n_loops += !!(f.flags[w] & IS_HEADER);
	}
	if (ok) {
		ret->v = xcalloc((size_t)n_loops + 1, sizeof(*ret->v));
		ret->of_node = new_numbers(g->n, GRAPH_NONE);
		ok = graph_loops_collect(&f, g, ret);
	}
	if (!ok)
		graph_loops_release(ret);
	free(f.merged);
	free(f.header);
	free(f.seen);
	free(f.ways);
	free(f.pre);
	free(f.post);
	free(f.flags);
	vec_release(&f.all_ways);
	vec_release(&f.body);
	return ok ? 0 : -E2BIG;
}

void graph_loops_release(struct graph_loops *l)
{
	free(l->v);
	free(l->of_node);
	*l = (struct graph_loops){0};
}
