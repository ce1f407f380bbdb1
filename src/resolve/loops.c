/* SPDX-License-Identifier: BSD-2-Clause */
/* See loops.h.  The graph of blocks goes to graph_loops.c; here its loops get addresses, and the
 * instructions that say where in the source a loop is: the first of its header, and the jumps that
 * go back to it or out of it.  `for`, `while` and `until` are what those jumps test. */
#include "resolve/loops.h"

#include <errno.h>

#define MAX_CLUES  32	/* of one loop */
#define MAX_BODY   64	/* instructions of one loop that are looked at */
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

static void add_clues(struct loops *l, const struct flow *f, const struct graph_loops *gl,
		      const struct members *m, uint32_t i)
{
	struct loop *loop = &l->v.v[i];
	uint32_t header = gl->v[i].header;

	loop->clues = (uint32_t)l->clues.n;
	add_clue(l, loop, f->blocks.v[header].start);
	if (gl->n > MANY_LOOPS)
		return;
	/* Jumps back say more than jumps out, of which there may be many. */
	for (unsigned pass = 0; pass < 2; pass++) {
		for (uint32_t k = m->first[i]; k < m->first[i + 1]; k++) {
			uint32_t b = m->block[k];
			bool is_clue = false;

			for (uint32_t e = f->first[b]; e < f->first[b + 1]; e++)
				is_clue |= pass == 0 ? f->succ[e] == header
						     : !is_in(gl, gl->of_node[f->succ[e]], i);
			if (pass == 1 && f->blocks.v[b].how != FLOW_BRANCHES)
				continue;
			if (is_clue)
				add_clue(l, loop, f->blocks.v[b].last);
		}
	}
}

static void add_body(struct loops *l, const struct flow *f, const struct members *m, uint32_t i)
{
	struct loop *loop = &l->v.v[i];
	uint32_t n = m->first[i + 1] - m->first[i], stride = n / (MAX_BODY / 2) + 1;

	loop->body = (uint32_t)l->clues.n;
	for (uint32_t k = m->first[i]; k < m->first[i + 1]; k += stride) {
		const struct flow_block *b = &f->blocks.v[m->block[k]];

		vec_push(&l->clues, b->start);
		if (b->last != b->start)
			vec_push(&l->clues, b->last);
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
	VEC(const struct flow_block *) blocks = {0};
	uint64_t end = 0;

	vec_each (b, &f->blocks)
		vec_push(&blocks, b);
	vec_sort(&blocks, by_start);
	vec_each (b, &blocks) {
		uint32_t i = gl->of_node[*b - f->blocks.v];

		if ((*b)->start > end)
			add_range(l, end, LOOP_NONE);
		add_range(l, (*b)->start, i);
		end = (*b)->end;
	}
	add_range(l, end, LOOP_NONE);
	vec_release(&blocks);
}

int loops_init(struct loops *l, const struct flow *f)
{
	struct graph g = {.n = (uint32_t)f->blocks.n,
			  .first = f->first,
			  .succ = f->succ,
			  .roots = f->roots.v,
			  .n_roots = (uint32_t)f->roots.n};
	struct graph_order o;
	struct graph_loops gl;
	struct members m;
	int rc;

	*l = (struct loops){0};
	graph_order_init(&o, &g);
	rc = graph_loops_find(&g, &o, &gl);
	graph_order_release(&o);
	if (rc < 0)
		return rc;
	l->incomplete = f->n_unknown;
	members_init(&m, &gl, g.n);
	for (uint32_t i = 0; i < gl.n; i++) {
		vec_push(&l->v, (struct loop){.header = f->blocks.v[gl.v[i].header].start,
					      .parent = gl.v[i].parent,
					      .depth = gl.v[i].depth,
					      .irreducible = gl.v[i].irreducible});
		add_clues(l, f, &gl, &m, i);
		if (gl.n <= MANY_LOOPS)
			add_body(l, f, &m, i);
	}
	add_ranges(l, f, &gl);
	free(m.first);
	free(m.block);
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
	size_t low = 0, high = l->ranges.n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (l->ranges.v[mid].start <= svma)
			low = mid + 1;
		else
			high = mid;
	}
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
