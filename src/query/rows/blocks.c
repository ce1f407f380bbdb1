/* SPDX-License-Identifier: BSD-2-Clause */
/* See blocks.h.
 *
 * Samples of retired instructions: of an event that samples each instruction alike, so a block that
 * ran n times with a period p has n * n_insns / p samples.  Samples of time say nothing of how
 * often code ran, and are not used.
 *
 * gcov's counts are of source lines, maybe of another build of them.  A line of the procedure's
 * own, none of what is inlined there, that has instructions in one block alone says how often that
 * block ran; the flow of control says it of others:
 *
 *     block   lines    gcov           count
 *     A       4        4: 10          10
 *     B       5, 6     6: 990         990: line 5 is in two blocks and says nothing
 *     C       5        -              10: B goes on to itself or to C, and A to B */
#include "query/rows/blocks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/lower_bound.h"
#include "model/fact.h"
#include "query/samples/branch_rows.h"
#include "resolve/flow_fit.h"

struct blocks_maker {
	struct query *q;
	const struct listing *l;
	const struct image *im;
	image_id image;
	struct flow flow;
	struct block_count *counts;
	struct blocks *ret;
};

/* The last block that begins at SVMA or before it and covers it; SIZE_MAX: none. */
static size_t block_at(const struct flow *f, uint64_t svma)
{
	const size_t i = lower_bound(k, 0, f->blocks.n, f->blocks.v[k].start <= svma);

	return i && svma < f->blocks.v[i - 1].end ? i - 1 : SIZE_MAX;
}

/* --- exact counts --- */

static bool count_exactly(struct blocks_maker *m, const struct exact_counts *exact)
{
	const struct exact_range r = exact_counts_of(exact, m->im->path);

	for (size_t b = 0; b < m->flow.blocks.n; b++) {
		const struct flow_block *k = &m->flow.blocks.v[b];
		const size_t n = (size_t)(r.end - r.first);

		m->counts[b].confidence = COUNT_EXACT;
		for (size_t i = lower_bound(k2, 0, n, r.first[k2].svma < k->start);
		     i < n && r.first[i].svma < k->end; i++) {
			m->ret->n_basis += r.first[i].n;
			if (r.first[i].svma == k->start)
				m->counts[b].n = (double)r.first[i].n;
		}
	}
	return m->ret->n_basis > 0;
}

/* --- counts of lines --- */

#define NO_BLOCK    UINT32_MAX
#define MANY_BLOCKS (UINT32_MAX - 1)

/* The line of L's instruction IN, when it is the procedure's own; LINE_NONE: it is not. */
static uint32_t own_line(const struct listing_insn *in)
{
	return in->inlined ? LINE_NONE : in->line;
}

/* Finds for each line of the listing the block that alone has instructions of it. */
static uint32_t *find_blocks_of_lines(const struct blocks_maker *m)
{
	const struct listing *l = m->l;
	uint32_t *ret = xmalloc((l->lines.n + 1) * sizeof(*ret));

	for (size_t i = 0; i < l->lines.n; i++)
		ret[i] = NO_BLOCK;
	vec_each (in, &l->insns) {
		const size_t b = block_at(&m->flow, in->svma);
		uint32_t *of = own_line(in) == LINE_NONE ? NULL : &ret[own_line(in)];

		if (of && b != SIZE_MAX)
			*of = *of == NO_BLOCK || *of == b ? (uint32_t)b : MANY_BLOCKS;
	}
	return ret;
}

/* How often LINE ran in the procedure; false: it is not told.  A line of a template counts for each
 * function that was made of it. */
static bool count_of_line(const struct blocks_maker *m, const struct exact_counts *exact,
			  const struct listing_line *line, double *ret)
{
	const struct line_range r = exact_counts_of_line(exact, line->file, line->line);

	for (const struct gcov_line *k = r.first; k < r.end; k++)
		if (r.end - r.first == 1 || strcmp(k->function, m->l->procedure) == 0) {
			*ret = (double)k->n;
			return true;
		}
	return false;
}

/* Joins what one more line, which ran N times, says of a block.  Lines that differ make it unsure:
 * the compiler moved one of them. */
static void measure_line(struct flow_measure *to, double n)
{
	if (to->is_known) {
		to->more += (n - to->n) * (n - to->n);
		return;
	}
	/* As sure as it can be said: a deviation of a thousandth. */
	*to = (struct flow_measure){.n = n, .c = n * 1e-6, .more = 0.01, .is_known = true};
}

/* The block at the procedure's beginning runs at each call. */
static void measure_entry(struct blocks_maker *m, const struct exact_counts *exact,
			  struct flow_measure *measures)
{
	const size_t b = block_at(&m->flow, m->l->start);
	struct line_range r = {0};

