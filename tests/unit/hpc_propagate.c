/* SPDX-License-Identifier: BSD-2-Clause */
/* Propagation and statistics against sums made naively, by definition, on random trees and
 * profiles; and a tree small enough to see what scopes are. */
#include <stdlib.h>

#include "hpc/statistics.h"
#include "t.h"
#include "hpc/write/profile.h"

#define N_METRICS  3
#define N_PROFILES 5
#define MOST_CTXS  400

struct world {
	struct ctx_tree tree;
	uint64_t point[N_PROFILES][MOST_CTXS][N_METRICS];
};

/* Random parents and relations; now and then a chain, now and then a star. */
static void world_init(struct world *w, struct t_rng *r)
{
	uint32_t n = 1 + (uint32_t)t_below(r, MOST_CTXS), shape = (uint32_t)t_below(r, 3);

	*w = (struct world){0};
	w->tree.n = n;
	w->tree.parent = xcalloc(n, sizeof(*w->tree.parent));
	w->tree.flags = xcalloc(n, 1);
	for (uint32_t c = 1; c < n; c++) {
		w->tree.parent[c] = shape == 0 ? c - 1 : shape == 1 ? 0 : (uint32_t)t_below(r, c);
		w->tree.flags[c] = (uint8_t)t_below(r, 4);
	}
	for (unsigned p = 0; p < N_PROFILES; p++)
		for (uint64_t k = t_below(r, 60); k > 0; k--)
			w->point[p][t_below(r, n)][t_below(r, N_METRICS)] +=
				1 + (t_below(r, 3) ? t_below(r, 1000) : t_rand(r) >> 20);
}

static void world_release(struct world *w)
{
	free(w->tree.parent);
	free(w->tree.flags);
}

static bool takes_in(const struct world *w, uint32_t c, enum metric_scope s)
{
	return s == IN_EXECUTION || (s != IN_POINT && (w->tree.flags[c] & TREE_LEXICAL));
}

/* The value of METRIC in context C, by definition: its own and what its children have. */
static uint64_t naive(const struct world *w, unsigned p, uint32_t c, unsigned m,
		      enum metric_scope s, bool no_loops)
{
	uint64_t n = w->point[p][c][m];

	for (uint32_t k = c + 1; k < w->tree.n; k++)
		if (w->tree.parent[k] == c && takes_in(w, k, s) &&
		    !(no_loops && (w->tree.flags[k] & TREE_LOOP)))
			n += naive(w, p, k, m, s, no_loops);
	return n;
}

static uint64_t expected(const struct world *w, unsigned p, uint32_t c, unsigned m,
			 enum metric_scope s)
{
	bool loop = w->tree.flags[c] & TREE_LOOP;

	return naive(w, p, c, m, s, s == IN_LEX_AWARE && loop);
}

static void fill(struct propagate *w, const struct world *world, unsigned p, struct t_rng *r)
{
	for (uint32_t c = 0; c < world->tree.n; c++)
		for (unsigned m = 0; m < N_METRICS; m++) {
			uint64_t n = world->point[p][c][m], first = n > 1 ? t_below(r, n) : 0;

			if (first)
				propagate_add(w, c, m, first);
			if (n - first)
				propagate_add(w, c, m, n - first);
		}
	propagate_finish(w);
}

static void check_profile(const struct propagate *w, const struct world *world, unsigned p)
{
	size_t i = 0;

	for (uint32_t c = 0; c < world->tree.n; c++) {
		bool there = i < w->touched.n && w->touched.v[i] == c;

		for (unsigned m = 0; m < N_METRICS; m++)
			for (unsigned s = 0; s < N_METRIC_SCOPES; s++) {
				uint64_t want = expected(world, p, c, m, s);

				EXPECT_EQ(there ? propagate_cell(w, i, m)->in[s] : 0, want);
			}
		i += there;
	}
	EXPECT_EQ(i, w->touched.n);
}

/* The values of a world's contexts, some of which may be left out. */
struct tensor {
	const struct world *world;
	double v[N_PROFILES][MOST_CTXS][N_METRICS][N_METRIC_SCOPES];
};

/* Leaves out one in LEAVE_OUT, none when it is 0. */
static void tensor_init(struct tensor *t, const struct world *w, unsigned leave_out)
{
	uint64_t n = 0;

	t->world = w;
	for (unsigned p = 0; p < N_PROFILES; p++)
		for (uint32_t c = 0; c < w->tree.n; c++)
			for (unsigned m = 0; m < N_METRICS; m++)
				for (unsigned s = 0; s < N_METRIC_SCOPES; s++) {
					bool out = leave_out && hash_u64(n++) % leave_out == 0;

					t->v[p][c][m][s] =
						out ? 0 : (double)expected(w, p, c, m, s);
				}
}

