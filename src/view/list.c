/* SPDX-License-Identifier: BSD-2-Clause */
/* See list.h.  Percentages are of the procedure's samples, and of all.
 *
 * One table serves all modes: a row is a source line or an instruction.  In tables the last column
 * holds either text; in JSON and CSV each has its own.
 *
 * Where rows are left out, one row stands for them and has their sum, so that the rows shown add up
 * to the procedure. */
#include "view/list.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/amounts.h"
#include "view/about.h"
#include "view/list_arrows.h"

/* Where lines are known and code is not, lines without their texts say more than addresses. */
static enum list_mode mode_of_lines(const struct listing *l, enum list_mode mode,
				    struct err *ret_notice)
{
	if (mode == LIST_BEST)
		mode = l->lines.n ? LIST_SOURCE : LIST_ASM;
	if (!l->has_source && mode != LIST_ASM && l->why_no_source.msg[0])
		err_set(ret_notice, 0, "no source texts: %s", l->why_no_source.msg);
	if (mode == LIST_ASM && !l->insns.n)
		err_set(ret_notice, 0, "%s of it; --source shows its lines", l->why_no_code.msg);
	return mode;
}

enum list_mode list_mode_for(const struct listing *l, enum list_mode mode, struct err *ret_notice)
{
	ret_notice->msg[0] = '\0';
	if (l->of_lines)
		return mode_of_lines(l, mode, ret_notice);
	if (mode == LIST_BEST)
		return l->has_source ? LIST_SOURCE : LIST_ASM;
	if (mode != LIST_ASM && !l->has_source) {
		err_set(ret_notice, 0, "no source lines (%s); listing instructions",
			l->why_no_source.msg);
		return LIST_ASM;
	}
	return mode;
}

struct list {
	struct emit *e;
	const struct columns *columns;
	const struct listing *l;
	struct list_opts o;
	struct arrows arrows;
	unsigned *order, n_shown;
	struct emit_col *cols;
	unsigned n_cols;
	struct emit_cell *cells;
	struct arena arena; /* texts of rows */
	size_t n_rows;	    /* emitted */
	size_t run;	    /* the first row of those that lead to the hottest; none: 0 */
	size_t open_row;    /* where the hot part begins, from 1; 0: not met yet */
	double hottest;	    /* samples of the hottest row */
};

/* Rows of a listing that are open before the hottest, at most. */
#define MOST_BEFORE 10

static void list_row(struct list *v)
{
	emit_row(v->e, v->cells);
	v->n_rows++;
}

/* Notes that the next row has HEAT and COUNTS. */
static void note_heat(struct list *v, uint8_t heat, const double *counts)
{
	double n = counts ? counts[v->columns->hide] : 0;

	if (heat == HEAT_NONE)
		v->run = 0;
	else if (!v->run)
		v->run = v->n_rows + 1;
	if (heat == HEAT_HOT && n > v->hottest) {
		v->hottest = n;
		v->open_row =
			v->n_rows + 1 - v->run > MOST_BEFORE ? v->n_rows + 1 - MOST_BEFORE : v->run;
	}
}

/* Lanes for arrows, so that instructions have room. */
static unsigned most_lanes(const struct emit *e)
{
	return e->terminal && e->width < 100 ? 4 : ARROW_LANES;
}

/* "      pc  ", arrows, "instruction" */
static const char *insn_title(struct list *v)
{
	_str_ struct str s = {0};

	str_add(&s, "      pc  ");
	for (unsigned i = arrows_width(&v->arrows); i--;)
		str_addc(&s, ' ');
	str_add(&s, v->arrows.n_lanes || v->arrows.n_loops ? " instruction" : "instruction");
	return arena_strdup(&v->arena, str_get(&s));
}

