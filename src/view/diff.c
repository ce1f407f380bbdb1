/* SPDX-License-Identifier: BSD-2-Clause */
/* See diff.h. */
#include "view/diff.h"

#include <inttypes.h>
#include <math.h>

#include "base/plural.h"
#include "view/about.h"
#include "view/amounts.h"
#include "view/header.h"
#include "view/set_cols.h"

/* Whether it is unknown what R has in one of the sets. */
static bool is_unknown(const struct diff_row *r)
{
	return r->row->worth[0] == IS_UNKNOWN || r->row->worth[1] == IS_UNKNOWN;
}

bool diff_shows(const struct diff_view *v, const struct diff_row *r)
{
	if (v->all)
		return true;
	return (r->is_significant || r->may_be_significant) &&
	       (is_unknown(r) || fabs(r->change) * 100 >= v->min_pct);
}

static uint8_t side_decimals(const struct set_side *side)
{
	struct amounts one = {0};

	amounts_note_one(&one, side->amount);
	return amounts_decimals(&one);
}

static void emit_set(struct emit *e, const struct diff *d, const struct diff_view *v, unsigned k)
{
	const struct set_side *side = &d->set.sides[k];
	const struct profile *p = side->q ? side->q->profile : NULL;
	struct json *j = emit_json(e);
	uint64_t n_lost = 0;
	_str_ struct str line = {0};

	for (unsigned c = 0; p && c < side->q->n_cols; c++)
		if (side->q->cols[c].sum == SUM_EVENT &&
		    strcmp(profile_str(p, p->events.v[side->q->cols[c].event].name),
			   d->set.event) == 0)
			n_lost += side->q->cols[c].n_lost;
	if (j) {
		json_begin(j, '{');
		json_add_str(j, "set", v->names[k]);
		about_json_recording(j, side->source);
		if (side->q) {
			json_add_u64(j, "samples", side->n_samples);
		}
		json_add_double(j, "amount", side->amount);
		if (d->set.kind != ESTIMATE_EVENT)
			header_json_unknown(j, side);
		json_add_u64(j, "lost", n_lost);
		json_end(j, '}');
	}
	if (v->no_header)
		return;
	about_add_recording(&line, side->source);
	str_add(&line, line.n ? "; " : "");
	if (d->set.is_metric)
		str_addf(&line, "%.*f of ", side_decimals(side), side->amount);
	else if (*d->set.measures)
		str_addf(&line, "%.6f s of ", side->amount / 1e9);
	else
		str_addf(&line, "%" PRIu64 " sample%s of ", side->n_samples,
			 plural_s(side->n_samples));
	text_show(&line, d->set.event);
	if (d->set.kind != ESTIMATE_EVENT) {
		str_add(&line, " in ");
		text_show(&line, d->set.name);
		header_add_unknown(&line, side);
	}
	if (n_lost)
		str_addf(&line, ", %" PRIu64 " lost", n_lost);
	emit_text(e, "%c: %s\n", 'A' + k, line.v);
}

/* Says what was tested when it was not samples alone. */
static void emit_hosts(struct emit *e, const struct diff *d, const struct diff_view *v)
{
	const struct set_hosts *h = &d->hosts;
	struct json *j = emit_json(e);

	if (h->test == HOSTS_NO_TEST)
		return;
	if (j) {
		json_key(j, "hosts");
		json_begin(j, '{');
		json_add_str(j, "test", h->test == HOSTS_PAIRED ? "paired" : "welch");
		json_add_u64(j, "a", h->n_in[0]);
		json_add_u64(j, "b", h->n_in[1]);
		json_add_u64(j, "both", h->n_pairs);
		json_end(j, '}');
	}
	if (v->no_header)
		return;
	if (h->test == HOSTS_PAIRED)
		emit_text(e, "p is over %u hosts, each with itself (Student's paired test)\n",
			  h->n_pairs);
	else
		emit_text(e, "p is over hosts, %u of A and %u of B (Welch's test)\n", h->n_in[0],
			  h->n_in[1]);
}

