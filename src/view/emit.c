/* SPDX-License-Identifier: BSD-2-Clause */
/* See emit.h.
 *
 * JSON and CSV rows are written as they come.  A table's widths depend on all rows, so its cells
 * are kept (of texts only shortened names) until emit_table_end, which goes over them twice: once
 * for the widths, once to write.  Text columns stand left, numbers right, and no line ends in
 * blanks. */
#include "view/emit.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text_name.h"
#include "view/fit.h"

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
	arena_release(&e->texts);
}

/* Whether lines have to fit. */
static bool emit_on_screen(const struct emit *e)
{
	return e->terminal && !e->full_names;
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
	if (emit_on_screen(e))
		text_fold(e->out, text, e->width, 2);
	else
		str_addn(e->out, text, (size_t)n);
	free(text);
}

void emit_add_name(const struct emit *e, struct str *out, const char *name)
{
	_str_ struct str s = {0};

	if (e->full_names || text_name_is_short(name)) {
		text_show(out, name);
		return;
	}
	text_add_short_name(&s, name);
	text_show(out, str_get(&s));
}

/* NAME as tables show it, but for what text_show makes safe. */
static const char *short_name(struct emit *e, const char *name)
{
	_str_ struct str s = {0};

	if (e->full_names || text_name_is_short(name))
		return name;
	text_add_short_name(&s, name);
	return arena_strdup(&e->texts, str_get(&s));
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
	s += strspn(s, "\t");
	return *s && s[1] && strchr("=+-@", *s);
}

/* S as text_show has it, with the tabs of source lines. */
static void csv_show(struct str *out, const char *s)
{
	_mem_ char *copy = xstrdup(s);
	char *rest = copy;

	for (char *part; (part = strsep(&rest, "\t"));) {
		text_show(out, part);
		if (rest)
			str_addc(out, '\t');
	}
}

