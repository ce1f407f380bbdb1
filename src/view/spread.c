/* SPDX-License-Identifier: BSD-2-Clause */
/* See spread.h.  Columns are dcpistats': range% sum sum% N mean std-dev min max, then the row. */
#include "view/spread.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "view/about.h"
#include "view/amounts.h"
#include "view/header.h"
#include "view/set_cols.h"

/* As many decimals as the largest amount needs: none of samples. */
static uint8_t metric_decimals(const struct spread *s)
{
	struct amounts a = {0};

	for (unsigned k = 0; s->set.is_metric && k < s->set.n_sets; k++)
		amounts_note_one(&a, s->set.sides[k].amount);
	return amounts_decimals(&a);
}

static uint8_t time_decimals(const struct spread *s)
{
	struct amounts a = {0};

	vec_each (r, &s->rows)
		amounts_note_one(&a, r->sum);
	return amounts_time_decimals(&a);
}

/* What one of a column is in E: seconds in tables of what measures time. */
static double shown_unit(const struct emit *e, const struct spread *s)
{
	return e->format == EMIT_TABLE && *s->set.measures ? 1e9 : s->set.unit;
}

/* Adds an amount of the events in all of a set, or of all sets, with EXACT decimals. */
static void add_amount(struct str *line, const struct spread *s, double amount, uint8_t exact)
{
	if (*s->set.measures)
		str_addf(line, "%.6f s", amount / 1e9);
	else
		str_addf(line, "%.*f", exact,
			 s->set.is_metric ? amount : round(amount / s->set.unit));
}

static void emit_sets(struct emit *e, const struct spread *s, const struct spread_view *v)
{
	const bool is_ratio = s->set.kind == ESTIMATE_RATIO;
	const uint8_t exact = metric_decimals(s);
	struct json *j = emit_json(e);
	_str_ struct str line = {0};

	if (j) {
		header_json_column(j, &s->set);
		json_key(j, "sets");
		json_begin(j, '[');
	}
	for (unsigned k = 0; k < s->set.n_sets; k++) {
		const struct set_side *side = &s->set.sides[k];

		if (j) {
			json_begin(j, '{');
			json_add_str(j, "set", v->names[k]);
			about_json_recording(j, side->source);
			if (side->q) {
				json_add_u64(j, "samples", side->n_samples);
			}
			json_add_double(j, "amount", side->is_unknown ? NAN : side->amount);
			if (s->set.kind != ESTIMATE_EVENT)
				header_json_unknown(j, side);
			json_end(j, '}');
		}
		str_reset(&line);
		text_show(&line, s->set.name);
		if (side->is_unknown) {
			str_add(&line, " ?: ");
		} else if (is_ratio) {
			str_addf(&line, " %.4f: ", side->amount);
		} else {
			str_add(&line, " ");
			add_amount(&line, s, side->amount, exact);
			str_add(&line, ": ");
		}
		text_show(&line, v->names[k]);
		header_add_unknown(&line, side);
		if (!v->no_header)
			emit_text(e, "%s\n", line.v);
	}
	if (j)
		json_end(j, ']');
	if (!v->no_header && s->set.has_open)
		emit_text(e, "? is unknown, >N at least N, ~N about N\n");
	if (v->no_header)
		return;
	if (is_ratio) {
		emit_text(e, "\n");
	} else {
		str_reset(&line);
		add_amount(&line, s, s->sum, exact);
		emit_text(e, "%s in all\n\n", str_get(&line));
	}
}

enum {
	COL_RANGE,
	COL_SUM,
	COL_SUM_PCT,
	COL_N,
	COL_UNKNOWN,
	COL_MEAN,
	COL_DEVIATION,
	COL_MIN,
	COL_MAX,
	COL_ROW, /* what it is: N_SET_COLS columns */
	N_COLS = COL_ROW + N_SET_COLS
};

