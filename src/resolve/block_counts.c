/* SPDX-License-Identifier: BSD-2-Clause */
/* See block_counts.h.
 *
 * Code runs straight from the target of a jump to the next jump.  So an address ran as
 * often as jumps went to it or before it, less the jumps from before it (forward), and as often as
 * jumps left from it or behind it, less the jumps to behind it (backward), both counted in its
 * chain: code that control enters and leaves by jumps alone.  A chain ends behind a return, a jump
 * that is always taken, and a call, for a call is a jump to elsewhere, and its return one to here.
 *
 * A stack's newest jump has a target without an end, its oldest a source without a beginning.
 * Where the recording tells which they are, they are left out.  Then each run counts from its
 * target to its jump and nowhere else, and forward and backward are equal.  Real processors end
 * their stacks at some jumps more often than at others; with these ends all counts behind them
 * would be wrong.
 *
 * What is drawn at random are stacks, and one stack may see a block several times.  If it saw it
 * X times, its share of the count's variance is X * X: X for its runs, and X - 1 more for each of
 * them, the others.  For runs from one target others are counted where stacks are read (struct
 * branch, n_again).  Runs from different targets are taken to come together as often as those from
 * one do: where A others of one target come and B of another, there are (sqrt(A) + sqrt(B))^2.  A
 * jump away takes its share of them with it.  Example: 1000 stacks, each with 15 turns of a loop.
 * Its block ran 15000 times, and 15 * 14 others a stack make 210000 of variance more: the deviation
 * is 474, not 122.  Of N stacks in all, which saw the block n times, this is n * n / N less: if
 * each of N stacks is in that loop, there is nothing left to be drawn.  It is never below n.
 *
 * Older recordings do not tell which they are.  If such ends are spread as all others are, forward
 * and backward are right on average, and each errs by what it adds up.  The one that adds up less
 * errs less: the mean weighs each by the inverse of the jumps it took.  For their confidence a
 * stack has 16 jumps or more, and two of them have no partner.
 *
 * Example without pairs: a loop of 1000 turns, then a block that returns.  Jumps: 10 to the loop's
 * start from outside, 990 back to it, 9 from the return (one stack ended in the loop).  Behind the
 * loop forward says 10 + 990 - 990 = 10, of 1990 jumps; backward says 9, of 9 jumps.  Their mean is
 * 9.005. */
#include "resolve/block_counts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/lower_bound.h"

#define ENDS_PER_ODD 16

const char *count_confidence_name(enum count_confidence c)
{
	static const char *const names[] = {"unknown", "low", "medium", "high", "exact"};

	return names[c];
}

int count_confidence_parse(const char *name, enum count_confidence *ret, struct err *err)
{
	for (enum count_confidence c = COUNT_LOW; c <= COUNT_EXACT; c++)
		if (strcmp(name, count_confidence_name(c)) == 0) {
			*ret = c;
			return 0;
		}
	return err_set(err, -EINVAL, "--conf '%s': must be low, medium, high or exact", name);
}

/* --- branches --- */

static int compare_run_ends(const void *a, const void *b)
{
	const struct run_end *x = a, *y = b;

	if (x->svma != y->svma)
		return x->svma < y->svma ? -1 : 1;
	return (x->n > y->n) - (x->n < y->n);
}

/* Sums over sorted ends: those before number i. */
struct end_sums {
	const struct run_end *ends;
	size_t n;
	int64_t *sum; /* n + 1 */
	uint64_t *jumps;
	double n_stacks; /* 0: not known */
	/* A walk from end number PIECE, where a straight run of code begins, to NEXT: runs that go
	 * on there, and the root of their others. */
	size_t piece, next;
	double running, others_root;
};

struct estimate {
	double n, variance; /* not of N itself, but of what errs */
	double others;	    /* what others of a stack add to N's variance */
};

/* The first jump to SVMA, or end behind it.  Jumps that end at SVMA began in the byte before. */
static size_t first_to(const struct end_sums *s, uint64_t svma)
{
	return lower_bound(k, 0, s->n,
			   s->ends[k].svma < svma || (s->ends[k].svma == svma && s->ends[k].n < 0));
}

/* Passes over end number S->next: over all targets at its address at once. */
static void pass_end(struct end_sums *s)
{
	const struct run_end *e = &s->ends[s->next++];
	double left = s->running + (double)e->n, again = (double)e->n_again;

	if (e->n < 0) {
		left = left > 0 ? left : 0;
		s->others_root *= s->running > 0 ? sqrt(left / s->running) : 0;
		s->running = left;
		return;
	}
	for (; s->next < s->n && s->ends[s->next].svma == e->svma; s->next++) {
		left += (double)s->ends[s->next].n;
		again += (double)s->ends[s->next].n_again;
	}
	s->others_root += sqrt(again);
	s->running = left;
}

/* What others of a stack add to the variance of the runs of ends [FROM, HERE) that go on. */
static double others_at(struct end_sums *s, size_t from, size_t here)
{
	if (s->piece != from || s->next > here) {
		s->piece = s->next = from;
		s->running = s->others_root = 0;
	}
	while (s->next < here)
		pass_end(s);
	return s->others_root * s->others_root;
}

