/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts of blocks: from branch stacks of programs that are walked here, so that the truth is
 * known, and from some blocks by what comes in and goes out. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "resolve/block_counts.h"
#include "t.h"

#define INSN  4 /* bytes; a block has INSNS of them */
#define INSNS 4
#define BYTES (INSN * INSNS)
#define BASE  0x1000

/* One procedure, in order of address; blocks end as HOW says and jump to TO. */
struct made {
	enum flow_end how;
	uint32_t to;
	unsigned odds; /* of 1000: that the branch is taken */
};

static void make_flow(struct flow *f, const struct made *m, uint32_t n)
{
	*f = (struct flow){0};
	f->first = xcalloc(n + 1, sizeof(*f->first));
	f->succ = xcalloc(2 * n + 1, sizeof(*f->succ));
	vec_push(&f->roots, 0);
	for (uint32_t b = 0, e = 0; b < n; b++) {
		const uint64_t start = BASE + (uint64_t)b * BYTES;

		vec_push(&f->blocks, (struct flow_block){.start = start,
							 .end = start + BYTES,
							 .last = start + BYTES - INSN,
							 .n_insns = INSNS,
							 .how = m[b].how});
		if (m[b].how == FLOW_FALLS || m[b].how == FLOW_BRANCHES)
			f->succ[e++] = b + 1;
		if (m[b].how == FLOW_JUMPS || m[b].how == FLOW_BRANCHES)
			f->succ[e++] = m[b].to;
		f->first[b + 1] = e;
	}
}

static uint64_t random_seed;

static uint32_t random_below(uint32_t n)
{
	random_seed = random_seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_seed >> 33) % n;
}

/* A walk over a made procedure, which is called again and again. */
struct walk_of {
	const struct made *m;
	uint32_t at, n;
	uint64_t *ran; /* of each block */
};

struct jump {
	uint64_t from, to;
};

/* Runs on to the next jump that is taken. */
static struct jump walk_on(struct walk_of *w)
{
	for (;;) {
		const struct made *m = &w->m[w->at];
		const uint64_t from = BASE + (uint64_t)w->at * BYTES + BYTES - INSN;
		uint32_t to = w->at + 1;
		bool taken = m->how != FLOW_FALLS;

		w->ran[w->at]++;
		if (m->how == FLOW_LEAVES)
			to = 0;
		else if (m->how == FLOW_JUMPS)
			to = m->to;
		else if (m->how == FLOW_BRANCHES && (taken = random_below(1000) < m->odds))
			to = m->to;
		w->at = to;
		if (taken)
			return (struct jump){from, BASE + (uint64_t)to * BYTES};
	}
}

#define STACK 32

/* Adds jump J, number K of its stack. */
static void add_jump(struct run_end *ends, size_t i, unsigned k, struct jump j)
{
	ends[2 * i] = (struct run_end){j.to, 1, 0};
	ends[2 * i + 1] = (struct run_end){j.from + 1, -1, 0};
	for (; k; k--)
		if (ends[2 * (i - k)].svma == j.to) {
			ends[2 * i].n_again++;
			ends[2 * (i - k)].n_again++;
		}
}

/* Takes stacks of 32 jumps until there are N jumps; between two pass up to 100 others. */
static void take_stacks(struct walk_of *w, struct run_end *ends, size_t n)
{
	for (size_t i = 0; i < n;) {
		for (uint32_t skip = random_below(100); skip--;)
			walk_on(w);
		for (unsigned k = 0; k < STACK && i < n; k++)
			add_jump(ends, i++, k, walk_on(w));
	}
}

/* Share of executions in blocks whose count is within 5 % of the truth; *RET_SURE: of those called
 * medium or high. */
