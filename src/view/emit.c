/* SPDX-License-Identifier: BSD-2-Clause */
/* See emit.h.
 *
 * JSON and CSV rows are written as they come.  A table's widths depend on all rows, so its cells
 * are kept (not their texts) until emit_table_end, which goes over them twice: once for the widths,
 * once to write.  Text columns stand left, numbers right, and no line ends in blanks. */
#include "view/emit.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define GAP	   1  /* blanks between columns, one more before a text */
#define WIDEST_PAD 60 /* off a terminal a longer text pushes its own line only */

void emit_begin(struct emit *e)
{
	e->json = json_init(e->out, 2);
	if (e->format != EMIT_JSON)
		return;
	json_begin(&e->json, '{');
	json_key(&e->json, "schema");
	json_u64(&e->json, EMIT_SCHEMA);
}

void emit_rows_by(struct emit *e, const char *what)
{
	if (e->format != EMIT_JSON)
		return;
	json_key(&e->json, "rows_by");
	json_str(&e->json, what);
}

void emit_end(struct emit *e)
{
	if (e->format == EMIT_JSON) {
		json_end(&e->json, '}');
		str_addc(e->out, '\n');
	}
	vec_release(&e->cells);
}

void emit_text(struct emit *e, const char *fmt, ...)
{
	char *text;
	va_list ap;
	int n;

	if (e->format != EMIT_TABLE)
		return;
	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	str_addn(e->out, text, (size_t)n);
	free(text);
}

struct json *emit_json(struct emit *e)
{
	return e->format == EMIT_JSON ? &e->json : NULL;
}

static bool is_in(const struct emit_col *c, unsigned format_bit)
{
	return !c->in || (c->in & format_bit);
}

/* --- CSV --- */

/* What begins like a formula would be one to a spreadsheet: names come from anybody's programs. */
static bool looks_like_formula(const char *s)
{
	return *s && s[1] && strchr("=+-@", *s);
}

static void csv_field(struct emit *e, const char *s)
{
	struct str shown = {0}, inert = {0};

	if (looks_like_formula(s)) {
		str_addf(&inert, "'%s", s);
		s = str_get(&inert);
	}
	if (e->terminal) {
		text_show(&shown, s);
		s = str_get(&shown);
	}
	if (strpbrk(s, ",\"\r\n")) {
		str_addc(e->out, '"');
		for (; *s; s++) {
			if (*s == '"')
				str_addc(e->out, '"');
			str_addc(e->out, *s);
		}
		str_addc(e->out, '"');
	} else {
		str_add(e->out, s);
	}
	str_release(&shown);
	str_release(&inert);
}

static void csv_cell(struct emit *e, const struct emit_col *c, const struct emit_cell *cell)
{
	char number[JSON_DOUBLE_MAX];

	switch (cell->none ? EMIT_STR : c->type) {
	case EMIT_STR:
		csv_field(e, cell->none || !cell->s ? "" : cell->s);
		break;
	case EMIT_U64:
		str_addf(e->out, "%" PRIu64, cell->u);
		break;
	case EMIT_HEX:
		str_addf(e->out, "%#" PRIx64, cell->u);
		break;
	case EMIT_PERCENT:
	case EMIT_REAL:
		str_addf(e->out, "%.6g", cell->d);
		break;
	case EMIT_FIXED:
		json_double_text(cell->d, number);
		str_add(e->out, number);
		break;
	}
}

/* A line of CSV: the headings when CELLS is NULL. */
static void csv_line(struct emit *e, const struct emit_cell *cells)
{
	bool first = true;

	for (unsigned i = 0; i < e->n_cols; i++) {
		if (!is_in(&e->cols[i], EMIT_IN_CSV))
			continue;
		if (!first)
			str_addc(e->out, ',');
		first = false;
		if (cells)
			csv_cell(e, &e->cols[i], &cells[i]);
		else
			csv_field(e, e->cols[i].key);
	}
	str_add(e->out, "\r\n");
}

/* --- JSON --- */

static void json_cell(struct emit *e, const struct emit_col *c, const struct emit_cell *cell)
{
	struct json *j = &e->json;
	char hex[20];

	json_key(j, c->key);
	switch (cell->none ? EMIT_STR : c->type) {
	case EMIT_STR:
		json_str(j, cell->none ? NULL : cell->s);
		break;
	case EMIT_U64:
		json_u64(j, cell->u);
		break;
	case EMIT_HEX:
		snprintf(hex, sizeof(hex), "%#" PRIx64, cell->u);
		json_str(j, hex);
		break;
	case EMIT_PERCENT:
	case EMIT_REAL:
	case EMIT_FIXED:
		json_double(j, cell->d);
		break;
	}
}

