/* SPDX-License-Identifier: BSD-2-Clause */
/* Dominators and loops of random graphs against their definitions, and of graphs drawn by hand. */
#include "base/vec.h"
#include "resolve/graph.h"
#include "t.h"

#define MAX_NODES 24

struct drawn {
	uint32_t n, n_roots;
	bool edge[MAX_NODES][MAX_NODES];
	uint32_t roots[MAX_NODES];
	/* as struct graph wants it */
	uint32_t first[MAX_NODES + 1], succ[MAX_NODES * MAX_NODES];
	struct graph g;
};

static void mark_reached(const struct drawn *d, uint32_t from, uint32_t without, bool *reached)
{
	uint32_t todo[MAX_NODES], n = 0;

	if (from == without || reached[from])
		return;
	reached[from] = true;
	todo[n++] = from;
	while (n) {
		uint32_t i = todo[--n];

		for (uint32_t k = 0; k < d->n; k++) {
			if (!d->edge[i][k] || reached[k] || k == without)
				continue;
			reached[k] = true;
			todo[n++] = k;
		}
	}
}

/* Lists the edges and makes roots of what the roots before do not reach. */
static void finish(struct drawn *d)
{
	bool reached[MAX_NODES] = {0};
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->n; i++) {
		d->first[i] = n;
		for (uint32_t k = 0; k < d->n; k++)
			if (d->edge[i][k])
				d->succ[n++] = k;
	}
	d->first[d->n] = n;
	d->n_roots = 0;
	for (uint32_t i = 0; i < d->n; i++) {
		if (reached[i])
			continue;
		d->roots[d->n_roots++] = i;
		mark_reached(d, i, MAX_NODES, reached);
	}
	d->g = (struct graph){.n = d->n,
			      .first = d->first,
			      .succ = d->succ,
			      .roots = d->roots,
			      .n_roots = d->n_roots};
}

static void draw_random(struct drawn *d, struct t_rng *rng)
{
	uint32_t n_edges;

	memset(d, 0, sizeof(*d));
	d->n = 1 + (uint32_t)t_below(rng, MAX_NODES);
	n_edges = (uint32_t)t_below(rng, d->n * 2 + 2);
	for (uint32_t k = 0; k < n_edges; k++)
		d->edge[t_below(rng, d->n)][t_below(rng, d->n)] = true;
	/* Often a chain, so that most is reached. */
	for (uint32_t i = 0; i + 1 < d->n && t_below(rng, 8); i++)
		d->edge[i][i + 1] = true;
	finish(d);
}

/* By nesting blocks: what structured programs have; always reducible. */
static uint32_t draw_structured(struct drawn *d, struct t_rng *rng, uint32_t from, unsigned depth)
{
	unsigned n = 1 + (unsigned)t_below(rng, 3);

	while (n-- && d->n + 4 < MAX_NODES) {
		uint32_t head = d->n++, tail;

		d->edge[from][head] = true;
		if (depth == 0 || !t_below(rng, 3)) {
			from = head;
			continue;
		}
		tail = draw_structured(d, rng, head, depth - 1);
		from = d->n++;
		if (t_below(rng, 2)) { /* a loop; sometimes with a way out of the middle */
			d->edge[tail][head] = true;
			d->edge[t_below(rng, 2) ? head : tail][from] = true;
		} else {
			d->edge[head][from] = d->edge[tail][from] = true;
		}
	}
	return from;
}

/* Nodes of D that the roots before ROOT do not reach are its tree: edges into
 * others do not count. */
static void find_trees(const struct drawn *d, uint32_t *ret)
{
	bool reached[MAX_NODES] = {0};

	for (uint32_t r = 0; r < d->n_roots; r++) {
		bool before[MAX_NODES];

		memcpy(before, reached, sizeof(before));
		mark_reached(d, d->roots[r], MAX_NODES, reached);
		for (uint32_t i = 0; i < d->n; i++)
			if (reached[i] && !before[i])
				ret[i] = r;
	}
}

/* D with the edges that count only. */
static void drop_edges(const struct drawn *d, struct drawn *ret)
{
	uint32_t tree[MAX_NODES] = {0};

	*ret = *d;
	find_trees(d, tree);
	for (uint32_t i = 0; i < d->n; i++)
		for (uint32_t k = 0; k < d->n; k++)
			ret->edge[i][k] = d->edge[i][k] && tree[i] == tree[k];
}