static void emit_header(struct emit *e, const struct diff *d, const struct diff_view *v)
{
	struct json *j = emit_json(e);

	if (j) {
		header_json_column(j, &d->set);
		json_add_bool(j, "absolute", v->absolute);
		if (v->unit) {
			json_key(j, "per");
			json_begin(j, '{');
			json_add_str(j, "unit", v->unit);
			json_add_double(j, "a", v->per[0]);
			json_add_double(j, "b", v->per[1]);
			json_end(j, '}');
		}
		json_add_bool(j, "same_recording", v->is_same);
		json_add_double(j, "alpha", v->alpha);
		json_add_u64(j, "tested", d->n_tested);
		json_key(j, "sets");
		json_begin(j, '[');
	}
	for (unsigned k = 0; k < 2; k++)
		emit_set(e, d, v, k);
	if (j)
		json_end(j, ']');
	emit_hosts(e, d, v);
	if (!v->no_header && v->unit)
		emit_text(e, "per %s: A did %.6g, B did %.6g\n", v->unit, v->per[0], v->per[1]);
	if (!v->no_header && d->set.is_metric)
		emit_text(e, "chance is not known for metrics: every row that changed is shown\n");
	if (!v->no_header && d->set.has_open)
		emit_text(e, "? is unknown, >N at least N, ~N about N; shares are of the samples "
			     "known to be in it\n");
	if (!v->no_header)
		emit_text(e, "\n");
}

/* How many rows are not shown, and what part of each set they have. */
static void emit_hidden(struct emit *e, const struct diff *d, const struct diff_view *v)
{
	struct json *j = emit_json(e);
	double pct[2] = {0, 0};
	size_t n = 0;

	vec_each (r, &d->rows) {
		if (diff_shows(v, r))
			continue;
		n++;
		for (unsigned k = 0; k < 2; k++)
			pct[k] += 100 * r->share[k];
	}
	if (j) {
		json_key(j, "hidden");
		json_begin(j, '{');
		json_add_u64(j, "rows", n);
		json_add_double(j, "a_pct", pct[0]);
		json_add_double(j, "b_pct", pct[1]);
		json_end(j, '}');
	}
	if (!n || v->no_header)
		return;
	emit_text(e, "%s%zu row%s %s: %.2f%% of A, %.2f%% of B; --all shows %s\n",
		  n < d->rows.n ? "\n" : "", n, n == 1 ? "" : "s",
		  *d->set.measures || d->set.is_metric ? "did not change, or by too little"
		  : v->min_pct > 0 ? "changed by no more than chance would, or by too little"
				   : "changed by no more than chance would",
		  pct[0], pct[1], n == 1 ? "it" : "them");
}

static void emit_note(struct emit *e, const struct diff *d, const struct diff_view *v)
{
	bool by_address = d->rows.n && d->set.level == SCOPE_ADDRESS;
	struct json *j = emit_json(e);
	_str_ struct str note = {0};

	if (by_address && d->set.n_rebuilt) {
		text_show(&note, d->set.rebuilt);
		if (d->set.n_rebuilt > 1)
			str_addf(&note, " and %u more are", d->set.n_rebuilt - 1);
		else
			str_add(&note, " is");
		str_add(&note,
			" of another build in each set: addresses of two builds are never the "
			"same row; --by line or procedure compares them");
	}
	if (j) {
		json_key(j, "notes");
		json_begin(j, '[');
		if (d->set.is_metric)
			json_str(j, "chance is not known for metrics");
		if (note.n)
			json_str(j, note.v);
		json_end(j, ']');
	}
	if (note.n && !v->no_header)
		emit_text(e, "%s\n", note.v);
}