static bool same_group(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* A group is one object, where its first column stands, wherever its other columns do. */
static void json_group(struct emit *e, const struct emit_cell *cells, unsigned first)
{
	const char *group = e->cols[first].group;

	for (unsigned i = 0; i < first; i++)
		if (is_in(&e->cols[i], EMIT_IN_JSON) && same_group(e->cols[i].group, group))
			return;
	json_key(&e->json, group);
	json_begin(&e->json, '{');
	for (unsigned i = first; i < e->n_cols; i++)
		if (is_in(&e->cols[i], EMIT_IN_JSON) && same_group(e->cols[i].group, group))
			json_cell(e, &e->cols[i], &cells[i]);
	json_end(&e->json, '}');
}

static void json_row(struct emit *e, const struct emit_cell *cells)
{
	json_begin(&e->json, '{');
	for (unsigned i = 0; i < e->n_cols; i++) {
		const struct emit_col *c = &e->cols[i];

		if (!is_in(c, EMIT_IN_JSON))
			continue;
		if (c->group)
			json_group(e, cells, i);
		else
			json_cell(e, c, &cells[i]);
	}
	json_end(&e->json, '}');
}

/* --- tables --- */

/* Room for any number a cell can hold: %.2f of the largest double has 309 digits; and a mark. */
#define NUMBER_MAX 340

/* "%.2f%%" without printf's exact arithmetic, which took a tenth of a large table's time. */
static void percent_text(double pct, char ret[NUMBER_MAX])
{
	if (pct >= 0 && pct < 1e9) {
		uint64_t hundredths = (uint64_t)(pct * 100 + 0.5);

		snprintf(ret, NUMBER_MAX, "%" PRIu64 ".%02u%%", hundredths / 100,
			 (unsigned)(hundredths % 100));
	} else {
		snprintf(ret, NUMBER_MAX, "%.2f%%", pct);
	}
}

static void plain_text(const struct emit_col *c, const struct emit_cell *cell, char ret[NUMBER_MAX])
{
	switch (c->type) {
	case EMIT_STR:
		ret[0] = '\0';
		break;
	case EMIT_U64:
		snprintf(ret, NUMBER_MAX, "%" PRIu64, cell->u);
		break;
	case EMIT_HEX:
		snprintf(ret, NUMBER_MAX, "%#" PRIx64, cell->u);
		break;
	case EMIT_PERCENT:
		percent_text(cell->d, ret);
		break;
	case EMIT_REAL:
		snprintf(ret, NUMBER_MAX, "%.4g", cell->d);
		break;
	case EMIT_FIXED:
		snprintf(ret, NUMBER_MAX, "%.*f", c->decimals, cell->d);
		break;
	}
}

static void number_text(const struct emit_col *c, const struct emit_cell *cell,
			char ret[NUMBER_MAX + 1])
{
	*ret = cell->mark;
	ret += cell->mark != 0;
	if (cell->none)
		*ret = '\0';
	else
		plain_text(c, cell, ret);
}

static size_t cell_width(const struct emit_col *c, const struct emit_cell *cell)
{
	char number[NUMBER_MAX + 1];

	if (cell->none && !cell->mark)
		return 0;
	if (c->type == EMIT_STR)
		return cell->none ? 0 : cell->s ? text_width(cell->s) : 0;
	number_text(c, cell, number);
	return strlen(number);
}

static const char *emit_title(const struct emit_col *c)
{
	return c->title ? c->title : c->key;
}

static size_t gap_before(const struct emit_col *c, bool first)
{
	return first ? 0 : GAP + (c->type == EMIT_STR);
}

/* Who gives way first when a line does not fit, and down to how many columns. */
static const struct {
	enum text_cut cut;
	size_t least;
} giving_way[] = {{TEXT_PATH, 24}, {TEXT_END, 24}, {TEXT_NAME, 24},
		  {TEXT_PATH, 12}, {TEXT_END, 12}, {TEXT_NAME, 12}};

/* Narrows the columns that can be cut, of each kind always the widest, until the line fits. */
static void fit(const struct emit *e, size_t *widths)
{
	size_t total = 0, step = 0;
	bool first = true;

	for (unsigned i = 0; i < e->n_cols; i++) {
		if (!is_in(&e->cols[i], EMIT_IN_TABLE))
			continue;
		total += widths[i] + gap_before(&e->cols[i], first);
		first = false;
	}
	while (total > e->width && step < n_elems(giving_way)) {
		unsigned widest = e->n_cols;

		for (unsigned i = 0; i < e->n_cols; i++)
			if (e->cols[i].cut == giving_way[step].cut &&
			    is_in(&e->cols[i], EMIT_IN_TABLE) &&
			    widths[i] > giving_way[step].least &&
			    (widest == e->n_cols || widths[i] > widths[widest]))
				widest = i;
		if (widest == e->n_cols) {
			step++;
			continue;
		}
		widths[widest]--;
		total--;
	}
}

static void find_widths(const struct emit *e, size_t *widths)
{
	unsigned last = 0;

	for (unsigned i = 0; i < e->n_cols; i++) {
		widths[i] = text_width(emit_title(&e->cols[i]));
		if (is_in(&e->cols[i], EMIT_IN_TABLE))
			last = i;
	}
	for (size_t k = 0; k < e->cells.n; k += e->n_cols) {
		for (unsigned i = 0; i < e->n_cols; i++) {
			size_t w;

			if (!is_in(&e->cols[i], EMIT_IN_TABLE))
				continue;
			w = cell_width(&e->cols[i], &e->cells.v[k + i]);
			if (!e->terminal && e->cols[i].type == EMIT_STR && i != last &&
			    w > WIDEST_PAD)
				w = WIDEST_PAD;
			if (w > widths[i])
				widths[i] = w;
		}
	}
	if (e->terminal)
		fit(e, widths);
}

/* The colours perf's users know: red from 5 %, green from 0.5 %. */
static const char *percent_colour(double pct)
{
	return pct >= 5 ? "\033[31m" : pct >= 0.5 ? "\033[32m" : NULL;
}

static void add_blanks(struct str *out, size_t n)
{
	while (n-- > 0)
		str_addc(out, ' ');
}

static void table_line(struct emit *e, const size_t *widths, const struct emit_cell *cells)
{
	struct str text = {0};
	bool first = true;
	size_t owed = 0; /* blanks due before the next text; none are owed at the end */

	for (unsigned i = 0; i < e->n_cols; i++) {
		const struct emit_col *c = &e->cols[i];
		const char *colour = NULL;
		char number[NUMBER_MAX + 1];
		size_t used;

		if (!is_in(c, EMIT_IN_TABLE))
			continue;
		owed += gap_before(c, first);
		first = false;
		str_reset(&text);
		if (!cells) {
			str_add(&text, emit_title(c));
		} else if (c->type == EMIT_STR) {
			text_show(&text, cells[i].none || !cells[i].s ? "" : cells[i].s);
		} else if (!cells[i].none || cells[i].mark) {
			number_text(c, &cells[i], number);
			str_add(&text, number);
			if (e->colour && c->hot && !cells[i].none)
				colour = percent_colour(cells[i].d);
		}
		if (!text.n) {
			owed += widths[i];
			continue;
		}
		if (c->type != EMIT_STR && text.n < widths[i])
			owed += widths[i] - text.n;
		add_blanks(e->out, owed);
		if (colour)
			str_add(e->out, colour);
		used = text_add_cut(e->out, text.v, e->terminal ? c->cut : TEXT_WHOLE, widths[i]);
		if (colour)
			str_add(e->out, "\033[m");
		owed = c->type == EMIT_STR && used < widths[i] ? widths[i] - used : 0;
	}
	str_addc(e->out, '\n');
	str_release(&text);
}

void emit_table(struct emit *e, const char *key, const struct emit_col *cols, unsigned n_cols)
{
	e->cols = cols;
	e->n_cols = n_cols;
	e->cells.n = 0;
	e->skipped = e->format == EMIT_CSV && strcmp(key, "rows") != 0;
	if (e->format == EMIT_JSON) {
		json_key(&e->json, key);
		json_begin(&e->json, '[');
	} else if (e->format == EMIT_CSV && !e->skipped) {
		csv_line(e, NULL);
	}
}

void emit_row(struct emit *e, const struct emit_cell *cells)
{
	if (e->format == EMIT_JSON) {
		json_row(e, cells);
	} else if (e->format == EMIT_CSV) {
		if (!e->skipped)
			csv_line(e, cells);
	} else {
		vec_reserve(&e->cells, e->n_cols);
		memcpy(e->cells.v + e->cells.n, cells, e->n_cols * sizeof(*cells));
		e->cells.n += e->n_cols;
	}
}

void emit_table_end(struct emit *e)
{
	size_t *widths;

	if (e->format == EMIT_JSON)
		json_end(&e->json, ']');
	if (e->format != EMIT_TABLE || !e->cells.n)
		return;
	widths = xcalloc(e->n_cols, sizeof(*widths));
	find_widths(e, widths);
	if (e->colour)
		str_add(e->out, "\033[1m");
	table_line(e, widths, NULL);
	if (e->colour)
		str_add(e->out, "\033[m");
	for (size_t k = 0; k < e->cells.n; k += e->n_cols)
		table_line(e, widths, e->cells.v + k);
	free(widths);
	e->cells.n = 0;
}
