/* SPDX-License-Identifier: BSD-2-Clause */
/* See flow_fit.h.
 *
 * The unknowns are how often control went along each edge, and into and out of blocks where edges
 * are not known: roots, returns, jumps to unknown places.  A block ran as often as control came to
 * it, and as often as control left it.  Sought are the flows whose blocks differ least from what
 * was measured, each weighed by the inverse of its variance (least squares), while what comes in
 * goes out: a difference there counts STIFF times as much.  Solved by conjugate gradients, which
 * needs nothing but sums over edges.
 *
 * The variance of a count of samples is the count that is expected, not the one that was seen: who
 * takes the one seen believes the low ones more.  So the first solution gives the variances of the
 * second, and so on.  A flow below 0 is 0 in the next.
 *
 * Example: a loop's block had 90 samples, its two ways 60 and 50, and one execution is one sample.
 * The block is as likely 100, where 60 + 50 is off by as much as 90: all three move, the block to
 * 100, the ways to 55 and 45.
 *
 * How sure a count is: the same is solved again with each measure moved at random by its own
 * deviation.  How far the counts move says how far they may be off. */
#include "resolve/flow_fit.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

#define STIFF	   1000
#define N_ROUNDS   4	 /* of variances */
#define N_TRIES	   12	 /* moved at random */
#define MAX_STEPS  300	 /* of conjugate gradients */
#define MAX_WORK   5e6	 /* edges times steps, of one solution */
#define ENOUGH	   1e-10 /* squares of what is left beside those of the start */
#define MANY_EDGES 5000	 /* with more no tries are made */

struct fitter {
	const struct flow *f;
	const struct flow_measure *measures;
	uint32_t n_blocks, n_edges, n; /* N unknowns: edges, then ways in and out */
	uint32_t *from, *to;	       /* of each unknown; NO_BLOCK: from or to elsewhere */
	double *weight, *stiff;	       /* of each block */
	double *goal;		       /* measured, or moved */
	double *flow;		       /* of each unknown */
	double *scale;		       /* of each unknown; 0: it is 0 */
	double *in, *out;	       /* of each block */
	double *rest, *step, *image;   /* conjugate gradients */
	uint64_t random;
};

#define NO_BLOCK UINT32_MAX

static void add_unknown(struct fitter *t, uint32_t from, uint32_t to)
{
	t->from[t->n] = from;
	t->to[t->n++] = to;
}

static void init_unknowns(struct fitter *t)
{
	const struct flow *f = t->f;
	bool *root = xcalloc(t->n_blocks + 1, sizeof(*root));
	const size_t most = t->n_edges + 2 * (size_t)t->n_blocks + 1;

	t->from = xcalloc(most, sizeof(*t->from));
	t->to = xcalloc(most, sizeof(*t->to));
	vec_each (r, &f->roots)
		root[*r] = true;
	for (uint32_t b = 0; b < t->n_blocks; b++)
		for (uint32_t e = f->first[b]; e < f->first[b + 1]; e++)
			add_unknown(t, b, f->succ[e]);
	for (uint32_t b = 0; b < t->n_blocks; b++) {
		if (f->n_unknown || root[b])
			add_unknown(t, NO_BLOCK, b);
		if (!block_goes_on(f, b))
			add_unknown(t, b, NO_BLOCK);
	}
	free(root);
}

static double *new_doubles(size_t n)
{
	return xcalloc(n + 1, sizeof(double));
}

static void fitter_init(struct fitter *t, const struct flow *f, const struct flow_measure *m)
{
	*t = (struct fitter){.f = f,
			     .measures = m,
			     .n_blocks = (uint32_t)f->blocks.n,
			     .n_edges = f->first[f->blocks.n],
			     .random = 88172645463325252};
	init_unknowns(t);
	t->weight = new_doubles(t->n_blocks);
	t->stiff = new_doubles(t->n_blocks);
	t->goal = new_doubles(t->n_blocks);
	t->in = new_doubles(t->n_blocks);
	t->out = new_doubles(t->n_blocks);
	t->flow = new_doubles(t->n);
	t->scale = new_doubles(t->n);
	t->rest = new_doubles(t->n);
	t->step = new_doubles(t->n);
	t->image = new_doubles(t->n);
}