/* Marks the cells of R that are not known; IS_RATIO: it is no sum. */
static void mark_open(struct emit_cell *cells, const struct spread_row *r, unsigned n_sets,
		      bool is_ratio)
{
	static const struct {
		unsigned col;
		char about;
	} marks[] = {{COL_RANGE, '~'},	   {COL_SUM, '>'}, {COL_SUM_PCT, '~'}, {COL_MEAN, '~'},
		     {COL_DEVIATION, '~'}, {COL_MIN, '~'}, {COL_MAX, '>'}};

	for (size_t i = 0; i < n_elems(marks); i++) {
		struct emit_cell *cell = &cells[marks[i].col];

		if (r->n_unknown == n_sets)
			*cell = (struct emit_cell){.none = true, .mark = r->is_least ? '?' : 0};
		else if (r->is_least)
			cell->mark = is_ratio ? '~' : marks[i].about;
	}
	if (is_ratio)
		cells[COL_SUM] = cells[COL_SUM_PCT] = (struct emit_cell){.none = true};
}

void spread_emit(struct emit *e, const struct spread *s, const struct spread_view *v, size_t *ret_n)
{
	const enum scope_kind level = s->set.level;
	const bool is_ratio = s->set.kind == ESTIMATE_RATIO;
	const double least = spread_least_sum(s, v->keep_pct), u = shown_unit(e, s);
	const bool in_seconds = u == 1e9, is_table = e->format == EMIT_TABLE;
	const uint8_t exact = in_seconds ? time_decimals(s) : metric_decimals(s);
	const uint8_t decimals = is_ratio ? 4 : exact;
	const uint8_t more = is_ratio ? 4 : exact ? exact : 2;
	struct emit_col cols[N_COLS] = {
		[COL_RANGE] = {"range_pct", "range%", EMIT_PERCENT},
		[COL_SUM] = {"sum", in_seconds ? "sum(s)" : NULL, EMIT_FIXED, .decimals = exact,
			     .in = is_ratio ? EMIT_IN_NONE : 0},
		[COL_SUM_PCT] = {"sum_pct", "sum%", EMIT_PERCENT,
				 .in = is_ratio ? EMIT_IN_NONE : 0},
		[COL_N] = {"n", "N", EMIT_U64},
		[COL_UNKNOWN] = {"unknown", NULL, EMIT_U64,
				 .in = s->set.kind == ESTIMATE_EVENT ? EMIT_IN_NONE : 0},
		[COL_MEAN] = {"mean", in_seconds ? "mean(s)" : NULL, EMIT_FIXED, .decimals = more},
		[COL_DEVIATION] = {"deviation", in_seconds ? "std-dev(s)" : "std-dev", EMIT_FIXED,
				   .decimals = more},
		[COL_MIN] = {"min", in_seconds ? "min(s)" : NULL, EMIT_FIXED, .decimals = decimals},
		[COL_MAX] = {"max", in_seconds ? "max(s)" : NULL, EMIT_FIXED, .decimals = decimals},
	};

	*ret_n = 0;
	emit_begin(e);
	emit_sets(e, s, v);
	emit_rows_by(e, scope_kind_name(level));
	set_cols(level, cols + COL_ROW);
	emit_table(e, "rows", cols, N_COLS);
	vec_each (r, &s->rows) {
		struct emit_cell cells[N_COLS] = {
			[COL_RANGE].d = 100 * r->range,
			[COL_SUM].d = r->sum / u,
			[COL_SUM_PCT] = {.d = s->sum > 0 ? 100 * r->sum / s->sum : 0},
			[COL_N].u = r->n,
			[COL_UNKNOWN].u = r->n_unknown,
			[COL_MEAN].d = r->mean / u,
			[COL_DEVIATION].d = r->deviation / u,
			[COL_MIN].d = r->least / u,
			[COL_MAX].d = r->most / u,
		};

		if (r->sum < least || 100 * r->range < v->range_pct)
			continue;
		set_cells(r->row, is_table, cells + COL_ROW);
		mark_open(cells, r, s->set.n_sets, is_ratio);
		emit_row(e, cells);
		(*ret_n)++;
	}
	emit_table_end(e);
	emit_end(e);
}