static void make_cols(struct list *v, enum list_mode mode)
{
	const struct columns *columns = v->columns;
	struct amounts *amounts = xcalloc(columns->cols.n + 1, sizeof(*amounts));
	const unsigned asm_in = EMIT_IN_JSON | EMIT_IN_CSV;
	const struct emit_col last[] = {
		{"file", NULL, EMIT_STR, .in = asm_in},
		{"line", NULL, EMIT_U64, .in = asm_in | (mode != LIST_ASM ? EMIT_IN_TABLE : 0)},
		{"svma", "pc", EMIT_HEX, .in = asm_in},
		{"target", NULL, EMIT_STR, .in = asm_in},
		{"jump", NULL, EMIT_HEX, .in = asm_in},
		{"loop", NULL, EMIT_HEX, .in = asm_in},
		{"loops", NULL, EMIT_U64, .in = asm_in},
		{"inlined", NULL, EMIT_STR, .in = asm_in},
		{"source", NULL, EMIT_STR, .in = mode == LIST_ASM ? EMIT_IN_NONE : asm_in},
		{"instruction", NULL, EMIT_STR, .in = mode == LIST_SOURCE ? EMIT_IN_NONE : asm_in},
		{"text", mode == LIST_ASM ? insn_title(v) : "source", EMIT_STR, .in = EMIT_IN_TABLE,
		 .cut = TEXT_END},
	};

	vec_each (in, &v->l->insns)
		amounts_note(amounts, columns, in->counts);
	vec_each (line, &v->l->lines)
		amounts_note(amounts, columns, line->counts);
	v->order = xcalloc(columns->cols.n + 1, sizeof(*v->order));
	v->n_shown = cols_order(columns, v->order);
	v->cols = xcalloc((3 + MOST_MORE_COLS) * v->n_shown + n_elems(last), sizeof(*v->cols));
	for (unsigned i = 0; i < v->n_shown; i++) {
		const struct column *c = &columns->cols.v[v->order[i]];

		v->cols[v->n_cols++] =
			amount_col(c, &amounts[v->order[i]], c->name, c->title, "counts", 0);
		v->cols[v->n_cols++] = (struct emit_col){
			"percent", "%", EMIT_PERCENT,
			.in = c->adds_up ? EMIT_IN_TABLE : EMIT_IN_NONE, .hot = true};
		v->cols[v->n_cols++] = (struct emit_col){"of_all", "of all", EMIT_PERCENT,
							 .in = i == 0 && c->adds_up ? EMIT_IN_TABLE
										    : EMIT_IN_NONE};
		v->n_cols += amounts_more_cols(columns, v->order[i], &amounts[v->order[i]], "",
					       &v->arena, v->cols + v->n_cols);
	}
	memcpy(v->cols + v->n_cols, last, sizeof(last));
	v->n_cols += n_elems(last);
	v->cells = xcalloc(v->n_cols, sizeof(*v->cells));
	free(amounts);
}

/* Fills the count cells from COUNTS (NULL: blank) and returns the cells behind them, cleared. */
static struct emit_cell *count_cells(struct list *v, const double *counts)
{
	struct emit_cell *cell = v->cells;

	for (unsigned i = 0; i < v->n_shown; i++) {
		unsigned c = v->order[i];
		double n = counts ? counts[c] : 0;

		*cell++ = counts ? amount_cell(v->e, v->columns, c, counts)
				 : (struct emit_cell){.none = true};
		*cell = percent_cell(n, v->l->total[c]);
		cell++->none = n == 0 || isnan(n);
		*cell = percent_cell(n, v->columns->cols.v[c].total);
		cell++->none = n == 0 || isnan(n);
		cell += amounts_more_cells(v->e, v->columns, c, counts, !counts, cell);
	}
	for (struct emit_cell *blank = cell; blank < v->cells + v->n_cols; blank++)
		*blank = (struct emit_cell){.none = true};
	return cell;
}

static const char *keep_text(struct list *v, struct str *s)
{
	const char *kept = arena_strdup(&v->arena, str_get(s));

	str_reset(s);
	return kept;
}

/* Source text with tabs as blanks, 8 columns each, the same in every row. */
static const char *expand_tabs(struct list *v, const char *text)
{
	_str_ struct str s = {0};

	if (!strchr(text, '\t'))
		return text;
	for (unsigned at = 0; *text; text++) {
		if (*text != '\t') {
			str_addc(&s, *text);
			at += ((unsigned char)*text & 0xc0) != 0x80;
			continue;
		}
		do
			str_addc(&s, ' ');
		while (++at % 8);
	}
	return keep_text(v, &s);
}

/* Numbers of the cells behind the counts. */
enum {
	CELL_FILE,
	CELL_LINE,
	CELL_SVMA,
	CELL_TARGET,
	CELL_JUMP,
	CELL_LOOP,
	CELL_LOOPS,
	CELL_INLINED,
	CELL_SOURCE,
	CELL_INSN,
	CELL_TEXT
};

