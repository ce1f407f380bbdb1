/* SPDX-License-Identifier: BSD-2-Clause */
/* See loops.h.  The graph of blocks goes to graph_loops.c; here its loops get addresses, and the
 * instructions that say where in the source a loop is: the first of its header, and the jumps that
 * go back to it or out of it.  `for`, `while` and `until` are what those jumps test. */
#include "resolve/loops.h"
#include "base/lower_bound.h"

#include <errno.h>

#define MAX_CLUES  32	/* of one loop */
#define MAX_BODY   64	/* addresses of one loop that are looked at */
#define MANY_LOOPS 4096 /* of one procedure: each has one clue then */
#define MAX_UP	   16	/* loops around a block that its instructions count for */

static void add_clue(struct loops *l, struct loop *at, uint64_t svma)
{
	if (at->n_clues && l->clues.v[l->clues.n - 1] == svma)
		return;
	if (at->n_clues < MAX_CLUES) {
		vec_push(&l->clues, svma);
		at->n_clues++;
	}
}

static bool is_in(const struct graph_loops *gl, uint32_t inner, uint32_t loop)
{
	for (unsigned up = 0; inner != GRAPH_NONE && inner > loop && up < MAX_UP; up++)
		inner = gl->v[inner].parent;
	return inner == loop;
}

/* The blocks and what stands for tables that several jumps go through, behind the blocks. */
struct merged {
	struct graph g;
	uint32_t *first, *succ;
	VEC(uint32_t) jumps;  /* blocks that end in a jump through a table, by table */
	VEC(uint32_t) groups; /* where in `jumps` each shared table's begin; one more at the end */
};

struct table_jump {
	uint64_t table;
	uint32_t block;
};