	if (b != SIZE_MAX && !measures[b].is_known && m->l->file)
		r = exact_counts_of_line(exact, m->l->file, 0);
	for (const struct gcov_line *k = r.first; k < r.end; k++)
		if (strcmp(k->function, m->l->procedure) == 0) {
			measure_line(&measures[b], (double)k->n);
			return;
		}
}

/* Counts blocks by the flow from those that were measured.  What only the flow tells may be a
 * guess, where it leaves a choice, and is never sure. */
static void fit_lines(struct blocks_maker *m, const struct flow_measure *measures)
{
	flow_fit(&m->flow, measures, m->counts);
	for (size_t b = 0; b < m->flow.blocks.n; b++)
		if (!measures[b].is_known && m->counts[b].confidence > COUNT_LOW)
			m->counts[b].confidence = COUNT_LOW;
}

static bool count_lines(struct blocks_maker *m, const struct exact_counts *exact)
{
	_mem_ struct flow_measure *measures = xcalloc(m->flow.blocks.n + 1, sizeof(*measures));
	_mem_ uint32_t *block_of = find_blocks_of_lines(m);

	for (size_t i = 0; i < m->l->lines.n; i++) {
		const struct listing_line *line = &m->l->lines.v[i];
		double n;

		if (block_of[i] >= MANY_BLOCKS || !line->file || !count_of_line(m, exact, line, &n))
			continue;
		measure_line(&measures[block_of[i]], n);
		m->ret->n_basis++;
	}
	measure_entry(m, exact, measures);
	if (m->ret->n_basis)
		fit_lines(m, measures);
	return m->ret->n_basis > 0;
}

/* --- branches --- */

static void add_end(const struct blocks_maker *m, place_id place, int64_t n, uint64_t n_again,
		    run_ends *ends)
{
	const struct place *pl = &m->q->profile->places.v[place];

	if (n && pl->image == m->image && block_at(&m->flow, pl->svma) != SIZE_MAX)
		vec_push(ends, (struct run_end){pl->svma + (n < 0), n, n_again});
}

static bool count_branches(struct blocks_maker *m)
{
	_vec_ branch_rows rows = {0};
	_vec_ run_ends ends = {0};
	image_ids images = {0};

	vec_push(&images, m->image);
	branch_rows_gather(m->q, &images, &rows);
	vec_release(&images);
	vec_each (b, &rows) {
		const size_t n = ends.n;

		add_end(m, b->to, (int64_t)(b->count - b->n_newest), b->n_again, &ends);
		add_end(m, b->from, -(int64_t)(b->count - b->n_oldest), 0, &ends);
		m->ret->n_basis += ends.n > n ? b->count : 0;
	}
	if (ends.n)
		block_counts_of_branches(&m->flow, ends.v, ends.n, branch_stacks(m->q), m->counts);
	return ends.n > 0;
}

/* --- retired instructions --- */

/* Samples of E pick one instruction as likely as another, by ProfileMe, by Arm's SPE or by counting
 * retired instructions precisely. */