/* What a statistic is, by definition. */
static double naive_statistic(const struct tensor *t, uint32_t c, unsigned m,
			      enum metric_statistic k, enum metric_scope s)
{
	double ret = 0;
	bool any = false;

	for (unsigned p = 0; p < N_PROFILES; p++) {
		double x = t->v[p][c][m][s];
		bool there = false;

		for (unsigned i = 0; i < N_METRIC_SCOPES; i++)
			there |= t->v[p][c][m][i] != 0;
		if (!there)
			continue;
		if (k == STAT_SUM)
			ret += x;
		else if (k == STAT_COUNT)
			ret += 1;
		else if (k == STAT_SQUARES)
			ret += x * x;
		else if (!any || (k == STAT_MIN ? x < ret : x > ret))
			ret = x;
		any = true;
	}
	return ret;
}

static double found(const struct hpc_profile_block *b, uint32_t ctxId, uint16_t metricId)
{
	for (uint32_t i = 0; i < b->n_ctxs; i++) {
		uint64_t from = hpc_le64(b->ctxIndices + 12 * i + 4);
		uint64_t to = i + 1 < b->n_ctxs ? hpc_le64(b->ctxIndices + 12 * (i + 1) + 4)
						: b->n_values;

		if (hpc_le32(b->ctxIndices + 12 * i) != ctxId)
			continue;
		for (; from < to; from++)
			if (hpc_le16(b->values + 10 * from) == metricId)
				return hpc_lef64(b->values + 10 * from + 2);
	}
	return 0;
}

static bool close_to(double a, double b)
{
	return a - b <= 1e-12 * b && b - a <= 1e-12 * b;
}

/* Tells S the values of context C as cct.db would have them. */
static void add_ctx(struct statistics *s, uint32_t range, const struct tensor *t, uint32_t c)
{
	uint8_t values[12 * N_PROFILES * N_METRICS * N_METRIC_SCOPES];
	uint8_t indices[10 * N_METRICS * N_METRIC_SCOPES];
	struct hpc_cct cct = {.ctxId = c, .values = values, .metricIndices = indices};

	for (unsigned i = 0; i < N_METRICS * N_METRIC_SCOPES; i++) {
		unsigned metric = i / N_METRIC_SCOPES, scope = i % N_METRIC_SCOPES;
		uint64_t first = cct.nValues;

		for (unsigned p = 0; p < N_PROFILES; p++) {
			double v = t->v[p][c][metric][scope];

			if (v == 0)
				continue;
			hpc_put32(values + 12 * cct.nValues, p + 1);
			hpc_putf64(values + 12 * cct.nValues++ + 4, v);
		}
		if (cct.nValues > first) {
			hpc_put16(indices + 10 * cct.nMetrics,
				  prop_metric_id(s->metrics, metric, scope));
			hpc_put64(indices + 10 * cct.nMetrics++ + 2, first);
		}
	}
	if (cct.nValues)
		statistics_values(s, range, &cct);
}

static void check_statistics(const struct tensor *t)
{
	struct build_metric metrics[N_METRICS] = {
		{"a", false, 15}, {"b", false, 15}, {"c", false, 15}};
	struct build_metrics ms = {.v = {metrics, N_METRICS, N_METRICS},
				   .n_scopes = N_METRIC_SCOPES};
	struct statistics s = {.metrics = &ms};
	struct hpc_profile_block b = {0};

	build_metrics_number(&ms);
	statistics_ranges(&s, 3);
	for (uint32_t c = 0; c < t->world->tree.n; c++)
		add_ctx(&s, 3 * c / t->world->tree.n, t, c);
	statistics_join(&s, &b);
	for (uint32_t c = 0; c < t->world->tree.n; c++)
		for (unsigned m = 0; m < N_METRICS; m++)
			for (unsigned k = 0; k < N_STATISTICS; k++)
				for (unsigned i = 0; i < N_METRIC_SCOPES; i++)
					EXPECT(close_to(found(&b, c, stat_metric_id(&ms, m, k, i)),
							naive_statistic(t, c, m, k, i)));
	hpc_profile_block_release(&b);
	statistics_release(&s);
	vec_release(&ms.of_id);
}