enum {
	COL_A,
	COL_A_PCT,
	COL_B,
	COL_B_PCT,
	COL_A_PER,
	COL_B_PER,
	COL_CHANGE,
	COL_P,
	COL_A_AMOUNT,
	COL_B_AMOUNT,
	COL_A_OPEN,
	COL_B_OPEN,
	COL_ROW, /* what it is: N_SET_COLS columns */
	N_COLS = COL_ROW + N_SET_COLS
};

/* CELL, of something of which set K has as much as R says. */
static struct emit_cell marked(struct emit_cell cell, const struct diff_row *r, unsigned k,
			       char about)
{
	const enum knowledge worth = r->row->worth[k];

	if (worth == IS_UNKNOWN)
		return (struct emit_cell){.none = true, .mark = '?'};
	if (worth == IS_AT_LEAST)
		cell.mark = about;
	return cell;
}

/* Marks the cells of R that are not known. */
static void mark_open(struct emit_cell *cells, const struct diff_row *r)
{
	cells[COL_A] = marked(cells[COL_A], r, 0, '>');
	cells[COL_B] = marked(cells[COL_B], r, 1, '>');
	cells[COL_A_AMOUNT] = marked(cells[COL_A_AMOUNT], r, 0, '>');
	cells[COL_B_AMOUNT] = marked(cells[COL_B_AMOUNT], r, 1, '>');
	cells[COL_A_PCT] = marked(cells[COL_A_PCT], r, 0, '~');
	cells[COL_B_PCT] = marked(cells[COL_B_PCT], r, 1, '~');
	for (unsigned k = 0; k < 2; k++)
		cells[COL_CHANGE] = cells[COL_CHANGE].none ? cells[COL_CHANGE]
							   : marked(cells[COL_CHANGE], r, k, '~');
	if (r->may_be_significant)
		cells[COL_P] = (struct emit_cell){.none = true, .mark = '?'};
}

/* The decimals of amounts: both sets share them. */
static uint8_t amount_decimals(const struct diff *d, const struct diff_view *v, bool in_seconds)
{
	struct amounts a = {0};

	vec_each (r, &d->rows)
		for (unsigned k = 0; k < 2 && diff_shows(v, r); k++)
			amounts_note_one(&a, r->row->amount[k]);
	return in_seconds ? amounts_time_decimals(&a) : amounts_decimals(&a);
}

/* Whether amounts are nanoseconds. */
static bool is_ns(const struct diff *d)
{
	const struct query *q = d->set.sides[0].q;
	const struct profile *p = q ? q->profile : NULL;

	for (unsigned c = 0; p && c < q->n_cols; c++) {
		const struct event *ev = &p->events.v[q->cols[c].event];

		if (q->cols[c].sum == SUM_EVENT &&
		    strcmp(profile_str(p, ev->name), d->set.event) == 0)
			return strcmp(profile_str(p, ev->unit), "ns") == 0;
	}
	return false;
}

/* What R has of set K for one unit of work. */
static double per_unit(const struct diff_view *v, const struct diff_row *r, unsigned k, bool in_us)
{
	return v->unit ? r->row->amount[k] / v->per[k] / (in_us ? 1000 : 1) : 0;
}

static uint8_t per_decimals(const struct diff *d, const struct diff_view *v, bool in_us)
{
	struct amounts a = {0};

	vec_each (r, &d->rows)
		for (unsigned k = 0; k < 2 && diff_shows(v, r); k++)
			amounts_note_one(&a, per_unit(v, r, k, in_us));
	return amounts_decimals(&a);
}