static int by_table(const void *a, const void *b)
{
	const struct table_jump *x = a, *y = b;

	return x->table != y->table ? (x->table > y->table) - (x->table < y->table)
				    : (x->block > y->block) - (x->block < y->block);
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Finds the tables of several jumps.  OF: the node of the table that a block jumps through. */
static void find_groups(struct merged *m, const struct flow *f, uint32_t *of)
{
	_vec_ VEC(struct table_jump) all = {0};

	for (uint32_t b = 0; b < f->blocks.n; b++)
		if (f->blocks.v[b].how == FLOW_TABLE)
			vec_push(&all, (struct table_jump){f->blocks.v[b].table, b});
	vec_sort(&all, by_table);
	for (size_t i = 0, k; i < all.n; i = k) {
		for (k = i; k < all.n && all.v[k].table == all.v[i].table; k++)
			;
		if (k - i < 2)
			continue;
		vec_push(&m->groups, (uint32_t)m->jumps.n);
		for (size_t j = i; j < k; j++) {
			vec_push(&m->jumps, all.v[j].block);
			of[all.v[j].block] = (uint32_t)(f->blocks.n + m->groups.n - 1);
		}
	}
	vec_push(&m->groups, (uint32_t)m->jumps.n);
}

static void merged_init(struct merged *m, const struct flow *f)
{
	uint32_t n = (uint32_t)f->blocks.n, *of = xcalloc(n, sizeof(*of)), n_nodes;
	VEC(uint32_t) succ = {0};

	*m = (struct merged){0};
	find_groups(m, f, of);
	n_nodes = n + (uint32_t)m->groups.n - 1;
	m->first = xcalloc((size_t)n_nodes + 1, sizeof(*m->first));
	for (uint32_t i = 0; i < n_nodes; i++) {
		size_t first = succ.n, kept = first;

		if (i < n && of[i]) {
			vec_push(&succ, of[i]);
		} else if (i < n) {
			for (uint32_t e = f->first[i]; e < f->first[i + 1]; e++)
				vec_push(&succ, f->succ[e]);
		} else {
			for (uint32_t j = m->groups.v[i - n]; j < m->groups.v[i - n + 1]; j++) {
				uint32_t b = m->jumps.v[j];

				for (uint32_t e = f->first[b]; e < f->first[b + 1]; e++)
					vec_push(&succ, f->succ[e]);
			}
			qsort(succ.v + first, succ.n - first, sizeof(*succ.v), by_number);
			for (size_t k = first; k < succ.n; k++)
				if (kept == first || succ.v[kept - 1] != succ.v[k])
					succ.v[kept++] = succ.v[k];
			succ.n = kept;
		}
		m->first[i + 1] = (uint32_t)succ.n;
	}
	free(of);
	m->succ = succ.v;
	m->g = (struct graph){.n = n_nodes,
			      .first = m->first,
			      .succ = m->succ,
			      .roots = f->roots.v,
			      .n_roots = (uint32_t)f->roots.n};
}

static void merged_release(struct merged *m)
{
	free(m->first);
	free(m->succ);
	vec_release(&m->jumps);
	vec_release(&m->groups);
}

/* What a header's address is: that of its block, or of the first jump in the loop. */
static uint64_t header_svma(const struct merged *m, const struct flow *f,
			    const struct graph_loops *gl, uint32_t i)
{
	uint32_t header = gl->v[i].header, n = (uint32_t)f->blocks.n;
	uint64_t svma = UINT64_MAX;

	if (header < n)
		return f->blocks.v[header].start;
	/* (In a very deep nest is_in does not find it.) */
	for (uint32_t j = m->groups.v[header - n]; j < m->groups.v[header - n + 1]; j++) {
		uint32_t b = m->jumps.v[j];

		if (f->blocks.v[b].last < svma && is_in(gl, gl->of_node[b], i))
			svma = f->blocks.v[b].last;
	}
	if (svma == UINT64_MAX)
		svma = f->blocks.v[m->jumps.v[m->groups.v[header - n]]].last;
	return svma;
}

/* Which blocks are in loop I: one after the other, from a list per loop. */
struct members {
	uint32_t *first; /* by loop, n + 1 */
	uint32_t *block;
};

static void members_init(struct members *m, const struct graph_loops *gl, uint32_t n_blocks)
{
	m->first = xcalloc((size_t)gl->n + 1, sizeof(*m->first));
	m->block = NULL;
	for (unsigned pass = 0; pass < 2; pass++) {
		for (uint32_t b = n_blocks; b-- > 0;) {
			uint32_t i = gl->of_node[b];

			for (unsigned up = 0; i != GRAPH_NONE && up < MAX_UP; up++) {
				if (pass == 0)
					m->first[i]++;
				else
					m->block[--m->first[i]] = b;
				i = gl->v[i].parent;
			}
		}
		if (pass)
			break;
		for (uint32_t i = 1; i <= gl->n; i++)
			m->first[i] += m->first[i - 1];
		m->block = xcalloc(m->first[gl->n] + 1, sizeof(*m->block));
	}
}

static void add_clues(struct loops *l, const struct flow *f, const struct merged *g,
		      const struct graph_loops *gl, const struct members *m, uint32_t i)
{
	struct loop *loop = &l->v.v[i];
	uint32_t header = gl->v[i].header;

	loop->clues = (uint32_t)l->clues.n;
	add_clue(l, loop, loop->header);
	if (gl->n > MANY_LOOPS)
		return;
	/* Jumps back say more than jumps out.  There may be many jumps out. */
	for (unsigned pass = 0; pass < 2; pass++) {
		for (uint32_t k = m->first[i]; k < m->first[i + 1]; k++) {
			uint32_t b = m->block[k];
			bool is_clue = false;

			for (uint32_t e = g->first[b]; e < g->first[b + 1]; e++)
				is_clue |= pass == 0 ? g->succ[e] == header
						     : !is_in(gl, gl->of_node[g->succ[e]], i);
			if (pass == 1 && f->blocks.v[b].how != FLOW_BRANCHES)
				continue;
			if (!is_clue)
				continue;
			/* One of many jumps to the cases of an interpreter: where the case begins
			 * says more. */
			if (header >= f->blocks.n && pass == 0)
				add_clue(l, loop, f->blocks.v[b].start);
			add_clue(l, loop, f->blocks.v[b].last);
		}
	}
}

static void add_body(struct loops *l, const struct flow *f, const struct members *m, uint32_t i)
{
	struct loop *loop = &l->v.v[i];
	uint64_t n_bytes = 0, stride, next = 0;

	for (uint32_t k = m->first[i]; k < m->first[i + 1]; k++)
		n_bytes += f->blocks.v[m->block[k]].end - f->blocks.v[m->block[k]].start;
	stride = n_bytes / MAX_BODY + 1;
	loop->body = (uint32_t)l->clues.n;
	for (uint32_t k = m->first[i]; k < m->first[i + 1]; k++) {
		const struct flow_block *b = &f->blocks.v[m->block[k]];

		for (; next < b->end - b->start; next += stride)
			vec_push(&l->clues, b->start + next);
		next -= b->end - b->start;
	}
	loop->n_body = (uint32_t)l->clues.n - loop->body;
}

static void add_range(struct loops *l, uint64_t start, uint32_t loop)
{
	struct loop_range *last = l->ranges.n ? &l->ranges.v[l->ranges.n - 1] : NULL;

	if (last && last->start == start)
		last->loop = loop; /* nothing is between them */
	else if ((last ? last->loop : LOOP_NONE) != loop)
		vec_push(&l->ranges, (struct loop_range){.start = start, .loop = loop});
}

/* Parts need not ascend, but blocks of one part do. */
static int by_start(const void *a, const void *b)
{
	const struct flow_block *x = *(const struct flow_block *const *)a,
				*y = *(const struct flow_block *const *)b;

	return (x->start > y->start) - (x->start < y->start);
}

static void add_ranges(struct loops *l, const struct flow *f, const struct graph_loops *gl)
{
	_vec_ VEC(const struct flow_block *) blocks = {0};
	uint64_t end = 0;

	vec_each (b, &f->blocks)
		vec_push(&blocks, b);
	vec_sort(&blocks, by_start);
	vec_each (b, &blocks) {
		uint32_t i = gl->of_node[*b - f->blocks.v];

		if ((*b)->start > end)
			add_range(l, end, LOOP_NONE);
		add_range(l, (*b)->start, i);
		end = (*b)->end > end ? (*b)->end : end;
	}
	add_range(l, end, LOOP_NONE);
}

int loops_init(struct loops *l, const struct flow *f)
{
	struct graph_loops gl;
	struct graph_order o;
	struct members m;
	struct merged g;
	int rc;

	*l = (struct loops){0};
	merged_init(&g, f);
	graph_order_init(&o, &g.g);
	rc = graph_loops_find(&g.g, &o, &gl);
	graph_order_release(&o);
	if (rc < 0) {
		merged_release(&g);
		return rc;
	}
	l->incomplete = f->n_unknown;
	members_init(&m, &gl, (uint32_t)f->blocks.n);
	for (uint32_t i = 0; i < gl.n; i++) {
		vec_push(&l->v, (struct loop){.header = header_svma(&g, f, &gl, i),
					      .parent = gl.v[i].parent,
					      .depth = gl.v[i].depth,
					      .irreducible = gl.v[i].irreducible});
		add_clues(l, f, &g, &gl, &m, i);
		if (gl.n <= MANY_LOOPS)
			add_body(l, f, &m, i);
	}
	add_ranges(l, f, &gl);
	free(m.first);
	free(m.block);
	merged_release(&g);
	graph_loops_release(&gl);
	return 0;
}

void loops_release(struct loops *l)
{
	vec_release(&l->v);
	vec_release(&l->ranges);
	vec_release(&l->clues);
	*l = (struct loops){0};
}

uint32_t loops_find(const struct loops *l, uint64_t svma)
{
	size_t low = lower_bound(k, 0, l->ranges.n, l->ranges.v[k].start <= svma);

	return low ? l->ranges.v[low - 1].loop : LOOP_NONE;
}

size_t loops_find_chain(const struct loops *l, uint64_t svma, uint32_t *ret, size_t max)
{
	uint32_t i = loops_find(l, svma);
	size_t n;

	if (i == LOOP_NONE)
		return 0;
	n = (size_t)l->v.v[i].depth + 1;
	for (size_t k = n; k-- > 0; i = l->v.v[i].parent)
		if (k < max)
			ret[k] = i;
	return n;
}