static double share_right(const struct walk_of *w, const struct block_count *c, double *ret_sure)
{
	double total = 0, right = 0, sum = 0, sure = 0, sure_right = 0;

	for (uint32_t b = 0; b < w->n; b++) {
		total += (double)w->ran[b];
		sum += c[b].n;
	}
	for (uint32_t b = 0; b < w->n; b++) {
		const double truth = (double)w->ran[b];
		const bool is_right = fabs(c[b].n * total / sum - truth) <= 0.05 * truth;

		right += is_right ? truth : 0;
		sure += c[b].confidence >= COUNT_MEDIUM ? truth : 0;
		sure_right += c[b].confidence >= COUNT_MEDIUM && is_right ? truth : 0;
	}
	*ret_sure = sure > 0 ? sure_right / sure : 1;
	return right / total;
}

/* Adds up equal ends of the N, as branches of a profile are, and returns how many are left: at most
 * one begin and one end a block. */
static size_t add_equal(struct run_end *ends, size_t n, uint32_t n_blocks)
{
	struct run_end *sums = xcalloc(2 * n_blocks, sizeof(*sums));
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		const uint64_t block = (ends[i].svma - 1 - BASE + (ends[i].n > 0)) / BYTES;
		struct run_end *sum = &sums[2 * block + (ends[i].n > 0)];

		sum->svma = ends[i].svma;
		sum->n += ends[i].n;
		sum->n_again += ends[i].n_again;
	}
	for (uint32_t i = 0; i < 2 * n_blocks; i++)
		if (sums[i].n)
			ends[kept++] = sums[i];
	free(sums);
	return kept;
}

static void run_walk(const struct made *m, uint32_t n, size_t n_jumps, bool added,
		     double *ret_share, double *ret_sure)
{
	size_t n_ends = 2 * n_jumps;
	struct walk_of w = {.m = m, .n = n, .ran = xcalloc(n, sizeof(*w.ran))};
	struct run_end *ends = xcalloc(2 * n_jumps, sizeof(*ends));
	struct block_count *counts = xcalloc(n, sizeof(*counts));
	struct flow f;

	make_flow(&f, m, n);
	take_stacks(&w, ends, n_jumps);
	if (added)
		n_ends = add_equal(ends, n_ends, n);
	block_counts_of_branches(&f, ends, n_ends, n_jumps / STACK, counts);
	*ret_share = share_right(&w, counts, ret_sure);
	flow_release(&f);
	free(counts);
	free(ends);
	free(w.ran);
}

/* 2.576 deviations: 99 of 100 draws. */
TEST(confidence_is_about_99_of_100)
{
	EXPECT(count_confidence_of(1000, 9.70) == COUNT_HIGH);
	EXPECT(count_confidence_of(1000, 9.71) == COUNT_MEDIUM);
	EXPECT(count_confidence_of(1000, 19.40) == COUNT_MEDIUM);
	EXPECT(count_confidence_of(1000, 19.42) == COUNT_LOW);
	EXPECT(count_confidence_of(0, 1) == COUNT_LOW);
}

TEST(the_example)
{
	static const struct made loop[] = {{FLOW_BRANCHES, 0, 0}, {FLOW_LEAVES, 0, 0}};
	struct run_end ends[] = {{BASE, 10},
				 {BASE, 990},
				 {BASE + BYTES - INSN + 1, -990},
				 {BASE + 2 * BYTES - INSN + 1, -9}};
	struct block_count c[2];
	struct flow f;

	make_flow(&f, loop, 2);
	block_counts_of_branches(&f, ends, 4, 0, c);
	REQUIRE(fabs(c[1].n - 9.005) < 0.001);
	REQUIRE(c[0].n > 999 && c[0].n <= 1000);
	REQUIRE(c[0].confidence == COUNT_LOW && c[1].confidence == COUNT_LOW); /* 1000 +- 3 % */
	flow_release(&f);
}

