/* SPDX-License-Identifier: BSD-2-Clause */
/* See edge_counts.h.  A loop that runs 10 times each time it is entered:
 *
 *     A 1 --> B 10 --> C 1     B's edges lead to B and to C
 *
 * C has one way in, so that edge is 1; B has two ways on, of which one is known now: the other,
 * back to B, is 9.  Each end of an edge is a sum; a sum with one unknown edge tells it. */
#include "resolve/edge_counts.h"

#include <math.h>

#include "base/alloc.h"
#include "base/cleanup.h"

/* The edges that leave a block, or those that come to it. */
struct edge_sum {
	double left;	    /* the block's count without the edges known */
	uint32_t n_unknown; /* edges */
	bool holds;	    /* the edges add up to the block's count */
};

struct edge_maker {
	const struct flow *f;
	double *n;
	struct edge_sum *sums;	 /* of block b: [2 * b] what leaves it, [2 * b + 1] what comes */
	uint32_t *from;		 /* of each edge */
	uint32_t *first_in, *in; /* edges that come to each block */
	uint32_t *waiting, n_waiting; /* sums with one unknown edge */
};

static void index_edges(struct edge_maker *m)
{
	const uint32_t n_blocks = (uint32_t)m->f->blocks.n;

	for (uint32_t b = 0; b < n_blocks; b++) {
		for (uint32_t e = m->f->first[b]; e < m->f->first[b + 1]; e++) {
			m->from[e] = b;
			m->first_in[m->f->succ[e] + 1]++;
		}
	}
	for (uint32_t b = 0; b < n_blocks; b++)
		m->first_in[b + 1] += m->first_in[b];
	for (uint32_t e = m->f->first[n_blocks]; e-- > 0;)
		m->in[--m->first_in[m->f->succ[e] + 1]] = e;
	/* Now first_in[b + 1] is where b's begin. */
}

static void add_sum(struct edge_maker *m, uint32_t sum, double n, uint32_t n_edges, bool holds)
{
	m->sums[sum] = (struct edge_sum){.left = n, .n_unknown = n_edges, .holds = holds};
	if (holds && n_edges == 1)
		m->waiting[m->n_waiting++] = sum;
}

static void add_sums(struct edge_maker *m, const struct block_count *counts)
{
	const struct flow *f = m->f;
	const uint32_t n_blocks = (uint32_t)f->blocks.n, n_edges = f->first[n_blocks];

	for (uint32_t b = 0; b < n_blocks; b++) {
		const uint32_t end = b + 1 < n_blocks ? m->first_in[b + 2] : n_edges;
		const bool known = counts[b].confidence > COUNT_UNKNOWN;
		bool is_root = f->n_unknown > 0; /* a jump nobody knows may lead to any block */

		vec_each (r, &f->roots)
			is_root = is_root || *r == b;
		add_sum(m, 2 * b, counts[b].n, f->first[b + 1] - f->first[b],
			known && block_goes_on(f, b));
		add_sum(m, 2 * b + 1, counts[b].n, end - m->first_in[b + 1], known && !is_root);
	}
}

/* Edge E ran N times: both its ends know. */
static void set_edge(struct edge_maker *m, uint32_t e, double n)
{
	const uint32_t ends[2] = {2 * m->from[e], 2 * m->f->succ[e] + 1};

	m->n[e] = n;
	for (unsigned i = 0; i < 2; i++) {
		struct edge_sum *s = &m->sums[ends[i]];

		s->left -= n;
		if (--s->n_unknown == 1 && s->holds)
			m->waiting[m->n_waiting++] = ends[i];
	}
}

/* The one unknown edge of SUM. */
static uint32_t unknown_edge(const struct edge_maker *m, uint32_t sum)
{
	const uint32_t b = sum / 2, n_blocks = (uint32_t)m->f->blocks.n;
	const uint32_t end = b + 1 < n_blocks ? m->first_in[b + 2] : m->f->first[n_blocks];

	for (uint32_t e = m->f->first[b]; sum % 2 == 0 && e < m->f->first[b + 1]; e++)
		if (isnan(m->n[e]))
			return e;
	for (uint32_t i = m->first_in[b + 1]; sum % 2 && i < end; i++)
		if (isnan(m->n[m->in[i]]))
			return m->in[i];
	return UINT32_MAX;
}

void edge_counts_of(const struct flow *f, const struct block_count *counts, double *n)
{
	const size_t n_blocks = f->blocks.n, n_edges = n_blocks ? f->first[n_blocks] : 0;
	_mem_ struct edge_sum *sums = xcalloc(2 * n_blocks + 1, sizeof(*sums));
	_mem_ uint32_t *from = xcalloc(n_edges + 1, sizeof(*from));
	_mem_ uint32_t *first_in = xcalloc(n_blocks + 2, sizeof(*first_in));
	_mem_ uint32_t *in = xcalloc(n_edges + 1, sizeof(*in));
	_mem_ uint32_t *waiting = xcalloc(2 * n_blocks + 1, sizeof(*waiting));
	struct edge_maker m = {f, n, sums, from, first_in, in, waiting, 0};

	for (size_t e = 0; e < n_edges; e++)
		n[e] = NAN;
	if (!n_blocks)
		return;
	index_edges(&m);
	add_sums(&m, counts);
	while (m.n_waiting) {
		const uint32_t sum = m.waiting[--m.n_waiting];
		const uint32_t e = m.sums[sum].n_unknown == 1 ? unknown_edge(&m, sum) : UINT32_MAX;

		if (e != UINT32_MAX)
			set_edge(&m, e, fmax(m.sums[sum].left, 0)); /* counts may be estimates */
	}
}