static void fitter_release(struct fitter *t)
{
	free(t->from);
	free(t->to);
	free(t->weight);
	free(t->stiff);
	free(t->goal);
	free(t->in);
	free(t->out);
	free(t->flow);
	free(t->scale);
	free(t->rest);
	free(t->step);
	free(t->image);
}

/* Adds up V, of unknowns, to what comes in and goes out of each block. */
static void sum_up(struct fitter *t, const double *v)
{
	for (uint32_t b = 0; b < t->n_blocks; b++)
		t->in[b] = t->out[b] = 0;
	for (uint32_t i = 0; i < t->n; i++) {
		if (t->to[i] != NO_BLOCK)
			t->in[t->to[i]] += v[i];
		if (t->from[i] != NO_BLOCK)
			t->out[t->from[i]] += v[i];
	}
}

/* Sets RET, of unknowns, to what IN and OUT of the blocks give them; fixed ones to 0. */
static void spread_out(const struct fitter *t, double *ret)
{
	for (uint32_t i = 0; i < t->n; i++)
		ret[i] = t->scale[i] > 0 ? (t->to[i] != NO_BLOCK ? t->in[t->to[i]] : 0) +
						   (t->from[i] != NO_BLOCK ? t->out[t->from[i]] : 0)
					 : 0;
}

/* Sets RET to the matrix of the normal equations times V. */
static void multiply(struct fitter *t, const double *v, double *ret)
{
	sum_up(t, v);
	for (uint32_t b = 0; b < t->n_blocks; b++) {
		const double odd = t->stiff[b] * (t->in[b] - t->out[b]);

		t->in[b] = t->weight[b] / 2 * t->in[b] + odd;
		t->out[b] = t->weight[b] / 2 * t->out[b] - odd;
	}
	spread_out(t, ret);
}

/* The diagonal of that matrix: an edge from a block to itself is in both sums. */
static void set_scales(struct fitter *t, const bool *is_zero)
{
	for (uint32_t i = 0; i < t->n; i++) {
		const uint32_t a = t->from[i], b = t->to[i];

		if (a == b)
			t->scale[i] = t->weight[a];
		else
			t->scale[i] = (a == NO_BLOCK ? 0 : t->weight[a] / 2 + t->stiff[a]) +
				      (b == NO_BLOCK ? 0 : t->weight[b] / 2 + t->stiff[b]);
		if (is_zero[i])
			t->scale[i] = t->flow[i] = 0;
	}
}

/* From the flow that is there to the one that fits GOAL. */
static void solve(struct fitter *t)
{
	const double work = MAX_WORK / (t->n + 1.0);
	const unsigned most = work < MAX_STEPS ? (unsigned)work + 1 : MAX_STEPS;
	double left = 0, first;

	multiply(t, t->flow, t->image);
	for (uint32_t b = 0; b < t->n_blocks; b++)
		t->in[b] = t->out[b] = t->weight[b] / 2 * t->goal[b];
	spread_out(t, t->rest);
	for (uint32_t i = 0; i < t->n; i++) {
		t->rest[i] -= t->image[i];
		t->step[i] = t->scale[i] > 0 ? t->rest[i] / t->scale[i] : 0;
		left += t->rest[i] * t->step[i];
	}
	first = left;
	for (unsigned k = 0; k < most && left > ENOUGH * first && left > 0; k++) {
		double along = 0, next = 0;

		multiply(t, t->step, t->image);
		for (uint32_t i = 0; i < t->n; i++)
			along += t->step[i] * t->image[i];
		if (!(along > 0))
			return;
		for (uint32_t i = 0; i < t->n; i++) {
			t->flow[i] += left / along * t->step[i];
			t->rest[i] -= left / along * t->image[i];
			if (t->scale[i] > 0)
				next += t->rest[i] * t->rest[i] / t->scale[i];
		}
		for (uint32_t i = 0; i < t->n; i++)
			if (t->scale[i] > 0)
				t->step[i] = t->rest[i] / t->scale[i] + next / left * t->step[i];
		left = next;
	}
}

