/* SPDX-License-Identifier: BSD-2-Clause */
/* See calc.h. */
#include "view/calc.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "query/rows/calc_kinds.h"
#include "view/about.h"
#include "view/amounts.h"
#include "view/list.h"

/* --- where the cycles went --- */

static const struct emit_col tally_cols[] = {
	{"kind", NULL, EMIT_STR, .in = EMIT_IN_JSON | EMIT_IN_CSV},
	{"cause", NULL, EMIT_STR},
	{"low", "at least", EMIT_PERCENT},
	{"high", "at most", EMIT_PERCENT},
	{"low_cycles", NULL, EMIT_FIXED, .in = EMIT_IN_JSON | EMIT_IN_CSV},
	{"high_cycles", NULL, EMIT_FIXED, .in = EMIT_IN_JSON | EMIT_IN_CSV},
};

/* A cause, or what the code has to wait for: named when there is any. */
static bool is_detail(unsigned kind)
{
	return kind < CALC_N_CAUSES || strcmp(calc_kind_group(kind), "static") == 0;
}

void calc_emit_tally(struct emit *e, const char *key, const struct calc_tally *t, const char *unit)
{
	emit_table(e, key, tally_cols, n_elems(tally_cols));
	for (unsigned k = 0; k < CALC_N_KINDS; k++) {
		const struct calc_range r = calc_range_of(t, k);

		if (r.high > 0 || !is_detail(k))
			emit_row(e, (const struct emit_cell[]){
					    {.s = calc_kind_group(k)},
					    {.s = calc_kind_name(k)},
					    percent_cell(r.low, t->cycles),
					    percent_cell(r.high, t->cycles),
					    {.d = r.low},
					    {.d = r.high},
				    });
	}
	emit_table_end(e);
	if (t->overrated > 0.1 * t->cycles)
		emit_text(e,
			  "the model says that blocks with %.1f%% of the cycles are slower than "
			  "they were: is it of "
			  "the CPU that was recorded (--mcpu, --mhz)?\n",
			  100 * t->overrated / t->cycles);
	if (t->all_cycles > 0)
		emit_text(e, "tallied: %.0f %s, %.1f%% of all samples; sampling error %.1f%%\n",
			  t->cycles, unit, 100 * t->cycles / t->all_cycles,
			  t->samples > 0 ? 100 / sqrt(t->samples) : 100);
}

/* --- letters --- */

const char *calc_letters(const struct calc_insn *in, struct arena *arena)
{
	char text[CALC_N_CAUSES + 2];
	size_t n = 0;

	if (!in->is_tallied || in->stall <= 0)
		return "";
	for (unsigned turn = 0; turn < 2; turn++) {
		const uint32_t causes = turn ? in->causes & ~in->measured : in->measured;

		for (unsigned c = 0; c < CALC_N_CAUSES; c++)
			if (causes >> c & 1)
				text[n++] = calc_causes[c].letter;
		if (turn == 0 && in->measured && in->causes != in->measured)
			text[n++] = '/';
	}
	if (!n)
		text[n++] = CALC_UNEXPLAINED;
	text[n] = '\0';
	return arena_strdup(arena, text);
}

/* --- blocks and instructions --- */

static const char *bound_text(const struct calc_block *b, struct arena *arena)
{
	if (!b->model)
		return NULL;
	if (b->repeats && b->model->bound == MCA_CHAIN)
		return "chain";
	if (b->model->bound == MCA_FRONT)
		return "front end";
	return arena_strdup(arena, b->model->port[0] ? b->model->port : "units");
}

static struct emit_cell number_cell(double n, double unless)
{
	return (struct emit_cell){.d = round(n * 100) / 100, .none = isnan(n) || isnan(unless)};
}

static const struct emit_col block_cols[] = {
	{"percent", "%", EMIT_PERCENT, .hot = true},
	{"cycles", NULL, EMIT_FIXED},
	{"executions", NULL, EMIT_FIXED},
	{"confidence", NULL, EMIT_STR, .spare = 1},
	{"cpi", NULL, EMIT_FIXED, .decimals = 2},
	{"best_cpi", "best", EMIT_FIXED, .decimals = 2},
	{"bound", NULL, EMIT_STR, .spare = 2},
	{"loops", NULL, EMIT_U64, .spare = 2},
	{"instructions", "insns", EMIT_U64, .spare = 1},
	{"start", NULL, EMIT_HEX},
	{"end", NULL, EMIT_HEX, .spare = 1},
	{"next", NULL, EMIT_STR, .in = EMIT_IN_TABLE, .spare = 2},
};

