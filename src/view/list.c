/* SPDX-License-Identifier: BSD-2-Clause */
/* See list.h.  Percentages are of the procedure's samples.
 *
 * One table serves all modes: a row is a source line or an instruction.  In tables the last column
 * holds either text; in JSON and CSV each has its own. */
#include "view/list.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/amounts.h"
#include "view/about.h"

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
	unsigned *order, n_shown;
	struct emit_col *cols;
	unsigned n_cols;
	struct emit_cell *cells;
	struct arena arena; /* texts of rows */
};

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
		{"source", NULL, EMIT_STR, .in = mode == LIST_ASM ? EMIT_IN_NONE : asm_in},
		{"instruction", NULL, EMIT_STR, .in = mode == LIST_SOURCE ? EMIT_IN_NONE : asm_in},
		{"text", mode == LIST_ASM ? "      pc  instruction" : "source", EMIT_STR,
		 .in = EMIT_IN_TABLE, .cut = TEXT_END},
	};

	vec_each (in, &v->l->insns)
		amounts_note(amounts, columns, in->counts);
	vec_each (line, &v->l->lines)
		amounts_note(amounts, columns, line->counts);
	v->order = xcalloc(columns->cols.n + 1, sizeof(*v->order));
	v->n_shown = cols_order(columns, v->order);
	v->cols = xcalloc((2 + MOST_MORE_COLS) * v->n_shown + n_elems(last), sizeof(*v->cols));
	for (unsigned i = 0; i < v->n_shown; i++) {
		const struct column *c = &columns->cols.v[v->order[i]];

		v->cols[v->n_cols++] =
			amount_col(c, &amounts[v->order[i]], c->name, c->title, "counts", 0);
		v->cols[v->n_cols++] = (struct emit_col){
			"percent", "%", EMIT_PERCENT,
			.in = c->adds_up ? EMIT_IN_TABLE : EMIT_IN_NONE, .hot = true};
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
	struct str s = {0};
	const char *kept;

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
	kept = keep_text(v, &s);
	str_release(&s);
	return kept;
}

static void emit_insn(struct list *v, const struct listing_insn *in, const char *indent)
{
	const struct listing_line *line = in->line == LINE_NONE ? NULL : &v->l->lines.v[in->line];
	struct emit_cell *cell = count_cells(v, in->counts);
	struct str s = {0};

	if (line) {
		cell[0] = (struct emit_cell){.s = line->file};
		cell[1] = (struct emit_cell){.u = line->line};
	}
	cell[2] = (struct emit_cell){.u = in->svma};
	cell[3] = (struct emit_cell){.s = in->is_target ? ":" : ""};
	cell[5] = (struct emit_cell){.s = in->text};
	if (v->e->format == EMIT_TABLE) {
		cell[1].none = true;
		str_addf(&s, "%s%8" PRIx64 " %c %s", indent, in->svma, in->is_target ? ':' : ' ',
			 in->text ? in->text : "");
		while (s.n && s.v[s.n - 1] == ' ')
			s.v[--s.n] = '\0';
		cell[6] = (struct emit_cell){.s = keep_text(v, &s)};
	}
	emit_row(v->e, v->cells);
	str_release(&s);
}

static void emit_line(struct list *v, const struct listing_line *line)
{
	struct emit_cell *cell = count_cells(v, line->counts);

	cell[0] = (struct emit_cell){.s = line->file};
	cell[1] = (struct emit_cell){.u = line->line};
	cell[4] = (struct emit_cell){.s = line->text};
	if (v->e->format == EMIT_TABLE)
		cell[6] = (struct emit_cell){.s = line->text ? expand_tabs(v, line->text) : NULL};
	emit_row(v->e, v->cells);
}

/* A line for people between rows: the name of a file, "...". */
static void emit_mark(struct list *v, const char *text)
{
	struct emit_cell *cell = count_cells(v, NULL);

	if (v->e->format != EMIT_TABLE)
		return;
	cell[6] = (struct emit_cell){.s = text};
	emit_row(v->e, v->cells);
}

/* The instructions of line I (or of no line: LINE_NONE), a gap between them marked. */
static void emit_insns_of(struct list *v, uint32_t line)
{
	const struct listing *l = v->l;
	const struct listing_insn *last = NULL;

	vec_each (in, &l->insns) {
		if (in->line != line)
			continue;
		if (last && last + 1 != in)
			emit_mark(v, "        ...");
		emit_insn(v, in, "    ");
		last = in;
	}
}