static double count_now(const struct fitter *t, uint32_t b)
{
	const double n = (t->in[b] + t->out[b]) / 2;

	return n > 0 ? n : 0;
}

/* Sets the weights by the counts N. */
static void set_weights(struct fitter *t, const double *n)
{
	double sum = 0, known = 0;

	for (uint32_t b = 0; b < t->n_blocks; b++) {
		const struct flow_measure *m = &t->measures[b];

		if (!m->is_known)
			continue;
		t->weight[b] = 1 / (m->c * (n[b] > m->c ? n[b] : m->c) + m->more);
		sum += log(t->weight[b]);
		known++;
	}
	for (uint32_t b = 0; b < t->n_blocks; b++)
		t->stiff[b] =
			STIFF * (t->measures[b].is_known ? t->weight[b]
							 : exp(sum / (known > 0 ? known : 1)));
}

/* About normal, of mean 0 and deviation 1. */
static double draw(struct fitter *t)
{
	double sum = 0;

	for (unsigned i = 0; i < 12; i++) {
		t->random ^= t->random << 13;
		t->random ^= t->random >> 7;
		t->random ^= t->random << 17;
		sum += (double)(t->random >> 11) * 0x1p-53;
	}
	return sum - 6;
}

/* Sets COUNTS by how far the counts move when the measures do. */
static void find_confidence(struct fitter *t, struct block_count *counts)
{
	double *moved = new_doubles(t->n_blocks);

	for (unsigned k = 0; k < N_TRIES; k++) {
		for (uint32_t b = 0; b < t->n_blocks; b++)
			t->goal[b] = counts[b].n +
				     (t->measures[b].is_known ? draw(t) / sqrt(t->weight[b]) : 0);
		solve(t);
		sum_up(t, t->flow);
		for (uint32_t b = 0; b < t->n_blocks; b++) {
			const double off = (t->in[b] + t->out[b]) / 2 - counts[b].n;

			moved[b] += off * off / N_TRIES;
		}
	}
	for (uint32_t b = 0; b < t->n_blocks; b++)
		counts[b].confidence =
			counts[b].n > 0 ? count_confidence_of(counts[b].n, sqrt(moved[b]))
					: COUNT_LOW; /* it may have run less often than sampled */
	free(moved);
}

/* Without tries: each block is as sure as its own measure at least. */
static void own_confidence(const struct fitter *t, struct block_count *counts)
{
	for (uint32_t b = 0; b < t->n_blocks; b++)
		counts[b].confidence =
			t->measures[b].is_known
				? count_confidence_of(counts[b].n, 1 / sqrt(t->weight[b]))
				: COUNT_LOW;
}

/* Without any measure there is no count. */
static void mark_unknown(const struct fitter *t, struct block_count *counts)
{
	bool any = false;

	for (uint32_t b = 0; b < t->n_blocks; b++)
		any |= t->measures[b].is_known;
	for (uint32_t b = 0; b < t->n_blocks && !any; b++)
		counts[b] = (struct block_count){0};
}

void flow_fit(const struct flow *f, const struct flow_measure *measures, struct block_count *counts)
{
	struct fitter t;
	double *n;
	bool *is_zero;

	fitter_init(&t, f, measures);
	n = new_doubles(t.n_blocks);
	is_zero = xcalloc(t.n + 1, sizeof(*is_zero));
	for (uint32_t b = 0; b < t.n_blocks; b++)
		n[b] = t.goal[b] = measures[b].is_known ? measures[b].n : 0;
	for (unsigned k = 0; k < N_ROUNDS; k++) {
		set_weights(&t, n);
		set_scales(&t, is_zero);
		solve(&t);
		for (uint32_t i = 0; i < t.n; i++)
			is_zero[i] |= t.flow[i] < 0;
		sum_up(&t, t.flow);
		for (uint32_t b = 0; b < t.n_blocks; b++)
			n[b] = count_now(&t, b);
	}
	for (uint32_t b = 0; b < t.n_blocks; b++)
		counts[b].n = n[b];
	if (t.n > MANY_EDGES)
		own_confidence(&t, counts);
	else
		find_confidence(&t, counts);
	mark_unknown(&t, counts);
	free(n);
	free(is_zero);
	fitter_release(&t);
}