/* Each end is one of a straight run: what goes to the loop leaves it again. */
TEST(paired_ends)
{
	static const struct made loop[] = {{FLOW_BRANCHES, 0, 0}, {FLOW_LEAVES, 0, 0}};
	struct run_end ends[] = {{BASE, 98000},
				 {BASE + BYTES - INSN + 1, -88000},
				 {BASE + 2 * BYTES - INSN + 1, -10000}};
	struct block_count c[2];
	struct flow f;

	make_flow(&f, loop, 2);
	block_counts_of_branches(&f, ends, 3, 0, c);
	EXPECT(fabs(c[0].n - 98000) < 0.001 && c[0].confidence == COUNT_HIGH);
	EXPECT(fabs(c[1].n - 10000) < 0.001 && c[1].confidence != COUNT_HIGH);
	flow_release(&f);
}

/* The example: 1000 stacks, each with 15 turns of a loop, and its block is seen 15000 times. */
TEST(others_of_a_stack)
{
	static const struct made loop[] = {{FLOW_BRANCHES, 0, 0}, {FLOW_LEAVES, 0, 0}};
	struct run_end ends[] = {{BASE, 15000, 0}, {BASE + BYTES - INSN + 1, -15000, 0}};
	struct block_count c[2];
	struct flow f;

	make_flow(&f, loop, 2);
	block_counts_of_branches(&f, ends, 2, 0, c);
	EXPECT(c[0].confidence == COUNT_HIGH); /* not told: they might be of 15000 stacks */
	ends[ends[0].svma == BASE ? 0 : 1].n_again = 210000;
	block_counts_of_branches(&f, ends, 2, 0, c);
	EXPECT(fabs(c[0].n - 15000) < 0.001 && c[0].confidence == COUNT_LOW); /* +- 3.2 % */
	block_counts_of_branches(&f, ends, 2, 1000, c);
	EXPECT(c[0].confidence == COUNT_HIGH); /* all stacks are in the loop */
	flow_release(&f);
}

/* Now and then a loop turns twenty times, so that some stacks see it often, and most do not. */
TEST(confidence_in_bursts)
{
	static const struct made m[] = {{FLOW_BRANCHES, 3, 990},
					{FLOW_BRANCHES, 1, 950},
					{FLOW_BRANCHES, 1, 500},
					{FLOW_LEAVES, 0, 0}};
	const unsigned n = t_cases(20);
	double wrong = 0, n_sure = 0;

	for (unsigned i = 0; i < n; i++) {
		double share, sure;

		random_seed = 1000 + i;
		run_walk(m, n_elems(m), 200000, false, &share, &sure);
		n_sure += sure < 1;
		wrong += 1 - sure;
	}
	printf("# sure and wrong: %.4f of executions, in %.0f of %u walks\n", wrong / n, n_sure, n);
	REQUIRE(wrong / n < 0.01);
}

TEST(calls_end_a_chain)
{
	static const struct made two[] = {{FLOW_FALLS, 0, 0}, {FLOW_LEAVES, 0, 0}};
	/* The second instruction of block 0 calls; a stack ended in what is called. */
	struct run_end ends[] = {{BASE, 100},
				 {BASE + INSN + 1, -100},
				 {BASE + 2 * INSN, 80},
				 {BASE + 2 * BYTES - INSN + 1, -80}};
	struct block_count c[2];
	struct flow f;

	make_flow(&f, two, 2);
	vec_push(&f.calls, BASE + 2 * INSN);
	block_counts_of_branches(&f, ends, 4, 0, c);
	REQUIRE(c[0].n > 80 && c[0].n < 100);
	REQUIRE(fabs(c[1].n - 80) < 0.001);
	flow_release(&f);
}

/* Two loops with hardly executed code between and behind, which the loops' noise must not reach. */
TEST(branches_of_a_walk)
{
	static const struct made m[] = {
		{FLOW_BRANCHES, 2, 10},	 {FLOW_BRANCHES, 1, 990}, {FLOW_FALLS, 0, 0},
		{FLOW_BRANCHES, 3, 950}, {FLOW_BRANCHES, 7, 500}, {FLOW_FALLS, 0, 0},
		{FLOW_JUMPS, 8, 0},	 {FLOW_BRANCHES, 3, 200}, {FLOW_LEAVES, 0, 0},
	};
	double share, sure;

	random_seed = 1;
	run_walk(m, n_elems(m), 1000000, false, &share, &sure);
	printf("# %.4f of executions within 5 %%, %.4f of those called high\n", share, sure);
	REQUIRE(share > 0.99);
	REQUIRE(sure > 0.99);
}