/* Where block B leads, and how often: "0x401013 400, 0x401016 600".  *EDGE is the first edge of B,
 * then of the block behind it. */
static const char *next_text(const struct calc *c, const struct calc_block *b, size_t *edge,
			     struct arena *arena)
{
	const uint32_t from = (uint32_t)(b - c->blocks.v);
	_str_ struct str text = {0};

	for (; *edge < c->edges.n && c->edges.v[*edge].from == from; ++*edge) {
		const struct calc_edge *e = &c->edges.v[*edge];

		str_addf(&text, "%s0x%" PRIx64, text.n ? ", " : "", c->blocks.v[e->to].start);
		if (!isnan(e->executions))
			str_addf(&text, " %.0f", e->executions);
	}
	return arena_strdup(arena, str_get(&text));
}

static const struct emit_col edge_cols[] = {
	{"from", NULL, EMIT_HEX},
	{"to", NULL, EMIT_HEX},
	{"executions", NULL, EMIT_FIXED},
};

/* The ways between blocks that are shown, for programs. */
static void emit_edges(struct emit *e, const struct calc *c, const struct calc_view *v)
{
	const double least = v->cutoff_pct / 100 * c->tally.all_cycles;

	if (e->format != EMIT_JSON)
		return;
	emit_table(e, "edges", edge_cols, n_elems(edge_cols));
	vec_each (edge, &c->edges) {
		const struct calc_block *from = &c->blocks.v[edge->from];
		const struct calc_block *to = &c->blocks.v[edge->to];
		const struct emit_cell cells[] = {
			{.u = from->start},
			{.u = to->start},
			number_cell(round(edge->executions), edge->executions),
		};

		if (from->cycles >= least && to->cycles >= least)
			emit_row(e, cells);
	}
	emit_table_end(e);
}

static void emit_blocks(struct emit *e, const struct calc *c, const struct calc_view *v,
			struct arena *arena)
{
	size_t edge = 0;

	emit_table(e, "blocks", block_cols, n_elems(block_cols));
	vec_each (b, &c->blocks) {
		const char *next = next_text(c, b, &edge, arena);
		const double n = b->executions * b->n_insns;
		const struct emit_cell cells[] = {
			percent_cell(b->cycles, c->tally.all_cycles),
			{.d = round(b->cycles)},
			number_cell(round(b->executions), b->executions),
			{.s = count_confidence_name(b->confidence)},
			number_cell(n > 0 ? b->cycles / n : NAN, b->executions),
			number_cell(n > 0 ? b->best / n : NAN, b->executions),
			{.s = bound_text(b, arena), .none = !b->model},
			{.u = b->n_loops},
			{.u = b->n_insns},
			{.u = b->start},
			{.u = b->end},
			{.s = next},
		};

		if (b->cycles >= v->cutoff_pct / 100 * c->tally.all_cycles)
			emit_row(e, cells);
	}
	emit_table_end(e);
}

static const struct emit_col insn_cols[] = {
	{"samples", NULL, EMIT_FIXED},
	{"percent", "%", EMIT_PERCENT, .in = EMIT_IN_TABLE, .hot = true},
	{"cpi", NULL, EMIT_FIXED, .decimals = 2},
	{"best_cpi", "best", EMIT_FIXED, .decimals = 2},
	{"blame", NULL, EMIT_STR},
	{"culprit", NULL, EMIT_HEX, .spare = 1},
	{"stall_cycles", NULL, EMIT_FIXED, .in = EMIT_IN_JSON | EMIT_IN_CSV},
	{"in_chain", NULL, EMIT_U64, .in = EMIT_IN_JSON | EMIT_IN_CSV},
	{"block", NULL, EMIT_HEX, .in = EMIT_IN_JSON | EMIT_IN_CSV},
	{"svma", "pc", EMIT_HEX},
	{"chain", "", EMIT_STR, .in = EMIT_IN_TABLE},
	{"instruction", NULL, EMIT_STR, .cut = TEXT_END},
};