TEST(sums_are_what_scopes_say)
{
	struct t_rng r = {7};

	static struct tensor tensor;

	for (unsigned n = 0; n < t_cases(12); n++) {
		struct world world;
		struct propagate w;

		world_init(&world, &r);
		propagate_init(&w, &world.tree, N_METRICS);
		for (unsigned p = 0; p < N_PROFILES; p++) {
			fill(&w, &world, p, &r);
			check_profile(&w, &world, p);
			propagate_reset(&w);
		}
		for (unsigned leave_out = 0; leave_out <= 3; leave_out += 3) {
			tensor_init(&tensor, &world, leave_out);
			check_statistics(&tensor);
		}
		propagate_release(&w);
		world_release(&world);
	}
}

/* 1 function, 2 loop in it, 3 loop in that, 4 line in that, 5 function that 4 calls, 6 function
 * inlined in 2. */
TEST(scopes_of_a_small_tree)
{
	uint32_t parent[] = {0, 0, 1, 2, 3, 4, 2};
	uint8_t flags[] = {0, 0, TREE_LEXICAL | TREE_LOOP, TREE_LEXICAL | TREE_LOOP, TREE_LEXICAL,
			   0, 0};
	const struct ctx_tree tree = {7, parent, flags};
	struct propagate w;

	propagate_init(&w, &tree, 1);
	propagate_add(&w, 1, 0, 1);
	propagate_add(&w, 2, 0, 10);
	propagate_add(&w, 3, 0, 100);
	propagate_add(&w, 4, 0, 1000);
	propagate_add(&w, 6, 0, 10000);
	propagate_add(&w, 5, 0, 100000);
	propagate_finish(&w);
	REQUIRE(w.touched.n == 7);
	EXPECT_EQ(propagate_cell(&w, 0, 0)->in[IN_EXECUTION], 111111);
	EXPECT_EQ(propagate_cell(&w, 0, 0)->in[IN_FUNCTION], 0); /* what is called is not in it */
	EXPECT_EQ(propagate_cell(&w, 1, 0)->in[IN_FUNCTION], 1111);
	EXPECT_EQ(propagate_cell(&w, 1, 0)->in[IN_LEX_AWARE], 1111);
	EXPECT_EQ(propagate_cell(&w, 1, 0)->in[IN_POINT], 1);
	EXPECT_EQ(propagate_cell(&w, 2, 0)->in[IN_FUNCTION], 1110);
	EXPECT_EQ(propagate_cell(&w, 2, 0)->in[IN_LEX_AWARE], 10); /* without the loop in it */
	EXPECT_EQ(propagate_cell(&w, 2, 0)->in[IN_EXECUTION], 111110);
	EXPECT_EQ(propagate_cell(&w, 3, 0)->in[IN_LEX_AWARE], 1100);
	EXPECT_EQ(propagate_cell(&w, 4, 0)->in[IN_EXECUTION], 101000);
	EXPECT_EQ(propagate_cell(&w, 4, 0)->in[IN_FUNCTION], 1000);
	propagate_release(&w);
}

TEST(nothing_touched)
{
	uint32_t parent[] = {0, 0};
	uint8_t flags[] = {0, 0};
	const struct ctx_tree tree = {2, parent, flags};
	struct propagate w;

	propagate_init(&w, &tree, 1);
	propagate_finish(&w);
	EXPECT_EQ(w.touched.n, 0);
	propagate_reset(&w);
	propagate_add(&w, 1, 0, 5);
	propagate_finish(&w);
	EXPECT_EQ(w.touched.n, 2);
	propagate_release(&w);
}

/* 2^18 + 1 contexts need three levels of bits. */
TEST(many_contexts)
{
	uint32_t n = (1u << 18) + 1, last = 0;
	struct ctx_tree tree = {n, xcalloc(n, sizeof(uint32_t)), xcalloc(n, 1)};
	struct propagate w;

	propagate_init(&w, &tree, 1);
	for (uint32_t c = 4097; c < n; c += 4097)
		propagate_add(&w, c, 0, c);
	propagate_add(&w, n - 1, 0, n - 1);
	propagate_finish(&w);
	EXPECT_EQ(w.touched.n, 65);
	for (size_t i = 1; i < w.touched.n; i++) {
		EXPECT(w.touched.v[i] > last);
		last = w.touched.v[i];
		EXPECT_EQ(propagate_cell(&w, i, 0)->in[IN_POINT], last);
	}
	propagate_release(&w);
	free(tree.parent);
	free(tree.flags);
}