/* Tells whether A is on every way from its root to B. */
static bool dominates(const struct drawn *d, uint32_t a, uint32_t b)
{
	bool reached[MAX_NODES] = {0};

	for (uint32_t r = 0; r < d->n_roots; r++)
		mark_reached(d, d->roots[r], a, reached);
	return !reached[b];
}

static void check_dominators(const struct drawn *d)
{
	struct graph_order o;
	struct drawn trees;
	uint32_t *idom;

	drop_edges(d, &trees);
	graph_order_init(&o, &d->g);
	EXPECT_EQ(o.n, d->n);
	idom = graph_dominators(&o);
	for (uint32_t i = 0; i < o.n; i++) {
		uint32_t found = GRAPH_NONE;

		/* The immediate one is dominated by all others. */
		for (uint32_t a = 0; a < o.n; a++) {
			if (a == i || !dominates(&trees, o.node[a], o.node[i]) ||
			    o.tree[a] != o.tree[i])
				continue;
			if (found == GRAPH_NONE || dominates(&trees, o.node[found], o.node[a]))
				found = a;
		}
		EXPECT_EQ(idom[i], found);
	}
	free(idom);
	graph_order_release(&o);
}

TEST(dominators_are_on_every_way)
{
	struct t_rng rng = {.s = 20261};
	struct drawn d;

	for (unsigned i = t_cases(1000); i && !t_failed; i--) {
		draw_random(&d, &rng);
		check_dominators(&d);
	}
}

/* The natural loop of HEADER: what leads to an origin of an edge back without HEADER. */
static bool natural_loop(const struct drawn *d, uint32_t header, bool *ret_in)
{
	bool any = false;

	memset(ret_in, 0, MAX_NODES);
	for (uint32_t v = 0; v < d->n; v++) {
		if (!d->edge[v][header] || !dominates(d, header, v))
			continue;
		any = true;
		for (uint32_t u = 0; u < d->n; u++) {
			bool reached[MAX_NODES] = {0};

			mark_reached(d, u, header, reached);
			if (reached[v] || u == v)
				ret_in[u] = true;
		}
	}
	ret_in[header] = any;
	return any;
}

/* What the definition says of reducible graphs: the innermost loop is the smallest. */
static void check_natural(const struct drawn *d)
{
	bool in[MAX_NODES][MAX_NODES], is_header[MAX_NODES];
	uint32_t size[MAX_NODES] = {0}, n_headers = 0;
	struct graph_loops l;
	struct graph_order o;

	for (uint32_t h = 0; h < d->n; h++) {
		is_header[h] = natural_loop(d, h, in[h]);
		n_headers += is_header[h];
		for (uint32_t i = 0; i < d->n; i++)
			size[h] += in[h][i];
	}
	graph_order_init(&o, &d->g);
	REQUIRE(graph_loops_find(&d->g, &o, &l) == 0);
	EXPECT_EQ(l.n, n_headers);
	for (uint32_t i = 0; i < d->n; i++) {
		uint32_t best = GRAPH_NONE, outer = GRAPH_NONE, loop = l.of_node[i];

		for (uint32_t h = 0; h < d->n; h++)
			if (is_header[h] && in[h][i] &&
			    (best == GRAPH_NONE || size[h] < size[best]))
				best = h;
		EXPECT_EQ(loop == GRAPH_NONE ? GRAPH_NONE : l.v[loop].header, best);
		if (loop == GRAPH_NONE || !is_header[i])
			continue;
		for (uint32_t h = 0; h < d->n; h++)
			if (h != i && is_header[h] && in[h][i] &&
			    (outer == GRAPH_NONE || size[h] < size[outer]))
				outer = h;
		EXPECT(!l.v[loop].irreducible);
		EXPECT_EQ(l.v[loop].parent == GRAPH_NONE ? GRAPH_NONE
							 : l.v[l.v[loop].parent].header,
			  outer);
		EXPECT_EQ(l.v[loop].depth,
			  outer == GRAPH_NONE ? 0 : l.v[l.v[loop].parent].depth + 1);
	}
	graph_loops_release(&l);
	graph_order_release(&o);
}