/* Any procedures: branches lead anywhere, so that loops are irreducible. */
TEST(branches_of_tangled_walks)
{
	const unsigned n = t_cases(20);
	double least = 1, share, sure, all = 0, all_sure = 0;

	for (unsigned i = 0; i < n; i++) {
		struct made m[40];

		random_seed = 100 + i;
		for (uint32_t b = 0; b < n_elems(m); b++)
			m[b] = (struct made){b + 1 == n_elems(m)    ? FLOW_LEAVES
					     : random_below(8) == 0 ? FLOW_FALLS
								    : FLOW_BRANCHES,
					     random_below(n_elems(m)), 10 + random_below(800)};
		run_walk(m, n_elems(m), 1000000, true, &share, &sure);
		least = share < least ? share : least;
		all += share / n;
		all_sure += sure / n;
	}
	printf("# mean %.4f, least %.4f of executions within 5 %%; high %.4f\n", all, least,
	       all_sure);
	REQUIRE(all > 0.99);
	REQUIRE(all_sure > 0.99);
}

/* Jumps that nothing did: to and from anywhere, more out than in, far away.  A count is a number, 0
 * or more, and never exact. */
TEST(impossible_branches)
{
	enum { N = 6, N_ENDS = 500 };
	static const struct made m[N] = {{FLOW_BRANCHES, 2, 0}, {FLOW_JUMPS, 5, 0},
					 {FLOW_FALLS, 0, 0},	{FLOW_BRANCHES, 1, 0},
					 {FLOW_STOPS, 0, 0},	{FLOW_LEAVES, 0, 0}};
	struct run_end ends[N_ENDS];
	struct block_count c[N];
	struct flow f;

	make_flow(&f, m, N);
	vec_push(&f.calls, BASE + INSN);
	random_seed = 7;
	for (unsigned round = 0; round < 200; round++) {
		for (unsigned i = 0; i < N_ENDS; i++) {
			const int64_t n = 1 + random_below(1000000);

			ends[i].svma = i == 0	? 0
				       : i == 1 ? UINT64_MAX
						: BASE - 20 + random_below(N * BYTES + 40);
			ends[i].n_again = random_below(3) ? random_below(100) : UINT64_MAX / 2;
			ends[i].n = round % 3 == 0 ? n : round % 3 == 1 ? -n : i % 2 ? n : -n;
		}
		block_counts_of_branches(&f, ends, round % N_ENDS, 0, c);
		for (unsigned b = 0; b < N; b++)
			REQUIRE(isfinite(c[b].n) && c[b].n >= 0 && c[b].confidence >= COUNT_LOW &&
				c[b].confidence < COUNT_EXACT);
	}
	flow_release(&f);
}

/* 10^5 blocks that run on into each other. */
TEST(branches_of_a_long_chain)
{
	enum { N = 100000 };
	struct made *m = xcalloc(N, sizeof(*m));
	struct block_count *c = xcalloc(N, sizeof(*c));
	struct run_end ends[] = {{BASE, 10000}, {BASE + (uint64_t)N * BYTES - INSN + 1, -10000}};
	struct flow f;

	for (uint32_t b = 0; b < N; b++)
		m[b].how = b + 1 < N ? FLOW_FALLS : FLOW_LEAVES;
	make_flow(&f, m, N);
	block_counts_of_branches(&f, ends, 2, 0, c);
	for (uint32_t b = 0; b < N; b++)
		REQUIRE(fabs(c[b].n - 10000) < 0.001 && c[b].confidence == COUNT_MEDIUM);
	flow_release(&f);
	free(c);
	free(m);
}
