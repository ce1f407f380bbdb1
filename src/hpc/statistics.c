/* SPDX-License-Identifier: BSD-2-Clause */
/* See statistics.h.
 *
 * What a statistic is over: the threads that have the metric in the context in some scope; where
 * such a thread has nothing in a scope, its value there is 0 (HPCToolkit's accumulators.cpp,
 * PerThreadTemporary::finalize: formulas are evaluated for all scopes of a metric that is there).
 * So the count of all scopes is that of execution, and the minimum is 0, which is not stored,
 * unless all of them have one. */
#include "hpc/statistics.h"

#include <pthread.h>
#include <stdlib.h>

#define STRIPE 256u /* contexts */

struct totals {
	unsigned __int128 squares;
	uint64_t sum, min, max;
	uint32_t n;  /* threads with a value */
	bool differ; /* of execution: the other scopes are not the same */
};

enum { N_OTHERS = IN_EXECUTION };

/* A metric in the contexts of a stripe.  Most contexts are instructions that call nothing, whose
 * values are the same in all scopes: for them only those of execution are kept, and looked at. */
struct block {
	struct totals execution[STRIPE];
	struct totals (*others)[N_OTHERS]; /* by context; NULL: nothing differs */
};

struct stripe {
	pthread_mutex_t lock;
	struct block **blocks; /* by metric; NULL where nothing was added */
};

struct statistics {
	struct stripe *stripes;
	uint32_t n_stripes;
	unsigned n_metrics;
};

struct statistics *statistics_new(uint32_t n_ctxs, unsigned n_metrics)
{
	struct statistics *s = xcalloc(1, sizeof(*s));

	s->n_metrics = n_metrics;
	s->n_stripes = (n_ctxs + STRIPE - 1) / STRIPE;
	s->stripes = xcalloc((size_t)s->n_stripes + 1, sizeof(*s->stripes));
	for (uint32_t i = 0; i < s->n_stripes; i++)
		pthread_mutex_init(&s->stripes[i].lock, NULL);
	return s;
}

void statistics_free(struct statistics *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->n_stripes; i++) {
		for (unsigned m = 0; s->stripes[i].blocks && m < s->n_metrics; m++) {
			if (s->stripes[i].blocks[m])
				free(s->stripes[i].blocks[m]->others);
			free(s->stripes[i].blocks[m]);
		}
		free(s->stripes[i].blocks);
		pthread_mutex_destroy(&s->stripes[i].lock);
	}
	free(s->stripes);
	free(s);
}

static void add(struct totals *t, uint64_t n)
{
	if (!n)
		return;
	t->squares += (unsigned __int128)n * n;
	t->sum += n;
	if (!t->n++ || n < t->min)
		t->min = n;
	if (n > t->max)
		t->max = n;
}

static void add_others(struct block *b, uint32_t at, const struct cell *cell)
{
	struct totals *execution = &b->execution[at], *t;

	if (!b->others)
		b->others = xcalloc(STRIPE, sizeof(*b->others));
	t = b->others[at];
	if (!execution->differ)
		t[IN_POINT] = t[IN_FUNCTION] = t[IN_LEX_AWARE] = *execution;
	execution->differ = true;
	for (unsigned i = 0; i < N_OTHERS; i++)
		add(&t[i], cell->in[i]);
}

/* Adds metric M of context CTXID. */
static void add_cell(struct statistics *s, uint32_t ctxId, unsigned m, const struct cell *cell)
{
	struct stripe *stripe = &s->stripes[ctxId / STRIPE];
	uint32_t at = ctxId % STRIPE;
	struct block *b;

	if (!stripe->blocks)
		stripe->blocks = xcalloc(s->n_metrics, sizeof(*stripe->blocks));
	if (!stripe->blocks[m])
		stripe->blocks[m] = xcalloc(1, sizeof(*stripe->blocks[m]));
	b = stripe->blocks[m];
	/* No scope has more than execution, and none less than point. */
	if (b->execution[at].differ || cell->in[IN_POINT] != cell->in[IN_EXECUTION])
		add_others(b, at, cell);
	add(&b->execution[at], cell->in[IN_EXECUTION]);
}

void statistics_add(struct statistics *s, const struct propagate *w)
{
	uint32_t held = UINT32_MAX;

	for (size_t i = 0; i < w->touched.n; i++) {
		uint32_t ctxId = w->touched.v[i];

		if (ctxId / STRIPE != held) {
			if (held != UINT32_MAX)
				pthread_mutex_unlock(&s->stripes[held].lock);
			held = ctxId / STRIPE;
			pthread_mutex_lock(&s->stripes[held].lock);
		}
		for (unsigned m = 0; m < s->n_metrics; m++) {
			const struct cell *cell = propagate_cell(w, i, m);

			if (cell->in[IN_EXECUTION])
				add_cell(s, ctxId, m, cell);
		}
	}
	if (held != UINT32_MAX)
		pthread_mutex_unlock(&s->stripes[held].lock);
}

static double statistic(const struct build_metric *metric, const struct totals *t,
			enum metric_statistic k, uint64_t n_threads)
{
	switch (k) {
	case STAT_SUM:
		return build_metric_value(metric, t->sum);
	case STAT_COUNT:
		return (double)n_threads;
	case STAT_SQUARES:
		return build_metric_square(metric, t->squares);
	case STAT_MIN:
		return t->n < n_threads ? 0 : build_metric_value(metric, t->min);
	default:
		return build_metric_value(metric, t->max);
	}
}

static void write_ctx(const struct statistics *s, const struct build_metrics *ms, uint32_t ctxId,
		      struct hpc_profile_block *block)
{
	const struct stripe *stripe = &s->stripes[ctxId / STRIPE];

	for (unsigned m = 0; m < s->n_metrics; m++) {
		const struct block *b = stripe->blocks[m];
		const struct totals *all = b ? &b->execution[ctxId % STRIPE] : NULL;

		if (!all || !all->n)
			continue;
		for (unsigned k = 0; k < N_STATISTICS; k++)
			for (unsigned i = 0; i < N_METRIC_SCOPES; i++) {
				const struct totals *t = i == IN_EXECUTION || !all->differ
								 ? all
								 : &b->others[ctxId % STRIPE][i];

				hpc_profile_block_add(block, ctxId, stat_metric_id(m, k, i),
						      statistic(&ms->v.v[m], t, k, all->n));
			}
	}
}

void statistics_write(const struct statistics *s, const struct build_metrics *ms,
		      struct hpc_profile_block *block)
{
	for (uint32_t i = 0; i < s->n_stripes; i++)
		for (uint32_t c = 0; s->stripes[i].blocks && c < STRIPE; c++)
			write_ctx(s, ms, i * STRIPE + c, block);
}