/* Whether IN is one of the results that its block, which repeats, waits for one after the other.
 * */
static bool is_in_chain(const struct calc *c, const struct calc_insn *in)
{
	const struct calc_block *b = &c->blocks.v[in->block];

	return b->model && b->repeats &&
	       c->model.insns.v[b->model->first + (size_t)(in - &c->insns.v[b->first])].in_chain;
}

static void emit_insns(struct emit *e, const struct calc *c, const struct calc_view *v,
		       struct arena *arena)
{
	emit_rows_by(e, "address");
	emit_table(e, "rows", insn_cols, n_elems(insn_cols));
	vec_each (in, &c->insns) {
		const struct calc_block *b = &c->blocks.v[in->block];
		const bool has_culprit =
			in->is_tallied && in->stall > 0 && in->culprit != INSN_NONE;
		const bool chained = is_in_chain(c, in);
		const struct emit_cell cells[] = {
			{.d = in->samples, .none = in->samples == 0},
			percent_cell(in->cycles, c->tally.all_cycles),
			number_cell(in->cpi, in->cpi),
			number_cell(in->best, in->best),
			{.s = calc_letters(in, arena)},
			{.u = has_culprit ? c->insns.v[in->culprit].insn->svma : 0,
			 .none = !has_culprit},
			{.d = in->stall},
			{.u = chained},
			{.u = b->start},
			{.u = in->insn->svma},
			{.s = chained ? "*" : ""},
			{.s = in->insn->text},
		};

		if (b->cycles >= v->cutoff_pct / 100 * c->tally.all_cycles)
			emit_row(e, cells);
	}
	emit_table_end(e);
}

static void emit_cpi(struct emit *e, const struct calc *c)
{
	const struct calc_tally *t = &c->tally;
	double best = t->execution,
	       actual = t->instructions > 0 ? t->cycles / t->instructions : NAN;

	for (unsigned b = 0; b < MCA_N_BOUNDS; b++)
		best += t->statics[b];
	best = t->instructions > 0 ? best / t->instructions : NAN;
	if (emit_json(e)) {
		json_add_double(emit_json(e), "best_cpi", best);
		json_add_double(emit_json(e), "cpi", actual);
		json_add_str(emit_json(e), "unit", c->unit);
		json_add_str(emit_json(e), "executions_are_of", c->basis_text);
		json_add_str(emit_json(e), "model", c->has_model ? c->model.cpu : NULL);
	}
	emit_text(e, "time is of %s; executions are of %s; best case of %s\n", c->event,
		  c->basis_text, c->has_model ? c->model.cpu : "nothing");
	if (!c->is_precise)
		emit_text(e, "samples stand behind what they waited for: cycles are charged to the "
			     "instruction before\n");
	if (!c->has_model)
		emit_text(e, "no best case: %s\n", c->why_no_model.msg);
	if (strcmp(c->unit, "ns") == 0)
		emit_text(e, "cpi is in nanoseconds, and not compared with the best case: the "
			     "clock of the CPU that was "
			     "recorded is not known (--mhz)\n");
	if (!c->has_executions)
		emit_text(e, "no executions: %s\n", c->why_no_executions.msg);
	if (!isnan(actual))
		emit_text(e, "*** Best-case %.2f CPI\n*** Actual    %.2f CPI\n", best, actual);
	emit_text(e, "\n");
}

void calc_emit(struct emit *e, struct source *s, const struct listing *l, const struct calc *c,
	       const struct calc_view *v)
{
	struct arena arena = {0};

	emit_begin(e);
	about_emit(e, s, v->no_header);
	list_emit_procedure(e, &s->columns, l, v->no_header);
	if (!v->no_header || e->format == EMIT_JSON)
		emit_cpi(e, c);
	emit_blocks(e, c, v, &arena);
	emit_edges(e, c, v);
	emit_text(e, "\n");
	emit_insns(e, c, v, &arena);
	if (c->tally.cycles > 0) {
		emit_text(e, "\n");
		calc_emit_tally(e, "causes", &c->tally, c->unit);
	}
	emit_end(e);
	arena_release(&arena);
}
