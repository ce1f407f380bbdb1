/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts fitted to samples of a loop whose truth is known. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "resolve/flow_fit.h"
#include "t.h"

/* A block before a loop (0), its head (1) with two ways (2, 3) that meet (4), and the end (5). */
#define N 6

static const double truth[N] = {100, 10000, 3000, 7000, 10000, 100};

static void make_flow(struct flow *f)
{
	static const uint32_t first[] = {0, 1, 3, 4, 5, 7, 7}, succ[] = {1, 2, 3, 4, 4, 1, 5};
	static const enum flow_end how[N] = {FLOW_FALLS, FLOW_BRANCHES, FLOW_JUMPS,
					     FLOW_FALLS, FLOW_BRANCHES, FLOW_LEAVES};

	*f = (struct flow){.first = xcalloc(N + 1, sizeof(*f->first)),
			   .succ = xcalloc(n_elems(succ), sizeof(*f->succ))};
	for (uint32_t i = 0; i <= N; i++)
		f->first[i] = first[i];
	for (uint32_t i = 0; i < n_elems(succ); i++)
		f->succ[i] = succ[i];
	for (uint32_t b = 0; b < N; b++)
		vec_push(&f->blocks,
			 (struct flow_block){
				 .start = 16 * b, .end = 16 * b + 16, .n_insns = 4, .how = how[b]});
	vec_push(&f->roots, 0);
}

static double noise(uint64_t *random)
{
	double sum = 0;

	for (unsigned i = 0; i < 12; i++) {
		*random = *random * 6364136223846793005ULL + 1442695040888963407ULL;
		sum += (double)(*random >> 11) * 0x1p-53;
	}
	return sum - 6;
}

/* The sums of squares of what is off, of measures and of fits, in units of what is expected. */
TEST(fits_are_nearer_than_measures)
{
	const double c = 25;
	double measured = 0, fitted = 0;
	uint64_t random = 1;
	struct flow f;

	make_flow(&f);
	for (unsigned k = 0; k < 200; k++) {
		struct flow_measure m[N];
		struct block_count counts[N];

		for (uint32_t b = 0; b < N; b++) {
			const double n = truth[b] / c;
			const double seen = floor(n + sqrt(n) * noise(&random) + 0.5);

			m[b] = (struct flow_measure){
				.n = seen > 0 ? seen * c : 0, .c = c, .is_known = true};
		}
		flow_fit(&f, m, counts);
		for (uint32_t b = 0; b < N; b++) {
			measured += pow(m[b].n - truth[b], 2) / (c * truth[b]);
			fitted += pow(counts[b].n - truth[b], 2) / (c * truth[b]);
			EXPECT(counts[b].n >= 0 && counts[b].confidence >= COUNT_LOW);
		}
		/* What comes to a block goes on. */
		EXPECT(fabs(counts[1].n - counts[2].n - counts[3].n) <= 0.005 * counts[1].n);
		EXPECT(fabs(counts[1].n - counts[4].n) <= 0.005 * counts[1].n);
	}
	EXPECT(fitted < 0.7 * measured);
	flow_release(&f);
}

/* A block that nothing was measured of has what flow leaves it. Without measures none is known. */
TEST(unmeasured_blocks)
{
	struct flow_measure m[N] = {0};
	struct block_count counts[N];
	struct flow f;

	make_flow(&f);
	flow_fit(&f, m, counts);
	for (uint32_t b = 0; b < N; b++)
		EXPECT_EQ(counts[b].confidence, COUNT_UNKNOWN);
	for (uint32_t b = 0; b < N; b++)
		m[b] = (struct flow_measure){.n = truth[b], .c = 1, .is_known = b != 3};
	flow_fit(&f, m, counts);
	EXPECT(fabs(counts[3].n - 7000) < 350);
	EXPECT(fabs(counts[1].n - 10000) < 100);
	flow_release(&f);
}

/* 10^5 blocks, each of which goes on to the next: bounded work, and no count far from all. */
TEST(many_blocks)
{
	const uint32_t n = 100000;
	struct flow_measure *m = xcalloc(n, sizeof(*m));
	struct block_count *counts = xcalloc(n, sizeof(*counts));
	struct flow f = {.first = xcalloc(n + 1, sizeof(*f.first)),
			 .succ = xcalloc(n, sizeof(*f.succ))};
	uint64_t random = 1;

	for (uint32_t b = 0; b < n; b++) {
		f.first[b + 1] = b + 1 < n ? b + 1 : b;
		f.succ[b] = b + 1;
		vec_push(&f.blocks,
			 (struct flow_block){.start = 4 * b,
					     .end = 4 * b + 4,
					     .n_insns = 1,
					     .how = b + 1 < n ? FLOW_FALLS : FLOW_LEAVES});
		m[b] = (struct flow_measure){
			.n = 10000 + 100 * noise(&random), .c = 1, .is_known = true};
	}
	vec_push(&f.roots, 0);
	flow_fit(&f, m, counts);
	for (uint32_t b = 0; b < n; b++)
		REQUIRE(fabs(counts[b].n - 10000) < 500 && counts[b].confidence != COUNT_UNKNOWN);
	flow_release(&f);
	free(counts);
	free(m);
}