static void emit_insn(struct list *v, const struct listing_insn *in, bool beneath)
{
	const struct listing *l = v->l;
	const struct listing_line *line = in->line == LINE_NONE ? NULL : &l->lines.v[in->line];
	struct emit_cell *cell = count_cells(v, in->counts);
	struct str s = {0};

	if (line) {
		cell[CELL_FILE] = (struct emit_cell){.s = line->file};
		cell[CELL_LINE] = (struct emit_cell){.u = line->line};
	}
	cell[CELL_SVMA] = (struct emit_cell){.u = in->svma};
	cell[CELL_TARGET] = (struct emit_cell){.s = in->is_target ? ":" : ""};
	if (in->jumps_to != INSN_NONE)
		cell[CELL_JUMP] = (struct emit_cell){.u = l->insns.v[in->jumps_to].svma};
	if (in->n_loops)
		cell[CELL_LOOP] = (struct emit_cell){.u = in->loops[in->n_loops - 1]};
	cell[CELL_LOOPS] = (struct emit_cell){.u = in->n_loops};
	cell[CELL_INLINED] = (struct emit_cell){.s = in->inlined};
	cell[CELL_INSN] = (struct emit_cell){.s = in->text};
	if (v->e->format == EMIT_TABLE) {
		cell[CELL_LINE].none = true;
		if (beneath) {
			str_addf(&s, "    %8" PRIx64 " %c ", in->svma, in->is_target ? ':' : ' ');
		} else {
			str_addf(&s, "%8" PRIx64 " ", in->svma);
			arrows_add(&v->arrows, (uint32_t)(in - l->insns.v), &s);
			str_addc(&s, ' ');
		}
		str_add(&s, in->text ? in->text : "");
		while (s.n && s.v[s.n - 1] == ' ')
			s.v[--s.n] = '\0';
		cell[CELL_TEXT] = (struct emit_cell){.s = keep_text(v, &s)};
	}
	note_heat(v, beneath ? HEAT_NONE : in->heat, in->counts);
	list_row(v);
	str_release(&s);
}

static void emit_line(struct list *v, const struct listing_line *line)
{
	struct emit_cell *cell = count_cells(v, line->counts);

	cell[CELL_FILE] = (struct emit_cell){.s = line->file};
	cell[CELL_LINE] = (struct emit_cell){.u = line->line};
	cell[CELL_SOURCE] = (struct emit_cell){.s = line->text};
	if (v->e->format == EMIT_TABLE)
		cell[CELL_TEXT] =
			(struct emit_cell){.s = line->text ? expand_tabs(v, line->text) : NULL};
	note_heat(v, line->heat, line->counts);
	list_row(v);
}

/* A line for people between rows, such as the name of a file, with COUNTS or (NULL) without. */
static void emit_mark(struct list *v, const char *text, const double *counts)
{
	struct emit_cell *cell = count_cells(v, counts);

	if (v->e->format != EMIT_TABLE)
		return;
	cell[CELL_TEXT] = (struct emit_cell){.s = text};
	list_row(v);
}

/* Rows that are left out, until one is shown. */
struct list_gap {
	uint32_t first, n;
	double *counts;
};

static void gap_add(struct list *v, struct list_gap *g, uint32_t i, const double *counts)
{
	if (!g->n++)
		g->first = i;
	if (!g->counts)
		g->counts = xcalloc(v->l->n_cols + 1, sizeof(*g->counts));
	for (unsigned c = 0; counts && c < v->l->n_cols; c++)
		g->counts[c] += counts[c];
}

static void gap_end(struct list *v, struct list_gap *g, const char *what, uint32_t end)
{
	_str_ struct str s = {0};

	if (!g->n)
		return;
	if (v->o.mode == LIST_ASM) {
		str_addf(&s, "%9s", "");
		arrows_add_gap(&v->arrows, g->first, end, &s);
		str_addc(&s, ' ');
	}
	str_addf(&s, "... %" PRIu32 " %s%s", g->n, what, g->n == 1 ? "" : "s");
	cols_evaluate(v->columns, g->counts);
	v->run = 0;
	emit_mark(v, keep_text(v, &s), g->counts);
	free(g->counts);
	*g = (struct list_gap){0};
}