TEST(loops_of_structured_graphs_are_the_natural_ones)
{
	struct t_rng rng = {.s = 20262};
	struct drawn d;

	for (unsigned i = t_cases(1000); i && !t_failed; i--) {
		memset(&d, 0, sizeof(d));
		d.n = 1;
		draw_structured(&d, &rng, 0, 4);
		finish(&d);
		EXPECT_EQ(d.n_roots, 1);
		check_natural(&d);
	}
}

/* What holds of any graph. */
static void check_any(const struct drawn *d)
{
	uint32_t tree[MAX_NODES] = {0};
	struct graph_loops l;
	struct graph_order o;
	struct drawn trees;

	drop_edges(d, &trees);
	find_trees(d, tree);
	graph_order_init(&o, &d->g);
	REQUIRE(graph_loops_find(&d->g, &o, &l) == 0);
	for (uint32_t i = 0; i < d->n; i++) {
		bool from_i[MAX_NODES] = {0}, in_cycle = trees.edge[i][i], is_header = false;
		uint32_t loop = l.of_node[i];

		for (uint32_t k = 0; k < d->n; k++) {
			if (!trees.edge[i][k])
				continue;
			mark_reached(&trees, k, MAX_NODES, from_i);
		}
		in_cycle |= from_i[i];
		/* A node is in a loop if it is on a cycle, or if its tree was given to one. */
		if (in_cycle)
			EXPECT(loop != GRAPH_NONE);
		for (uint32_t k = 0; k < l.n; k++)
			is_header |= l.v[k].header == i;
		/* A natural loop is never missed, and only such are not called irreducible. */
		for (uint32_t v = 0; v < d->n; v++)
			if (trees.edge[v][i] && tree[v] == tree[i] && dominates(&trees, i, v))
				EXPECT(is_header);
		if (loop == GRAPH_NONE)
			continue;
		if (!in_cycle) {
			EXPECT(tree[i] > 0);
			EXPECT(tree[l.v[loop].header] < tree[i]);
		}
	}
	for (uint32_t k = 0; k < l.n; k++) {
		uint32_t h = l.v[k].header, n_in = 0;
		bool other_way = false;

		EXPECT_EQ(l.of_node[h], k);
		EXPECT(l.v[k].parent == GRAPH_NONE || l.v[k].parent < k);
		for (uint32_t i = 0; i < d->n; i++) {
			uint32_t up = l.of_node[i];
			bool back[MAX_NODES] = {0};

			while (up != GRAPH_NONE && up != k)
				up = l.v[up].parent;
			if (up != k || tree[i] != tree[h])
				continue;
			n_in++;
			/* All of a loop is on a cycle with its header. */
			mark_reached(&trees, i, MAX_NODES, back);
			EXPECT(back[h]);
			if (!dominates(&trees, h, i))
				other_way = true;
		}
		EXPECT(n_in >= 1);
		EXPECT_EQ(l.v[k].irreducible, other_way);
	}
	graph_loops_release(&l);
	graph_order_release(&o);
}

TEST(loops_of_any_graph_hold_its_cycles)
{
	struct t_rng rng = {.s = 20263};
	struct drawn d;

	for (unsigned i = t_cases(2000); i && !t_failed; i--) {
		draw_random(&d, &rng);
		check_any(&d);
	}
}

/* Draws "ab bc ca": letters are nodes, A the first. */
static void draw(struct drawn *d, const char *edges)
{
	memset(d, 0, sizeof(*d));
	for (; *edges; edges += edges[2] ? 3 : 2) {
		uint32_t from = (uint32_t)(edges[0] - 'a'), to = (uint32_t)(edges[1] - 'a');

		d->edge[from][to] = true;
		d->n = from >= d->n ? from + 1 : d->n;
		d->n = to >= d->n ? to + 1 : d->n;
	}
	finish(d);
}

/* "b(c) d!": headers by number, their loops' parents in brackets before them, ! irreducible. */
static void expect_loops(const char *edges, const char *expected, const char *innermost)
{
	struct graph_loops l;
	struct graph_order o;
	struct drawn d;
	char text[256] = "", nodes[MAX_NODES + 1] = "";
	size_t n = 0;

	draw(&d, edges);
	graph_order_init(&o, &d.g);
	REQUIRE(graph_loops_find(&d.g, &o, &l) == 0);
	for (uint32_t i = 0; i < l.n; i++) {
		if (i)
			text[n++] = ' ';
		if (l.v[i].parent != GRAPH_NONE)
			text[n++] = (char)('a' + l.v[l.v[i].parent].header), text[n++] = '>';
		text[n++] = (char)('a' + l.v[i].header);
		if (l.v[i].irreducible)
			text[n++] = '!';
	}
	for (uint32_t i = 0; i < d.n; i++)
		nodes[i] =
			l.of_node[i] == GRAPH_NONE ? '.' : (char)('a' + l.v[l.of_node[i]].header);
	EXPECT_STR(text, expected);
	EXPECT_STR(nodes, innermost);
	graph_loops_release(&l);
	graph_order_release(&o);
}

