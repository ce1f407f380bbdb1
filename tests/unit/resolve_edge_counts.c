/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts of edges, from those of blocks: of random graphs that are walked here, so that the truth
 * is known. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "resolve/edge_counts.h"
#include "t.h"

#define MOST 40 /* blocks */

/* A procedure of N blocks, each of one or two ways on; the last leaves. */
struct made {
	struct flow f;
	uint32_t first[MOST + 1], succ[2 * MOST];
	struct block_count counts[MOST];
	double ran[2 * MOST]; /* of each edge, the truth */
};

static uint32_t below(uint64_t *seed, uint32_t n)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33) % n;
}

static void make(struct made *m, uint32_t n, uint64_t *seed)
{
	uint32_t edge = 0;

	*m = (struct made){0};
	for (uint32_t b = 0; b < n; b++) {
		const bool two = b + 1 < n && below(seed, 2);

		vec_push(&m->f.blocks, (struct flow_block){.start = b,
							   .end = b + 1,
							   .how = b + 1 == n ? FLOW_LEAVES
								  : two	     ? FLOW_BRANCHES
									     : FLOW_FALLS});
		if (b + 1 < n)
			m->succ[edge++] = b + 1;
		if (two)
			m->succ[edge++] = below(seed, n);
		if (two && m->succ[edge - 1] == m->succ[edge - 2])
			edge--; /* both ways lead to one block */
		m->first[b + 1] = edge;
	}
	m->f.first = m->first;
	m->f.succ = m->succ;
	vec_push(&m->f.roots, 0);
}

/* Walks from the first block to the last, N_TIMES. */
static void walk(struct made *m, uint32_t n, unsigned n_times, uint64_t *seed)
{
	for (unsigned i = 0; i < n_times; i++) {
		for (uint32_t at = 0;;) {
			const uint32_t ways = m->first[at + 1] - m->first[at];
			const uint32_t e = m->first[at] + (ways ? below(seed, ways) : 0);

			m->counts[at].n++;
			m->counts[at].confidence = COUNT_EXACT;
			if (!ways || at + 1 == n)
				break;
			m->ran[e]++;
			at = m->succ[e];
		}
	}
	for (uint32_t b = 0; b < n; b++)
		m->counts[b].confidence = COUNT_EXACT;
}

static void release(struct made *m)
{
	vec_release(&m->f.blocks);
	vec_release(&m->f.roots);
}

/* What is said of an edge is the truth; most edges are said. */
TEST(edges_of_walks)
{
	uint64_t seed = 7;
	uint32_t n_known = 0, n_all = 0, n_wrong = 0;

	for (unsigned turn = 0; turn < 300; turn++) {
		const uint32_t n = 2 + below(&seed, MOST - 2);
		struct made m;
		double edges[2 * MOST];

		make(&m, n, &seed);
		walk(&m, n, 20, &seed);
		edge_counts_of(&m.f, m.counts, edges);
		for (uint32_t e = 0; e < m.first[n]; e++) {
			n_all++;
			n_known += !isnan(edges[e]);
			n_wrong += !isnan(edges[e]) && edges[e] != m.ran[e];
		}
		release(&m);
	}
	printf("# %u of %u edges are known\n", n_known, n_all);
	EXPECT_EQ(n_wrong, 0);
	EXPECT(n_known > n_all / 2);
}

/* Two ways from each of two blocks to the same two: nothing tells them apart. */
TEST(edges_nobody_knows)
{
	uint32_t first[] = {0, 2, 4, 6, 6, 6}, succ[] = {1, 2, 3, 4, 3, 4};
	const enum flow_end how[] = {FLOW_BRANCHES, FLOW_BRANCHES, FLOW_BRANCHES, FLOW_LEAVES,
				     FLOW_LEAVES};
	struct flow f = {.first = first, .succ = succ};
	struct block_count counts[] = {{10, COUNT_HIGH},
				       {6, COUNT_HIGH},
				       {4, COUNT_HIGH},
				       {5, COUNT_HIGH},
				       {5, COUNT_HIGH}};
	double n[6];

	vec_push(&f.roots, 0);
	for (unsigned b = 0; b < 5; b++)
		vec_push(&f.blocks, (struct flow_block){.start = b, .how = how[b]});
	edge_counts_of(&f, counts, n);
	EXPECT(n[0] == 6 && n[1] == 4);
	EXPECT(isnan(n[2]) && isnan(n[3]) && isnan(n[4]) && isnan(n[5]));
	counts[1].confidence = COUNT_UNKNOWN;
	edge_counts_of(&f, counts, n);
	EXPECT(n[0] == 6 && n[1] == 4); /* what does not go to the other goes there */
	f.n_unknown = 1;		/* a jump may lead to any block */
	edge_counts_of(&f, counts, n);
	EXPECT(isnan(n[0]) && isnan(n[1]));
	vec_release(&f.blocks);
	vec_release(&f.roots);
	edge_counts_of(&(struct flow){0}, NULL, NULL);
}