static void emit_insns(struct list *v)
{
	const struct listing *l = v->l;
	struct list_gap gap = {0};

	for (uint32_t i = 0; i < l->insns.n; i++) {
		if (v->o.hot && l->insns.v[i].heat == HEAT_NONE) {
			gap_add(v, &gap, i, l->insns.v[i].counts);
			continue;
		}
		gap_end(v, &gap, "instruction", i);
		emit_insn(v, &l->insns.v[i], false);
	}
	gap_end(v, &gap, "instruction", (uint32_t)l->insns.n);
}

/* The instructions of line I (or of no line: LINE_NONE), a gap between them marked. */
static void emit_insns_of(struct list *v, uint32_t line)
{
	const struct listing *l = v->l;
	const struct listing_insn *last = NULL;

	vec_each (in, &l->insns) {
		if (in->line != line || (v->o.hot && in->heat == HEAT_NONE))
			continue;
		if (last && last + 1 != in)
			emit_mark(v, "        ...", NULL);
		emit_insn(v, in, true);
		last = in;
	}
}

static void emit_file(struct list *v, const char *file)
{
	_str_ struct str s = {0};

	struct emit_cell *cell = count_cells(v, NULL);

	if (v->e->format != EMIT_TABLE)
		return;
	str_addf(&s, "[%s]", file);
	cell[CELL_TEXT] = (struct emit_cell){.s = keep_text(v, &s), .is_path = true};
	list_row(v);
}

static void emit_lines(struct list *v)
{
	const struct listing *l = v->l;
	const char *file = l->file;
	struct list_gap gap = {0};

	for (uint32_t i = 0; i < l->lines.n; i++) {
		const struct listing_line *line = &l->lines.v[i];

		if (!line->text && !line->counts)
			continue;
		if (v->o.hot && line->heat == HEAT_NONE) {
			gap_add(v, &gap, i, line->counts);
			continue;
		}
		gap_end(v, &gap, "line", i);
		if (!file || strcmp(file, line->file) != 0)
			emit_file(v, file = line->file);
		emit_line(v, line);
		if (v->o.mode == LIST_BOTH)
			emit_insns_of(v, i);
	}
	gap_end(v, &gap, "line", (uint32_t)l->lines.n);
}

static bool has_stray_insns(const struct listing *l)
{
	vec_each (in, &l->insns)
		if (in->line == LINE_NONE)
			return true;
	return false;
}

/* Instructions without a line come last, so that the rows add up to the procedure. */
static void emit_strays(struct list *v)
{
	double *sum;

	if (!has_stray_insns(v->l))
		return;
	emit_mark(v, "[no line]", NULL);
	if (v->o.mode == LIST_BOTH) {
		emit_insns_of(v, LINE_NONE);
		return;
	}
	sum = xcalloc(v->l->n_cols + 1, sizeof(*sum));
	vec_each (in, &v->l->insns)
		for (unsigned c = 0; c < v->l->n_cols; c++)
			sum[c] += in->line == LINE_NONE ? in->counts[c] : 0;
	cols_evaluate(v->columns, sum);
	count_cells(v, sum);
	list_row(v);
	free(sum);
}

static void emit_procedure(struct emit *e, const struct listing *l)
{
	struct json *j = emit_json(e);
	_str_ struct str s = {0};
	char hex[20];

	if (j) {
		json_add_str(j, "procedure", l->procedure);
		json_add_str(j, "inlined_into", l->into);
		json_add_str(j, "image", l->image);
		json_add_str(j, "build_id", l->build_id);
		snprintf(hex, sizeof(hex), "%#" PRIx64, l->start);
		json_add_str(j, "start", hex);
		snprintf(hex, sizeof(hex), "%#" PRIx64, l->end);
		json_add_str(j, "end", hex);
		json_add_bool(j, "code_is_kept", l->is_kept);
		json_add_bool(j, "source_is_newer", l->is_source_newer);
	}
	text_show(&s, l->procedure);
	if (l->into) {
		str_add(&s, ", inlined into ");
		text_show(&s, l->into);
	}
	str_add(&s, l->image ? " in " : "");
	text_show(&s, l->image ? l->image : "");
	if (l->end > l->start && !l->is_script)
		str_addf(&s, ", %#" PRIx64 "-%#" PRIx64, l->start, l->end);
	emit_text(e, "%s\n", str_get(&s));
	if (l->is_kept)
		emit_text(e, "the file that was profiled is gone; its code was kept\n");
	str_reset(&s);
	if (l->file) {
		text_show(&s, l->file);
		emit_text(e, "%s%s\n", str_get(&s),
			  l->is_source_newer ? " (changed after the image was made)" : "");
	}
	emit_text(e, "\n");
}