static void csv_field(struct emit *e, const char *s)
{
	struct str shown = {0};

	if (looks_like_formula(s))
		str_addc(&shown, '\'');
	/* Somebody will show the file on a terminal. */
	csv_show(&shown, s);
	s = str_get(&shown);
	if (strpbrk(s, ",\"")) {
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
}

static void csv_cell(struct emit *e, const struct emit_col *c, const struct emit_cell *cell)
{
	char number[JSON_DOUBLE_MAX];

	switch (cell->none ? EMIT_STR : c->type) {
	case EMIT_STR:
		csv_field(e, cell->none || !cell->s ? "" : cell->s);
		break;
	case EMIT_U64:
	case EMIT_TIME:
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
	case EMIT_TIME:
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

/* Whole numbers and percents are written without printf, which took a sixth of a large table's
 * time. */
static char *put_whole(char *at, uint64_t n)
{
	char digits[20], *p = digits + sizeof(digits);
	size_t n_digits;

	do {
		*--p = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	n_digits = (size_t)(digits + sizeof(digits) - p);
	memcpy(at, p, n_digits);
	at[n_digits] = '\0';
	return at + n_digits;
}

static void percent_text(double pct, char ret[NUMBER_MAX])
{
	if (pct >= 0 && pct < 1e9) {
		const uint64_t hundredths = (uint64_t)(pct * 100 + 0.5);
		char *at = put_whole(ret, hundredths / 100);

		*at++ = '.';
		*at++ = (char)('0' + hundredths % 100 / 10);
		*at++ = (char)('0' + hundredths % 10);
		*at++ = '%';
		*at = '\0';
	} else {
		snprintf(ret, NUMBER_MAX, "%.2f%%", pct);
	}
}

/* "%.*f". */
static void fixed_text(double d, unsigned decimals, char ret[NUMBER_MAX])
{
	if (!decimals && d >= 0 && d < 1e15 && d == (double)(uint64_t)d && !signbit(d))
		put_whole(ret, (uint64_t)d);
	else
		snprintf(ret, NUMBER_MAX, "%.*f", decimals, d);
}

static void plain_text(const struct emit_col *c, const struct emit_cell *cell, char ret[NUMBER_MAX])
{
	switch (c->type) {
	case EMIT_STR:
		ret[0] = '\0';
		break;
	case EMIT_U64:
		put_whole(ret, cell->u);
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
	case EMIT_TIME:
		snprintf(ret, NUMBER_MAX, "%.*f", c->decimals, (double)cell->u / 1e9);
		break;
	case EMIT_FIXED:
		fixed_text(cell->d, c->decimals, ret);
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

/* Appends what a table shows of CELL, but for columns that are filled. */
static void cell_text(const struct emit_col *c, const struct emit_cell *cell, struct str *ret)
{
	char number[NUMBER_MAX + 1];

	if (c->type == EMIT_STR) {
		text_show(ret, cell->none || !cell->s ? "" : cell->s);
	} else if (!cell->none || cell->mark) {
		number_text(c, cell, number);
		str_add(ret, number);
	}
}

static size_t cell_width(const struct emit_col *c, const struct emit_cell *cell)
{
	char number[NUMBER_MAX + 1];

	if (cell->none && !cell->mark)
		return 0;
	if (c->type != EMIT_STR) {
		number_text(c, cell, number);
		return strlen(number);
	}
	return cell->none || !cell->s ? 0 : text_width(cell->s);
}

static const char *emit_title(const struct emit_col *c)
{
	return c->title ? c->title : c->key;
}

static size_t gap_before(const struct emit_col *c, bool first)
{
	return first ? 0 : GAP + (c->type == EMIT_STR);
}

/* --- columns on a screen --- */

/* Sets C's widths by its N cells, which stand N_COLS apart.  WIDER has room for LIMIT + 1. */
static void measure_column(const struct emit *e, unsigned i, size_t limit, struct fit_col *ret,
			   unsigned *wider)
{
	const struct emit_col *c = &e->cols[i];
	const bool is_text = c->type == EMIT_STR;

	*ret = (struct fit_col){.natural = text_width(emit_title(c)),
				.gap = gap_before(c, false),
				.cut = is_text ? c->cut : TEXT_WHOLE,
				.spare = c->spare,
				.wider = is_text ? wider : NULL,
				.left_out = !is_in(c, EMIT_IN_TABLE)};
	for (size_t k = i; k < e->cells.n && !ret->left_out; k += e->n_cols) {
		size_t w = c->cut == TEXT_FILL ? limit : cell_width(c, &e->cells.v[k]);

		ret->natural = w > ret->natural ? w : ret->natural;
		ret->least = w > ret->least ? w : ret->least;
		w = w < limit ? w : limit;
		if (w)
			wider[w - 1]++;
	}
	for (size_t w = limit; w-- > 0;)
		wider[w] += wider[w + 1];
}

/* Says which columns there was no room for, but for the most spare ones. */
static void name_left_out(struct emit *e, const struct fit_col *fits)
{
	struct str names = {0};

	for (unsigned i = 0; i < e->n_cols && !e->table_alone; i++) {
		if (!fits[i].left_out || !is_in(&e->cols[i], EMIT_IN_TABLE) ||
		    e->cols[i].spare >= EMIT_SPARE_UNSAID)
			continue;
		str_add(&names, names.n ? ", " : "");
		text_show(&names,
			  *emit_title(&e->cols[i]) ? emit_title(&e->cols[i]) : e->cols[i].key);
	}
	if (names.n)
		emit_text(e, "no room for: %s\n", names.v);
	str_release(&names);
}

static void fit_to_screen(const struct emit *e, struct fit_col *fits)
{
	const size_t limit = e->width;
	unsigned *wider = xcalloc((limit + 2) * e->n_cols, sizeof(*wider));

	for (unsigned i = 0; i < e->n_cols; i++)
		measure_column(e, i, limit, &fits[i], wider + i * (limit + 2));
	fit_columns(fits, e->n_cols, limit);
	for (unsigned i = 0; i < e->n_cols; i++)
		fits[i].wider = NULL;
	free(wider);
}

/* The number of the last column that is shown. */
static unsigned last_shown(const struct emit *e, const struct fit_col *fits)
{
	unsigned i = e->n_cols;

	while (i > 1 && fits[i - 1].left_out)
		i--;
	return i - 1;
}

/* Columns where lines may be as long as they are. */
static void find_widths(const struct emit *e, struct fit_col *fits)
{
	unsigned last;

	for (unsigned i = 0; i < e->n_cols; i++) {
		fits[i].width = text_width(emit_title(&e->cols[i]));
		fits[i].left_out = !is_in(&e->cols[i], EMIT_IN_TABLE);
	}
	last = last_shown(e, fits);
	for (size_t k = 0; k < e->cells.n; k += e->n_cols) {
		for (unsigned i = 0; i < e->n_cols; i++) {
			size_t w;

			/* Nothing is behind the last. */
			if (fits[i].left_out || e->cols[i].cut == TEXT_FILL ||
			    (i == last && e->cols[i].type == EMIT_STR))
				continue;
			w = cell_width(&e->cols[i], &e->cells.v[k + i]);
			if (e->cols[i].type == EMIT_STR && w > WIDEST_PAD)
				w = WIDEST_PAD;
			if (w > fits[i].width)
				fits[i].width = w;
		}
	}
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

/* Appends TEXT folded to WIDTH columns, its lines behind the first indented by AT. */
static void add_folded(struct emit *e, const char *text, size_t width, size_t at)
{
	struct str lines = {0};

	text_fold(&lines, text, width, 0);
	for (const char *s = str_get(&lines); *s; s++) {
		str_addc(e->out, *s);
		if (*s == '\n')
			add_blanks(e->out, at);
	}
	str_release(&lines);
}

/* Appends S, "[path]", cut to WIDTH columns: the end of a path says most.  Returns the columns
 * used. */
static size_t add_bracketed_path(struct str *out, const char *s, size_t width)
{
	if (*s != '[' || width < 5 || text_width(s) <= width)
		return text_add_cut(out, s, TEXT_PATH, width);
	str_addc(out, *s);
	return 1 + text_add_cut(out, s + 1, TEXT_PATH, width - 1);
}

static void table_line(struct emit *e, const struct fit_col *fits, const struct emit_cell *cells)
{
	const bool cuts = emit_on_screen(e);
	const unsigned last = last_shown(e, fits);
	struct str text = {0};
	bool first = true;
	size_t owed = 0; /* blanks due before the next text; none are owed at the end */
	size_t at = 0;	 /* where the column begins */

	for (unsigned i = 0; i < e->n_cols; i++) {
		const struct emit_col *c = &e->cols[i];
		const size_t width = fits[i].width;
		const char *colour = NULL;
		size_t used;

		if (fits[i].left_out)
			continue;
		owed += gap_before(c, first);
		at += gap_before(c, first);
		first = false;
		str_reset(&text);
		if (!cells)
			str_add(&text, emit_title(c));
		else if (c->cut == TEXT_FILL)
			e->fill(e->fill_ctx, cells[i].u, cuts ? width : SIZE_MAX, &text);
		else
			cell_text(c, &cells[i], &text);
		if (cells && e->colour && c->hot && c->type != EMIT_STR && !cells[i].none)
			colour = percent_colour(cells[i].d);
		if (!text.n) {
			owed += width;
			at += width;
			continue;
		}
		used = c->type == EMIT_STR ? 0 : text_width(text.v);
		if (c->type != EMIT_STR && used < width)
			owed += width - used;
		add_blanks(e->out, owed);
		if (colour)
			str_add(e->out, colour);
		if (c->cut == TEXT_FILL && cells) {
			/* It is the last, and may have colours. */
			str_add(e->out, text.v);
			used = width;
		} else if (cuts && c->cut == TEXT_FOLD && cells) {
			add_folded(e, text.v, width, at);
			used = width;
		} else if (!cuts && i == last) {
			str_add(e->out, text.v);
			used = width;
		} else if (cuts && cells && cells[i].is_path) {
			used = add_bracketed_path(e->out, text.v, width);
		} else {
			used = text_add_cut(e->out, text.v,
					    !cuts			   ? TEXT_WHOLE
					    : c->type == EMIT_STR && cells ? c->cut
									   : TEXT_END,
					    width);
		}
		if (colour)
			str_add(e->out, "\033[m");
		owed = c->type == EMIT_STR && used < width ? width - used : 0;
		at += width;
	}
	str_addc(e->out, '\n');
	str_release(&text);
}

void emit_table(struct emit *e, const char *key, const struct emit_col *cols, unsigned n_cols)
{
	e->cols = cols;
	e->n_cols = n_cols;
	e->cells.n = 0;
	e->is_rows = strcmp(key, "rows") == 0;
	e->skipped = e->format == EMIT_CSV && !e->is_rows;
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
		for (unsigned i = 0; i < e->n_cols; i++) {
			struct emit_cell cell = cells[i];

			if (e->cols[i].cut == TEXT_NAME && !cell.none && cell.s)
				cell.s = short_name(e, cell.s);
			e->cells.v[e->cells.n++] = cell;
		}
	}
}

void emit_table_end(struct emit *e)
{
	struct fit_col *fits;

	if (e->format == EMIT_JSON)
		json_end(&e->json, ']');
	if (e->format != EMIT_TABLE || !e->cells.n)
		return;
	fits = xcalloc(e->n_cols, sizeof(*fits));
	if (emit_on_screen(e))
		fit_to_screen(e, fits);
	else
		find_widths(e, fits);
	if (e->colour)
		str_add(e->out, "\033[1m");
	table_line(e, fits, NULL);
	if (e->is_rows)
		e->rows_at = e->out->n;
	if (e->colour)
		str_add(e->out, "\033[m");
	for (size_t k = 0; k < e->cells.n; k += e->n_cols)
		table_line(e, fits, e->cells.v + k);
	if (e->is_rows)
		e->rows_end = e->out->n;
	e->cells.n = 0;
	arena_release(&e->texts);
	name_left_out(e, fits);
	free(fits);
}