static void emit_rows(struct emit *e, const struct diff *d, const struct diff_view *v)
{
	const enum scope_kind level = d->set.level;
	const bool is_metric = d->set.is_metric, is_table = e->format == EMIT_TABLE;
	const bool in_us = is_table && is_ns(d);
	const bool in_seconds = is_table && *d->set.measures;
	const enum emit_type amount = is_metric ? EMIT_FIXED : in_seconds ? EMIT_TIME : EMIT_U64;
	const uint8_t decimals = amount_decimals(d, v, in_seconds);
	const double unit = in_seconds ? 1 : d->set.unit;
	const unsigned data = EMIT_IN_JSON | EMIT_IN_CSV;
	struct emit_col cols[N_COLS] = {
		[COL_A] = {"a", in_seconds ? "A(s)" : "A", amount, .decimals = decimals},
		[COL_A_PCT] = {"a_pct", "A%", EMIT_PERCENT, .in = v->unit ? data : 0},
		[COL_B] = {"b", in_seconds ? "B(s)" : "B", amount, .decimals = decimals},
		[COL_B_PCT] = {"b_pct", "B%", EMIT_PERCENT, .in = v->unit ? data : 0},
		[COL_A_PER] = {"a_per", in_us ? "A us/unit" : "A/unit", EMIT_FIXED,
			       .decimals = per_decimals(d, v, in_us),
			       .in = v->unit ? 0 : EMIT_IN_NONE},
		[COL_B_PER] = {"b_per", in_us ? "B us/unit" : "B/unit", EMIT_FIXED,
			       .decimals = per_decimals(d, v, in_us),
			       .in = v->unit ? 0 : EMIT_IN_NONE},
		[COL_CHANGE] = {"change_pct", "change%", EMIT_FIXED, .decimals = 2},
		[COL_P] = {"p", NULL, EMIT_FIXED, .decimals = 4,
			   .in = data | (*d->set.measures || is_metric ? 0 : EMIT_IN_TABLE)},
		[COL_A_AMOUNT] = {"a_amount", NULL, EMIT_FIXED, .in = data},
		[COL_B_AMOUNT] = {"b_amount", NULL, EMIT_FIXED, .in = data},
		[COL_A_OPEN] = {"a_unknown", NULL, EMIT_U64,
				.in = d->set.has_open ? data : EMIT_IN_NONE},
		[COL_B_OPEN] = {"b_unknown", NULL, EMIT_U64,
				.in = d->set.has_open ? data : EMIT_IN_NONE},
	};

	emit_rows_by(e, scope_kind_name(level));
	set_cols(level, cols + COL_ROW);
	emit_table(e, "rows", cols, N_COLS);
	vec_each (r, &d->rows) {
		struct emit_cell cells[N_COLS] = {
			[COL_A_PCT].d = 100 * r->share[0],
			[COL_B_PCT].d = 100 * r->share[1],
			[COL_A_PER].d = per_unit(v, r, 0, in_us),
			[COL_B_PER].d = per_unit(v, r, 1, in_us),
			[COL_CHANGE].d = 100 * r->change,
			[COL_P] = {.d = r->p, .none = isnan(r->p)},
			[COL_A_AMOUNT].d = r->row->amount[0],
			[COL_B_AMOUNT].d = r->row->amount[1],
			[COL_A_OPEN].u = r->row->open[0],
			[COL_B_OPEN].u = r->row->open[1],
		};

		if (!diff_shows(v, r))
			continue;
		set_cells(r->row, is_table, cells + COL_ROW);
		if (is_metric) {
			cells[COL_A].d = r->row->amount[0];
			cells[COL_B].d = r->row->amount[1];
			emit_row(e, cells);
			continue;
		}
		cells[COL_A].u =
			is_table ? (uint64_t)llround(r->row->amount[0] / unit) : r->row->n[0];
		cells[COL_B].u =
			is_table ? (uint64_t)llround(r->row->amount[1] / unit) : r->row->n[1];
		mark_open(cells, r);
		emit_row(e, cells);
	}
	emit_table_end(e);
}

void diff_emit(struct emit *e, const struct diff *d, const struct diff_view *v)
{
	emit_begin(e);
	emit_header(e, d, v);
	emit_rows(e, d, v);
	emit_hidden(e, d, v);
	emit_note(e, d, v);
	emit_end(e);
}
