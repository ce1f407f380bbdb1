/* SPDX-License-Identifier: BSD-2-Clause */
/* See stalls.h. */
#include "view/stalls.h"

#include <inttypes.h>

#include "base/cleanup.h"
#include "base/plural.h"
#include "query/rows/calc_kinds.h"
#include "view/about.h"
#include "view/amounts.h"
#include "view/calc.h"
#include "view/topdown.h"

static void emit_refusals(struct emit *e, const struct stalls_view *v)
{
	if (emit_json(e)) {
		json_add_u64(emit_json(e), "n_refused", v->n_refused);
		json_add_double(emit_json(e), "refused_percent", v->refused_pct);
	}
	if (v->n_refused)
		emit_text(e,
			  "%zu procedure%s with %.1f%% of the samples cannot be analysed; the "
			  "first: %s\n",
			  v->n_refused, plural_s(v->n_refused), v->refused_pct, v->refusal);
}

static void emit_head(struct emit *e, const struct stalls *s, const struct stalls_view *v)
{
	const struct calc_tally *t = &s->tally;

	if (v->no_header && !emit_json(e))
		return;
	if (t->all_cycles > 0)
		emit_text(e,
			  "%.0f samples (%.2f%% of all that were analysed) are in code whose count "
			  "is known with at "
			  "least %s confidence\n%.0f stall %s there are %.2f%% of all cycles\n",
			  t->samples, t->all_samples > 0 ? 100 * t->samples / t->all_samples : 0,
			  count_confidence_name(v->conf), t->dynamic, s->unit,
			  100 * t->dynamic / t->all_cycles);
	emit_refusals(e, v);
}

static const struct emit_col stall_cols[] = {
	{"percent", "%", EMIT_PERCENT, .hot = true},
	{"cum_percent", "cum%", EMIT_PERCENT, .in = EMIT_IN_TABLE, .spare = EMIT_SPARE_UNSAID + 1},
	{"cycles", NULL, EMIT_FIXED},
	{"count", NULL, EMIT_FIXED},
	{"confidence", "C", EMIT_STR},
	{"average", "avg", EMIT_FIXED, .decimals = 1},
	{"blame", NULL, EMIT_STR},
	{"svma", "pc", EMIT_HEX},
	{"procedure", NULL, EMIT_STR, .cut = TEXT_NAME},
	{"image", NULL, EMIT_STR, .in = EMIT_IN_JSON | EMIT_IN_CSV},
	{"file", NULL, EMIT_STR, .in = EMIT_IN_JSON | EMIT_IN_CSV},
	{"line", NULL, EMIT_U64, .in = EMIT_IN_JSON | EMIT_IN_CSV},
	{"source", "file:line", EMIT_STR, .in = EMIT_IN_TABLE, .cut = TEXT_PATH, .spare = 1},
};

/* H, M or L, as dcpitopstalls has it. */
static const char *short_confidence(const struct emit *e, enum count_confidence c)
{
	static const char *const letters[] = {"?", "L", "M", "H", "X"};

	return e->format == EMIT_TABLE ? letters[c] : count_confidence_name(c);
}

static const char *source_text(const struct stall_row *r, struct arena *arena)
{
	_mem_ char *text =
		r->file ? xasprintf("%s:%" PRIu32, str_basename(r->file), r->line) : NULL;

	return text ? arena_strdup(arena, text) : NULL;
}

void stalls_emit(struct emit *e, struct source *of, const struct stalls *s,
		 const struct stalls_view *v)
{
	struct arena arena = {0};
	double so_far = 0;

	emit_begin(e);
	about_emit(e, of, v->no_header);
	emit_head(e, s, v);
	if (!v->no_header)
		emit_text(e, "\ntop %zu stalls of length >= %g:\n", s->rows.n, v->length);
	emit_rows_by(e, "address");
	emit_table(e, "rows", stall_cols, n_elems(stall_cols));
	vec_each (r, &s->rows) {
		const struct calc_insn in = {.causes = r->causes,
					     .measured = r->measured,
					     .is_tallied = true,
					     .stall = 1};
		const char *source = source_text(r, &arena);

		so_far += r->cycles;
		emit_row(e, (const struct emit_cell[]){
				    percent_cell(r->cycles, s->tally.all_cycles),
				    percent_cell(so_far, s->tally.all_cycles),
				    {.d = r->cycles},
				    {.d = r->executions},
				    {.s = short_confidence(e, r->confidence)},
				    {.d = r->cycles / r->executions},
				    {.s = calc_letters(&in, &arena)},
				    {.u = r->svma},
				    {.s = r->procedure},
				    {.s = r->image},
				    {.s = r->file, .none = !r->file},
				    {.u = r->line, .none = !r->line},
				    {.s = source, .none = !source},
			    });
	}
	emit_table_end(e);
	emit_end(e);
	arena_release(&arena);
}

static const struct emit_col proc_cols[] = {
	{"low", "at least", EMIT_PERCENT},
	{"high", "at most", EMIT_PERCENT, .hot = true},
	{"low_cycles", NULL, EMIT_FIXED, .in = EMIT_IN_JSON | EMIT_IN_CSV},
	{"high_cycles", "cycles", EMIT_FIXED},
	{"procedure", NULL, EMIT_STR, .cut = TEXT_NAME},
	{"image", NULL, EMIT_STR, .cut = TEXT_PATH, .spare = 1},
};

static void emit_procs(struct emit *e, const struct stalls *s, unsigned kind)
{
	emit_text(e, "\nprocedures %s %s:\n",
		  kind < CALC_N_CAUSES ? "that may have suffered from" : "by their",
		  calc_kind_name(kind));
	if (!s->procs.n)
		emit_text(e, "none\n");
	emit_rows_by(e, "procedure");
	emit_table(e, "rows", proc_cols, n_elems(proc_cols));
	vec_each (p, &s->procs) {
		const struct calc_range r = calc_range_of(&p->tally, kind);

		emit_row(e, (const struct emit_cell[]){
				    percent_cell(r.low, s->tally.cycles),
				    percent_cell(r.high, s->tally.cycles),
				    {.d = r.low},
				    {.d = r.high},
				    {.s = p->procedure},
				    {.s = p->image},
			    });
	}
	emit_table_end(e);
}

void why_emit(struct emit *e, struct source *of, const struct stalls *s,
	      const struct stalls_view *v)
{
	emit_begin(e);
	about_emit(e, of, v->no_header);
	emit_head(e, s, v);
	if (s->unit) {
		emit_text(e, "\n");
		calc_emit_tally(e, v->kind < 0 ? "rows" : "causes", &s->tally, s->unit);
	}
	if (s->unit && v->kind >= 0)
		emit_procs(e, s, (unsigned)v->kind);
	else
		topdown_emit(e, v->topdown);
	emit_end(e);
}
