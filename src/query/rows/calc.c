/* SPDX-License-Identifier: BSD-2-Clause */
/* See calc.h.  calc_causes.c finds what may have stalled an instruction. */
#include "query/rows/calc.h"

#include <elf.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/lower_bound.h"
#include "machine/cpu_id.h"
#include "query/rows/calc_impl.h"
#include "query/samples/branch_rows.h"
#include "resolve/edge_counts.h"

/* --- what is a cycle --- */

static bool begins_with(const char *name, const char *const *begins, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strncasecmp(name, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

static bool counts_cycles(const char *event)
{
	static const char *const begins[] = {"cycles", "cpu-cycles", "cpu_cycles",
					     "cpu_clk_unhalted", "ref-cycles"};

	return begins_with(event, begins, n_elems(begins));
}

static bool counts_time(const char *event)
{
	static const char *const begins[] = {"cpu-clock", "task-clock", "cpu_clock", "task_clock"};

	return begins_with(event, begins, n_elems(begins));
}

static bool counts_instructions(const char *event)
{
	static const char *const begins[] = {"instructions", "inst_retired"};

	return begins_with(event, begins, n_elems(begins));
}

static bool counts_branches(const char *event)
{
	static const char *const begins[] = {"branch", "br_inst_retired", "ex_ret_brn_tkn",
					     "br_retired"};

	return begins_with(event, begins, n_elems(begins));
}

/* perf's modifiers behind the name ask for precision; these pick an instruction and follow it. */
static bool is_precise(const char *event)
{
	static const char *const begins[] = {"pm", "ibs_op", "arm_spe"};
	const char *modifiers = strrchr(event, ':');

	return begins_with(event, begins, n_elems(begins)) ||
	       (modifiers && strpbrk(modifiers, "pP"));
}

/* Finds the column that measures time and what its amounts are to be multiplied with. */
static int find_cycles(struct calc_maker *m, double mhz, struct err *err)
{
	const struct columns *c = m->columns;

	for (unsigned i = 0; i < c->cols.n; i++) {
		const struct column *col = &c->cols.v[i];
		const bool time = col->kind == COLUMN_TIME || counts_time(col->name);

		if (col->hidden || (!time && !counts_cycles(col->name)))
			continue;
		m->column = i;
		m->ret->event = col->name;
		m->ret->is_precise = is_precise(col->name);
		m->ret->unit = !time || mhz > 0 ? "cycles" : "ns";
		/* Columns of times have seconds, others of clocks nanoseconds. */
		m->scale = !time ? 1
				 : (col->kind == COLUMN_TIME ? 1e9 : 1) * (mhz > 0 ? mhz / 1e3 : 1);
		return 0;
	}
	return err_set(err, -ENODATA, "no event of this recording measures time or cycles");
}

static double cycles_of(const struct calc_maker *m, const double *counts)
{
	return cols_amount(m->columns, m->column, counts) * m->scale;
}

/* --- how often --- */

/* The column of event E; the number of columns: none. */
static unsigned column_of(const struct calc_maker *m, event_id e)
{
	const struct query *q = m->l->code.q;

	return q->col_of[e] < m->columns->cols.n ? q->col_of[e] : m->columns->cols.n;
}

/* How many jumps one in a branch stack that a run is known of stands for, by what else is known of
 * the stacks' events. */
static double scale_of_branches(const struct calc_maker *m)
{
	const struct query *q = m->l->code.q;
	_vec_ branch_rows rows = {0};
	double n = 0, cycles = 0, n_cycles = 0; /* each of N begins a straight run */
	unsigned column = m->columns->cols.n;
	double total;

	branch_rows_gather(q, NULL, &rows);
	vec_each (b, &rows) {
		column = column_of(m, b->event);
		n += (double)(b->count - b->n_newest);
		cycles += (double)b->cycles;
		n_cycles += (double)b->n_cycles;
	}
	if (column >= m->columns->cols.n || n == 0)
		return NAN;
	total = m->columns->cols.v[cols_weight(m->columns, column)].total *
		m->columns->cols.v[cols_weight(m->columns, column)].unit;
	if (counts_branches(m->columns->cols.v[column].name))
		return total / n;
	if (cycles <= 0)
		return NAN;
	/* Cycles of the event over cycles between branches: how many branches there were. */
	if (counts_cycles(m->columns->cols.v[column].name))
		return total / (cycles / n_cycles) / n;
	if (column == m->column && strcmp(m->ret->unit, "cycles") == 0)
		return total * m->scale / (cycles / n_cycles) / n;
	return NAN;
}

/* How many jumps one in a branch stack stands for, by samples of retired instructions. */
static double scale_of_instructions(const struct calc_maker *m)
{
	const struct blocks *b = &m->ret->counts;
	double known = 0, sampled = 0;

	for (unsigned i = 0; i < m->columns->cols.n; i++) {
		if (!counts_instructions(m->columns->cols.v[i].name))
			continue;
		vec_each (row, &b->v) {
			known += row->count.n * row->n_insns;
			sampled += cols_amount(m->columns, i, row->samples);
		}
		break;
	}
	return known > 0 && sampled > 0 ? sampled / known : NAN;
}

static double find_scale(struct calc_maker *m)
{
	double scale;

	if (m->ret->counts.basis != BLOCKS_OF_BRANCHES)
		return 1;
	scale = scale_of_branches(m);
	if (isnan(scale))
		scale = scale_of_instructions(m);
	if (isnan(scale))
		err_set(&m->ret->why_no_executions, -ENODATA,
			"branch stacks tell how often blocks ran beside each other, and nothing "
			"here how "
			"often that is: no cycles between branches, no samples of instructions");
	return scale;
}

/* --- blocks and instructions --- */

static void add_insns(struct calc_maker *m, uint32_t block, struct calc_block *b)
{
	const struct listing *l = m->l;

	b->first = (uint32_t)m->ret->insns.n;
	for (size_t i = lower_bound(k, 0, l->insns.n, l->insns.v[k].svma < b->start);
	     i < l->insns.n && l->insns.v[i].svma < b->end; i++) {
		const struct listing_insn *in = &l->insns.v[i];

		vec_push(&m->ret->insns, (struct calc_insn){.insn = in,
							    .block = block,
							    .samples = in->counts[m->column],
							    .cycles = cycles_of(m, in->counts),
							    .cpi = NAN,
							    .best = NAN,
							    .culprit = INSN_NONE});
		b->cycles += cycles_of(m, in->counts);
	}
	b->n_insns = (uint32_t)m->ret->insns.n - b->first;
}

/* Charges samples to what they waited for. */
static void charge_back(struct calc_maker *m, const struct calc_block *b)
{
	struct calc_insn *v = m->ret->insns.v + b->first;

	if (m->ret->is_precise || b->n_insns < 2)
		return;
	v[0].cycles += v[1].cycles;
	for (uint32_t i = 1; i < b->n_insns; i++)
		v[i].cycles = i + 1 < b->n_insns ? v[i + 1].cycles : 0;
}

/* Counted blocks are those of the flow, one by one. */
static void add_edges(struct calc_maker *m, double scale)
{
	const struct flow *f = &m->flow;
	const uint32_t n = (uint32_t)f->blocks.n;
	_mem_ struct block_count *counts = xcalloc(n + 1, sizeof(*counts));
	_mem_ double *runs = NULL;

	if (!n || n != m->ret->counts.v.n)
		return;
	runs = xcalloc(f->first[n] + 1, sizeof(*runs));
	for (uint32_t b = 0; b < n; b++)
		counts[b] = m->ret->counts.v.v[b].count;
	edge_counts_of(f, counts, runs);
	for (uint32_t b = 0; b < n; b++)
		for (uint32_t e = f->first[b]; e < f->first[b + 1]; e++)
			vec_push(&m->ret->edges,
				 (struct calc_edge){b, f->succ[e], runs[e] * scale});
}

static void add_blocks(struct calc_maker *m)
{
	const double scale = find_scale(m);

	m->ret->has_executions = !isnan(scale);
	vec_each (row, &m->ret->counts.v) {
		struct calc_block b = {.start = row->start,
				       .end = row->end,
				       .n_loops = row->n_loops,
				       .executions = row->count.confidence == COUNT_UNKNOWN
							     ? NAN
							     : row->count.n * scale,
				       .confidence = row->count.confidence,
				       .best = NAN};

		add_insns(m, (uint32_t)m->ret->blocks.n, &b);
		charge_back(m, &b);
		vec_push(&m->ret->blocks, b);
	}
	for (size_t i = 0; i < m->flow.blocks.n && i < m->ret->blocks.n; i++)
		for (uint32_t s = m->flow.first[i]; s < m->flow.first[i + 1]; s++)
			m->ret->blocks.v[i].repeats |= m->flow.succ[s] == i;
	add_edges(m, scale);
}

/* --- the model --- */

static bool is_call(const struct calc_maker *m, const struct calc_insn *in)
{
	const uint64_t end = in->insn->svma + in->insn->n_bytes;
	const size_t i = lower_bound(k, 0, m->flow.calls.n, m->flow.calls.v[k] < end);

	return i < m->flow.calls.n && m->flow.calls.v[i] == end;
}

/* Puts the blocks that have instructions into CODE, and their numbers into NUMBERS; of a procedure
 * too large for a model those with samples. */
static void list_code(struct calc_maker *m, struct best_case_code *code, block_numbers *numbers)
{
	for (size_t i = 0; i < m->ret->blocks.n; i++) {
		const struct calc_block *b = &m->ret->blocks.v[i];

		if (!b->n_insns || (m->ret->insns.n > BEST_CASE_MOST && b->cycles <= 0))
			continue;
		for (uint32_t k = b->first; k < b->first + b->n_insns; k++) {
			const struct calc_insn *in = &m->ret->insns.v[k];

			vec_push(&code->insns,
				 (struct best_case_insn){calc_bytes(m, in), in->insn->n_bytes,
							 is_call(m, in)});
		}
		vec_push(&code->ends, code->insns.n);
		vec_push(numbers, (uint32_t)i);
	}
}

/* Sets what block B's instructions cost at best.  One that jumps to itself waits for its own
 * results; others overlap with what runs before and behind, and cost their share of what can
 * begin. */
static void set_best(struct calc *c, struct calc_block *b, const struct mca_block *model)
{
	const struct mca_insn *v = c->model.insns.v + model->first;
	double sum = 0;

	if (model->n_insns != b->n_insns)
		return;
	b->model = model;
	for (uint32_t i = 0; i < b->n_insns; i++)
		sum += b->repeats ? v[i].own : v[i].n_uops;
	for (uint32_t i = 0; i < b->n_insns; i++) {
		const double part = b->repeats ? v[i].own : v[i].n_uops;

		c->insns.v[b->first + i].best = b->repeats ? part
						: sum > 0  ? model->apart * part / sum
							   : model->apart / b->n_insns;
	}
	b->best = (b->repeats ? sum : model->apart) * b->executions;
}

/* Sets O's CPU to the one that was recorded, when that is another than this machine's. */
static int choose_cpu(const char *recorded, struct best_case_opts *o, struct err *err)
{
	if (o->cpu || !*recorded || strcmp(recorded, cpu_id_own()) == 0)
		return 0;
	o->cpu = cpu_id_llvm(recorded);
	return o->cpu ? 0
		      : err_set(err, -ENOTSUP,
				"the CPU that was recorded, %s, has no name of LLVM's here; --mcpu "
				"names one",
				recorded);
}

static void find_model(struct calc_maker *m, const struct best_case_opts *o)
{
	const struct profile *p = m->l->code.q->profile;
	struct best_case_code code = {.machine = m->machine};
	struct best_case_opts opts = *o;
	_vec_ block_numbers numbers = {0};

	list_code(m, &code, &numbers);
	if (choose_cpu(profile_str(p, p->meta.cpu), &opts, &m->ret->why_no_model) >= 0 &&
	    best_case_find(&code, &opts, &m->ret->model, &m->ret->why_no_model) >= 0) {
		m->ret->has_model = true;
		for (size_t i = 0; i < numbers.n; i++)
			set_best(m->ret, &m->ret->blocks.v[numbers.v[i]],
				 &m->ret->model.blocks.v[i]);
	}
	best_case_code_release(&code);
}

/* --- the tally --- */

/* What the CPU needs at least to begin a block's instructions, and what keeps them longer. */
static void tally_best(const struct calc *c, const struct calc_block *b, struct calc_tally *t)
{
	const struct mca_insn *v = c->model.insns.v + b->model->first;
	double n_uops = 0, begin;

	for (uint32_t i = 0; i < b->n_insns; i++)
		n_uops += v[i].n_uops;
	begin = fmin(b->best, n_uops / c->model.width * b->executions);
	t->execution += begin;
	/* Chains hold up only what repeats: see set_best. */
	t->statics[!b->repeats && b->model->bound == MCA_CHAIN ? MCA_PORTS : b->model->bound] +=
		b->best - begin;
	t->instructions += b->n_insns * b->executions;
}

static void tally_stall(const struct calc_insn *in, struct calc_tally *t)
{
	if (!in->causes)
		t->unexplained += in->stall;
	for (unsigned c = 0; c < CALC_N_CAUSES; c++)
		if (in->causes >> c & 1) {
			t->high[c] += in->stall;
			t->low[c] += in->causes == 1u << c ? in->stall : 0;
		}
	t->dynamic += in->stall;
}

/* Shares out what block B took beyond its best. */
static void share_stall(struct calc *c, const struct calc_block *b, struct calc_tally *t)
{
	struct calc_insn *v = c->insns.v + b->first;
	const double beyond = b->cycles - b->best;
	double above = 0;

	t->gain += fmax(-beyond, 0);
	t->overrated += beyond < 0 ? b->cycles : 0;
	for (uint32_t i = 0; i < b->n_insns; i++)
		above += fmax(v[i].cycles - v[i].best * b->executions, 0);
	for (uint32_t i = 0; i < b->n_insns && beyond > 0; i++)
		v[i].stall = beyond * fmax(v[i].cycles - v[i].best * b->executions, 0) / above;
}

static void tally_block(struct calc *c, const struct calc_block *b, bool is_sure)
{
	struct calc_tally *t = &c->tally;

	for (uint32_t i = b->first; i < b->first + b->n_insns; i++) {
		struct calc_insn *in = &c->insns.v[i];

		t->all_samples += in->samples;
		if (b->executions > 0)
			in->cpi = in->cycles / b->executions;
		in->is_tallied = is_sure;
		t->samples += is_sure ? in->samples : 0;
	}
	t->all_cycles += b->cycles;
	if (!is_sure)
		return;
	t->cycles += b->cycles;
	tally_best(c, b, t);
	share_stall(c, b, t);
}

static void tally(struct calc *c, enum count_confidence conf)
{
	const bool in_cycles = strcmp(c->unit, "cycles") == 0;

	vec_each (b, &c->blocks)
		tally_block(c, b,
			    in_cycles && b->model && b->confidence >= conf && b->executions > 0);
}

void calc_tally_add(struct calc_tally *to, const struct calc_tally *from)
{
	double *sums = (double *)to;
	const double *parts = (const double *)from;

	_Static_assert(sizeof(*to) % sizeof(double) == 0, "a tally is numbers alone");
	for (size_t i = 0; i < sizeof(*to) / sizeof(double); i++)
		sums[i] += parts[i];
}

/* --- all --- */

static int calc_make(struct calc_maker *m, const struct calc_opts *o, struct err *err)
{
	int rc = find_cycles(m, o->mhz, err);

	if (rc >= 0)
		rc = blocks_gather(m->l, m->columns, o->exact, &m->ret->counts, err);
	if (rc < 0)
		return rc;
	m->ret->basis_text = m->ret->counts.basis_text;
	add_blocks(m);
	m->code = code_load(&m->l->code, m->l->start, m->l->end);
	if (!m->code)
		return err_set(err, -ENOTSUP, "%s: its instructions cannot be read",
			       m->l->procedure);
	find_model(m, &o->model);
	tally(m->ret, o->conf);
	if (m->ret->has_model && m->ret->has_executions)
		calc_find_causes(m);
	vec_each (in, &m->ret->insns)
		if (in->is_tallied)
			tally_stall(in, &m->ret->tally);
	return 0;
}

int calc_gather(const struct listing *l, const struct columns *columns, const struct calc_opts *o,
		struct calc *ret, struct err *err)
{
	struct calc_maker m = {.l = l, .columns = columns, .ret = ret};
	const struct image *im;
	uint64_t start;
	int rc;

	*ret = (struct calc){0};
	if (!l->has_code || l->is_script)
		return err_set(err, -ENOTSUP, "%s",
			       l->why_no_code.msg[0] ? l->why_no_code.msg : "no instructions");
	m.image = l->code.image;
	m.machine = l->code.file.elf.machine;
	im = &l->code.q->profile->images.v[m.image];
	rc = resolver_flow(l->code.q->resolver, im, l->start, &m.flow, &start);
	if (rc < 0)
		return err_set(err, -ENOTSUP, "%s: its code cannot be followed", l->procedure);
	rc = calc_make(&m, o, err);
	flow_release(&m.flow);
	free(m.code);
	return rc;
}

void calc_release(struct calc *c)
{
	vec_release(&c->insns);
	vec_release(&c->blocks);
	vec_release(&c->edges);
	blocks_release(&c->counts);
	mca_release(&c->model);
}