static void emit_lines(struct list *v, bool with_insns)
{
	const struct listing *l = v->l;
	const char *file = l->file;

	for (uint32_t i = 0; i < l->lines.n; i++) {
		const struct listing_line *line = &l->lines.v[i];

		if (!line->text && !line->counts)
			continue;
		if (!file || strcmp(file, line->file) != 0) {
			struct str s = {0};

			file = line->file;
			str_addf(&s, "[%s]", file);
			emit_mark(v, keep_text(v, &s));
			str_release(&s);
		}
		emit_line(v, line);
		if (with_insns)
			emit_insns_of(v, i);
	}
}

static bool has_stray_insns(const struct listing *l)
{
	vec_each (in, &l->insns)
		if (in->line == LINE_NONE)
			return true;
	return false;
}

/* Instructions without a line come last, so that the rows add up to the procedure. */
static void emit_strays(struct list *v, enum list_mode mode)
{
	double *sum;

	if (!has_stray_insns(v->l))
		return;
	emit_mark(v, "[no line]");
	if (mode == LIST_BOTH) {
		emit_insns_of(v, LINE_NONE);
		return;
	}
	sum = xcalloc(v->l->n_cols + 1, sizeof(*sum));
	vec_each (in, &v->l->insns)
		for (unsigned c = 0; c < v->l->n_cols; c++)
			sum[c] += in->line == LINE_NONE ? in->counts[c] : 0;
	cols_evaluate(v->columns, sum);
	count_cells(v, sum);
	emit_row(v->e, v->cells);
	free(sum);
}

static void emit_procedure(struct emit *e, const struct listing *l)
{
	struct json *j = emit_json(e);
	struct str s = {0};
	char hex[20];

	if (j) {
		json_key(j, "procedure");
		json_str(j, l->procedure);
		json_key(j, "image");
		json_str(j, l->image);
		json_key(j, "build_id");
		json_str(j, l->build_id);
		snprintf(hex, sizeof(hex), "%#" PRIx64, l->start);
		json_key(j, "start");
		json_str(j, hex);
		snprintf(hex, sizeof(hex), "%#" PRIx64, l->end);
		json_key(j, "end");
		json_str(j, hex);
		json_key(j, "source_is_newer");
		json_bool(j, l->is_source_newer);
	}
	text_show(&s, l->procedure);
	str_add(&s, l->image ? " in " : "");
	text_show(&s, l->image ? l->image : "");
	if (l->end > l->start)
		str_addf(&s, ", %#" PRIx64 "-%#" PRIx64, l->start, l->end);
	emit_text(e, "%s\n", str_get(&s));
	str_reset(&s);
	if (l->file) {
		text_show(&s, l->file);
		emit_text(e, "%s%s\n", str_get(&s),
			  l->is_source_newer ? " (changed after the image was made)" : "");
	}
	emit_text(e, "\n");
	str_release(&s);
}

static void emit_rows(struct emit *e, const struct columns *columns, const struct listing *l,
		      enum list_mode mode, bool no_header)
{
	struct list v = {.e = e, .columns = columns, .l = l};

	make_cols(&v, mode);
	if (!no_header || e->format == EMIT_JSON)
		emit_procedure(e, l);
	emit_rows_by(e, mode == LIST_ASM      ? "address"
			: mode == LIST_SOURCE ? "line"
					      : "line,address");
	emit_table(e, "rows", v.cols, v.n_cols);
	if (mode == LIST_ASM) {
		vec_each (in, &l->insns)
			emit_insn(&v, in, "");
	} else {
		emit_lines(&v, mode == LIST_BOTH);
		emit_strays(&v, mode);
	}
	emit_table_end(e);
	free(v.order);
	free(v.cols);
	free(v.cells);
	arena_release(&v.arena);
}

void list_emit(struct emit *e, struct source *s, const struct listing *l, enum list_mode mode,
	       bool no_header)
{
	emit_begin(e);
	about_emit(e, s, no_header);
	emit_rows(e, &s->columns, l, mode, no_header);
	emit_end(e);
}