#define MOST_CANDIDATES 10 /* in tables */

static struct emit_cell candidate_cell(const struct emit *e, const struct column *c, double n)
{
	double shown = e->format == EMIT_TABLE ? column_shown(c, n) : n;

	return c->kind == COLUMN_REAL ? (struct emit_cell){.d = shown}
				      : (struct emit_cell){.u = (uint64_t)shown};
}

/* What the name may mean, when that is more than one thing. */
static void emit_candidates(struct emit *e, const struct columns *columns, const struct listing *l)
{
	const struct column *c = &columns->cols.v[columns->hide];
	struct amounts amounts = {0};
	struct emit_col cols[] = {
		{0},
		{"percent", "of all", EMIT_PERCENT, .in = EMIT_IN_TABLE, .hot = true},
		{"start", NULL, EMIT_HEX},
		{"procedure", NULL, EMIT_STR, .cut = TEXT_END},
		{"into", "inlined into", EMIT_STR, .in = EMIT_IN_JSON, .cut = TEXT_END},
		{"image", NULL, EMIT_STR, .cut = TEXT_PATH},
	};
	size_t n = e->format == EMIT_TABLE && l->candidates.n > MOST_CANDIDATES ? MOST_CANDIDATES
										: l->candidates.n;

	if (l->candidates.n < 2)
		return;
	vec_each (k, &l->candidates) {
		amounts_note_one(&amounts, column_shown(c, k->samples));
		if (k->into)
			cols[4].in = EMIT_IN_JSON | EMIT_IN_TABLE;
	}
	cols[0] = amount_col(c, &amounts, "samples", c->title, NULL, 0);
	emit_text(e, "%zu procedures are called so; listed is the first%s\n\n", l->candidates.n,
		  n < l->candidates.n ? " of these, the hottest" : "");
	emit_table(e, "candidates", cols, n_elems(cols));
	for (size_t i = 0; i < n; i++) {
		const struct listing_candidate *k = &l->candidates.v[i];
		struct emit_cell cells[] = {
			candidate_cell(e, c, k->samples),
			percent_cell(k->samples, c->total),
			{.u = k->start},
			{.s = k->procedure},
			{.s = k->into},
			{.s = k->image},
		};

		emit_row(e, cells);
	}
	emit_table_end(e);
	emit_text(e, "\n");
}

void list_emit_procedure(struct emit *e, const struct columns *columns, const struct listing *l,
			 bool no_header)
{
	if (no_header && e->format != EMIT_JSON)
		return;
	emit_candidates(e, columns, l);
	emit_procedure(e, l);
}

static size_t count_lines(const struct str *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += s->v[i] == '\n';
	return n;
}

static size_t emit_rows(struct emit *e, const struct columns *columns, const struct listing *l,
			const struct list_opts *o)
{
	struct list v = {.e = e, .columns = columns, .l = l, .o = *o};
	const enum list_mode mode = o->mode;
	size_t first;

	arrows_init(&v.arrows, l, most_lanes(e));
	make_cols(&v, mode);
	list_emit_procedure(e, columns, l, o->no_header);
	emit_rows_by(e, mode == LIST_ASM      ? "address"
			: mode == LIST_SOURCE ? "line"
					      : "line,address");
	first = e->format == EMIT_TABLE ? count_lines(e->out) : 0;
	emit_table(e, "rows", v.cols, v.n_cols);
	if (mode == LIST_ASM) {
		emit_insns(&v);
	} else {
		emit_lines(&v);
		emit_strays(&v);
	}
	emit_table_end(e);
	free(v.order);
	free(v.cols);
	free(v.cells);
	arrows_release(&v.arrows);
	arena_release(&v.arena);
	return v.open_row ? first + 1 + v.open_row : 0;
}

size_t list_emit(struct emit *e, struct source *s, const struct listing *l,
		 const struct list_opts *o)
{
	size_t at;

	emit_begin(e);
	about_emit(e, s, o->no_header);
	at = emit_rows(e, &s->columns, l, o);
	emit_end(e);
	return at;
}