/* How often [SVMA, ...) ran, in a chain [START, END). */
static struct estimate estimate_at(struct end_sums *s, uint64_t start, uint64_t end, uint64_t svma)
{
	const size_t from = first_to(s, start), to = first_to(s, end);
	size_t here = lower_bound(k, 0, s->n, s->ends[k].svma <= svma);
	double forward, backward, n_forward, n_backward;

	here = here < from ? from : here > to ? to : here;
	forward = (double)(s->sum[here] - s->sum[from]);
	backward = -(double)(s->sum[to] - s->sum[here]);
	n_forward = 1 + (double)(s->jumps[here] - s->jumps[from]);
	n_backward = 1 + (double)(s->jumps[to] - s->jumps[here]);
	return (struct estimate){
		.n = (forward / n_forward + backward / n_backward) /
		     (1 / n_forward + 1 / n_backward),
		.variance = 1 / (1 / n_forward + 1 / n_backward),
		.others = others_at(s, from, here),
	};
}

/* 99 of 100 draws of a normal distribution lie within so many of its deviations. */
#define NEARLY_ALL 2.576

enum count_confidence count_confidence_of(double n, double deviation)
{
	const double error = NEARLY_ALL * deviation;

	return error <= 0.025 * n ? COUNT_HIGH : error <= 0.05 * n ? COUNT_MEDIUM : COUNT_LOW;
}

static struct block_count count_of(const struct end_sums *s, struct estimate e)
{
	const double n = e.n > 0 ? e.n : 0, odd = e.variance / ENDS_PER_ODD;
	const double others = e.others - (s->n_stacks > 0 ? n * n / s->n_stacks : 0);

	return (struct block_count){
		n, count_confidence_of(n, sqrt(n + (others > odd ? others : odd)))};
}

/* Control does not run on from block B into what follows it. */
static bool ends_chain(const struct flow *f, size_t b)
{
	const struct flow_block *k = &f->blocks.v[b];

	return (k->how != FLOW_FALLS && k->how != FLOW_BRANCHES) || b + 1 == f->blocks.n ||
	       f->blocks.v[b + 1].start != k->end;
}

/* The blocks [FIRST, LAST], which run on into each other, but for calls. */
static void count_chain(const struct flow *f, struct end_sums *s, size_t first, size_t last,
			struct block_count *counts)
{
	const uint64_t end = f->blocks.v[last].end;
	uint64_t start = f->blocks.v[first].start;
	size_t call = lower_bound(k, 0, f->calls.n, f->calls.v[k] <= start);
	struct estimate sum = {0};

	for (size_t b = first; b <= last;) {
		const struct flow_block *k = &f->blocks.v[b];
		const uint64_t stop =
			call < f->calls.n && f->calls.v[call] < end ? f->calls.v[call] : end;
		const uint64_t at = start > k->start ? start : k->start;

		if (at < k->end && at < stop) {
			struct estimate e = estimate_at(s, start, stop, at);

			sum.n += e.n / e.variance;
			sum.others += e.others / e.variance;
			sum.variance += 1 / e.variance;
		}
		if (stop < k->end) { /* behind a call, in the same block */
			start = stop;
			call++;
			continue;
		}
		counts[b] = sum.variance > 0
				    ? count_of(s, (struct estimate){sum.n / sum.variance,
								    1 / sum.variance,
								    sum.others / sum.variance})
				    : (struct block_count){0, COUNT_LOW};
		sum = (struct estimate){0};
		if (stop == k->end && b++ < last) { /* a call ends the block */
			start = stop;
			call++;
		} else if (stop > k->end) {
			b++;
		}
	}
}

void block_counts_of_branches(const struct flow *f, struct run_end *ends, size_t n,
			      uint64_t n_stacks, struct block_count *counts)
{
	struct end_sums s = {.ends = ends, .n = n, .n_stacks = (double)n_stacks};

	if (n > 1)
		qsort(ends, n, sizeof(*ends), compare_run_ends);
	s.sum = xcalloc(n + 1, sizeof(*s.sum));
	s.jumps = xcalloc(n + 1, sizeof(*s.jumps));
	for (size_t i = 0; i < n; i++) {
		s.sum[i + 1] = s.sum[i] + ends[i].n;
		s.jumps[i + 1] = s.jumps[i] + (uint64_t)llabs(ends[i].n);
	}
	for (size_t first = 0, b = 0; b < f->blocks.n; b++) {
		if (!ends_chain(f, b))
			continue;
		count_chain(f, &s, first, b, counts);
		first = b + 1;
	}
	free(s.sum);
	free(s.jumps);
}

bool block_goes_on(const struct flow *f, uint32_t b)
{
	const struct flow_block *k = &f->blocks.v[b];
	const uint32_t n = f->first[b + 1] - f->first[b];

	switch (k->how) {
	case FLOW_FALLS:
	case FLOW_JUMPS:
		return n == 1;
	case FLOW_BRANCHES:
		return n == 2;
	case FLOW_TABLE:
		return n > 0;
	default:
		return false;
	}
}