static bool samples_instructions(const struct profile *p, event_id e)
{
	static const char *const begins[] = {"pm", "arm_spe", "inst_retired", "instructions"};
	const char *name = profile_str(p, p->events.v[e].name);

	for (size_t i = 0; i < n_elems(begins); i++)
		if (strncasecmp(name, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

static bool is_retired(const struct query *q, const struct value *v)
{
	const struct profile *p = q->profile;
	const struct vector *k = &p->vectors.v[v->vector];

	return value_is_samples(p, v) && k->known & k->value & FACT_MASK(FACT_RETIRED) &&
	       (!q->wanted || q->wanted[v->owner]) && q->col_of[v->event] < q->n_cols &&
	       samples_instructions(p, v->event);
}

/* Fits counts to samples in blocks.  A sample stands for the mean weight over the instructions of
 * its block, also where there was none. */
static void fit_retired(struct blocks_maker *m, const double *weights, const double *samples)
{
	const size_t n = m->flow.blocks.n;
	_mem_ struct flow_measure *measures = xcalloc(n + 1, sizeof(*measures));
	double weight = 0, sum = 0;

	for (size_t b = 0; b < n; b++) {
		weight += weights[b];
		sum += samples[b];
	}
	for (size_t b = 0; b < n; b++) {
		const double insns = m->flow.blocks.v[b].n_insns;

		measures[b] = (struct flow_measure){.n = insns > 0 ? weights[b] / insns : 0,
						    .c = insns > 0 ? weight / sum / insns : 1,
						    .is_known = insns > 0};
	}
	flow_fit(&m->flow, measures, m->counts);
}

static bool count_retired(struct blocks_maker *m)
{
	const struct profile *p = m->q->profile;
	_mem_ double *weights = xcalloc(m->flow.blocks.n, sizeof(*weights));
	_mem_ double *samples = xcalloc(m->flow.blocks.n, sizeof(*samples));

	vec_each (v, &p->values) {
		const struct place *pl = &p->places.v[p->ctxs.v[v->ctx].place];
		size_t b;

		if (pl->image != m->image || !is_retired(m->q, v))
			continue;
		b = block_at(&m->flow, pl->svma);
		if (b == SIZE_MAX)
			continue;
		weights[b] += (double)value_weight(p, v) / event_duty(&p->events.v[v->event]);
		samples[b] += (double)v->count;
		m->ret->n_basis += v->count;
	}
	if (!m->ret->n_basis)
		return false;
	fit_retired(m, weights, samples);
	return true;
}

/* --- all --- */

static uint32_t loops_around(const struct blocks_maker *m, uint64_t svma)
{
	struct code_scope scopes[RESOLVER_MAX_FRAMES];
	const size_t n =
		resolver_scopes(m->q->resolver, m->im, svma, false, scopes, RESOLVER_MAX_FRAMES);
	uint32_t loops = 0;

	for (size_t i = 0; i < n && i < RESOLVER_MAX_FRAMES; i++)
		loops += scopes[i].kind == CODE_LOOP;
	return loops;
}

static void add_rows(struct blocks_maker *m, const struct columns *columns)
{
	for (size_t b = 0; b < m->flow.blocks.n; b++) {
		const struct flow_block *k = &m->flow.blocks.v[b];
		const struct spot_range r = listing_spots(m->q, m->image, k->start, k->end);
		double *samples =
			arena_calloc(&m->ret->arena, columns->cols.n + 1, sizeof(*samples));

		for (const struct spot *s = r.first; s < r.end; s++)
			if (block_at(&m->flow, s->svma) == b)
				listing_add_spot(m->q, samples, s);
		cols_evaluate(columns, samples);
		m->ret->n_unknown += m->counts[b].confidence == COUNT_UNKNOWN;
		vec_push(&m->ret->v, (struct block_row){.start = k->start,
							.end = k->end,
							.n_insns = k->n_insns,
							.n_loops = loops_around(m, k->start),
							.count = m->counts[b],
							.samples = samples});
	}
	m->ret->n_unknown_jumps = m->flow.n_unknown;
}

static int count_blocks(struct blocks_maker *m, const struct exact_counts *exact, struct err *err)
{
	if (exact && exact->of_lines) {
		m->ret->basis = BLOCKS_OF_LINES;
		m->ret->basis_text = "gcov's counts of lines";
		return count_lines(m, exact)
			       ? 0
			       : err_set(err, -ENODATA,
					 "no line that is counted lies in one block of the "
					 "procedure alone; is the file of its source, and has %s "
					 "line numbers?",
					 str_basename(m->im->path));
	}
	if (exact) {
		m->ret->basis = BLOCKS_EXACT;
		m->ret->basis_text = "exact counts";
		return count_exactly(m, exact)
			       ? 0
			       : err_set(err, -ENODATA,
					 "no instruction of the procedure is counted; "
					 "is it of %s, and did it run?",
					 str_basename(m->im->path));
	}
	if (count_branches(m)) {
		m->ret->basis = BLOCKS_OF_BRANCHES;
		m->ret->basis_text = "branch stacks";
		return 0;
	}
	if (count_retired(m)) {
		m->ret->basis = BLOCKS_OF_RETIRED;
		m->ret->basis_text = "samples of retired instructions";
		return 0;
	}
	return err_set(err, -ENODATA,
		       "no retired samples, no branches: block counts cannot be known; "
		       "`dwell calc --counts FILE` takes callgrind's or gcov's");
}

int blocks_gather(const struct listing *l, const struct columns *columns,
		  const struct exact_counts *exact, struct blocks *ret, struct err *err)
{
	struct blocks_maker m = {.q = l->code.q, .l = l, .image = l->code.image, .ret = ret};
	uint64_t start;
	int rc;

	*ret = (struct blocks){0};
	if (!l->has_code || l->is_script)
		return err_set(err, -ENOTSUP, "%s",
			       l->why_no_code.msg[0] ? l->why_no_code.msg : "no instructions");
	m.im = &m.q->profile->images.v[m.image];
	rc = resolver_flow(m.q->resolver, m.im, l->start, &m.flow, &start);
	if (rc < 0)
		return err_set(err, -ENOTSUP, "%s: %s", l->procedure,
			       rc == -E2BIG ? "too large to be followed"
					    : "its code cannot be followed");
	m.counts = xcalloc(m.flow.blocks.n, sizeof(*m.counts));
	rc = count_blocks(&m, exact, err);
	if (rc >= 0)
		add_rows(&m, columns);
	free(m.counts);
	flow_release(&m.flow);
	return rc;
}

void blocks_release(struct blocks *b)
{
	vec_release(&b->v);
	arena_release(&b->arena);
	*b = (struct blocks){0};
}