TEST(loops_drawn_by_hand)
{
	expect_loops("ab bc", "", "...");
	expect_loops("ab bb bc", "b", ".b.");
	expect_loops("ab bc cb cd", "b", ".bb.");
	/* Two edges back to one header are one loop; a loop in a loop; one after the other. */
	expect_loops("ab bc cb bd db", "b", ".bbb");
	expect_loops("ab bc cc cb bd", "b b>c", ".bc.");
	expect_loops("ab bb bc cc", "b c", ".bc");
	/* Entered at two places. */
	expect_loops("ab ac bc cb cd", "b!", ".bb.");
	/* A loop with two entries inside a natural one. */
	expect_loops("ab bc bd cd dc ce eb ef", "b b>c!", ".bccb.");
	/* The first node may be a header. */
	expect_loops("ab ba", "a", "aa");
}

/* A node that nothing leads to but which leads into a loop belongs to it, and its way in does not
 * count. */
TEST(what_comes_back_to_a_loop_belongs_to_it)
{
	expect_loops("ab bc cb bd ec", "b", ".bb.b");
	expect_loops("ab bc cb bd eb", "b", ".bb.b");
	expect_loops("ab bc cb bd ec ed", "b", ".bb.b");
	expect_loops("ab bc cc cb bd ec fb", "b b>c", ".bc.cb");
	expect_loops("ab bc cc cb bd ec eb", "b b>c", ".bc.c");
	/* Two loops beside each other, and inside another one. */
	expect_loops("ab bb bc cc cd eb ec", "b c", ".bc..");
	expect_loops("ab bc cc cd dd db de fc fd", "b b>c b>d", ".bcd.b");
	/* One way out of the tree comes back, the other does not. */
	expect_loops("ab bc cb bd ef eg fc gd", "b", ".bb.bb.");
	/* With a loop of its own, and one root after the other. */
	expect_loops("ab bc cb bd ee ec", "b b>e", ".bb.e");
	expect_loops("ab bc cb bd ec fe", "b", ".bb.bb");
}

/* Chains and nests of a million nodes: neither stack nor time may follow the depth. */
TEST(deep_graphs_take_no_stack)
{
	enum { N = 1 << 20 };
	uint32_t *first = malloc((N + 1) * sizeof(*first)), *succ = malloc(2 * N * sizeof(*succ));
	uint32_t root = 0, n = 0;
	struct graph g = {.n = N, .first = first, .succ = succ, .roots = &root, .n_roots = 1};
	struct graph_order o;
	struct graph_loops l;
	uint32_t *idom;

	/* Node i goes to the next, and the last half back to the first half: a nest. */
	for (uint32_t i = 0; i < N; i++) {
		first[i] = n;
		if (i + 1 < N)
			succ[n++] = i + 1;
		if (i >= N / 2)
			succ[n++] = N - 1 - i;
	}
	first[N] = n;
	graph_order_init(&o, &g);
	idom = graph_dominators(&o);
	EXPECT_EQ(idom[N - 1], N - 2);
	EXPECT_EQ(graph_loops_find(&g, &o, &l), -7); /* E2BIG: deeper than GRAPH_MAX_DEPTH */
	EXPECT(!l.v && !l.n);
	free(idom);
	graph_order_release(&o);
	/* If all nodes go back to the start, there is one loop. */
	for (uint32_t i = N / 2; i < N; i++)
		succ[first[i + 1] - 1] = 0;
	graph_order_init(&o, &g);
	EXPECT_EQ(graph_loops_find(&g, &o, &l), 0);
	EXPECT(l.n == 1 && l.v[0].header == 0 && l.of_node[N - 1] == 0);
	graph_loops_release(&l);
	graph_order_release(&o);
	free(first);
	free(succ);
}
