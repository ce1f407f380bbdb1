/* SPDX-License-Identifier: BSD-2-Clause */
/* See list_html.h, and page.h for what a page may do.
 *
 * The data block is JSON:
 *
 *     procedure, into, image, file, kept, newer, account    what is listed
 *     short     procedure and into, shortened as in tables; so are names
 *     columns   [{title, total, all, adds, decimals}]        what rows have numbers of
 *     candidates [{procedure, into, image, samples}]
 *     files, names                                           texts that rows refer to by number
 *     lines     [file, line, text, heat, [numbers]]          text and numbers may be null
 *     insns     [svma, text, line, heat, [loops], inlined, [numbers]]
 *     arrows    [lo, hi, target, lane]
 *
 * Numbers of rows refer to others by position, -1 for none; numbers are as tables show them. */
#include "view/list_html.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/text_name.h"
#include "query/rows/listing_arrows.h"
#include "view/amounts.h"
#include "view/list_page.h"
#include "view/page.h"

/* A page being made. */
struct list_html {
	struct json *j;
	const struct columns *columns;
	const struct listing *l;
	unsigned *order, n_shown;
	VEC(const char *) texts; /* files, then functions */
};

static void json_member(struct json *j, const char *key, const char *text)
{
	json_key(j, key);
	json_str(j, text);
}

static int64_t text_number(const struct list_html *h, size_t from, const char *text)
{
	for (size_t i = from; text && i < h->texts.n; i++)
		if (strcmp(h->texts.v[i], text) == 0)
			return (int64_t)(i - from);
	return -1;
}

static void json_columns(struct list_html *h)
{
	json_key(h->j, "columns");
	json_begin(h->j, '[');
	for (unsigned i = 0; i < h->n_shown; i++) {
		const struct column *c = &h->columns->cols.v[h->order[i]];

		json_begin(h->j, '{');
		json_member(h->j, "title", c->title);
		json_key(h->j, "total");
		json_double(h->j, column_shown(c, h->l->total[h->order[i]]));
		json_key(h->j, "all");
		json_double(h->j, column_shown(c, c->total));
		json_key(h->j, "adds");
		json_bool(h->j, c->adds_up);
		json_end(h->j, '}');
	}
	json_end(h->j, ']');
}

static void json_counts(struct list_html *h, const double *counts)
{
	if (!counts) {
		json_str(h->j, NULL);
		return;
	}
	json_begin(h->j, '[');
	for (unsigned i = 0; i < h->n_shown; i++) {
		const unsigned c = h->order[i];
		const double n = column_shown(&h->columns->cols.v[c], counts[c]);

		json_double(h->j, isfinite(n) ? n : 0);
	}
	json_end(h->j, ']');
}

static void json_short(struct list_html *h, const char *name)
{
	_str_ struct str s = {0};

	text_add_short_name(&s, name);
	json_str(h->j, str_get(&s));
}

static void json_shorts(struct list_html *h)
{
	json_key(h->j, "short");
	json_begin(h->j, '[');
	json_short(h, h->l->procedure);
	if (h->l->into)
		json_short(h, h->l->into);
	json_end(h->j, ']');
}

static void json_names(struct list_html *h, size_t from)
{
	json_key(h->j, "names");
	json_begin(h->j, '[');
	for (size_t i = from; i < h->texts.n; i++)
		json_short(h, h->texts.v[i]);
	json_end(h->j, ']');
}

static void json_texts(struct list_html *h, const char *key, size_t from, size_t end)
{
	json_key(h->j, key);
	json_begin(h->j, '[');
	for (size_t i = from; i < end; i++)
		json_str(h->j, h->texts.v[i]);
	json_end(h->j, ']');
}

static void json_lines(struct list_html *h)
{
	json_key(h->j, "lines");
	json_begin(h->j, '[');
	vec_each (line, &h->l->lines) {
		json_begin(h->j, '[');
		json_i64(h->j, text_number(h, 0, line->file));
		json_u64(h->j, line->line);
		json_str(h->j, line->text);
		json_u64(h->j, line->heat);
		json_counts(h, line->counts);
		json_end(h->j, ']');
	}
	json_end(h->j, ']');
}

static void json_insns(struct list_html *h, size_t n_files)
{
	char hex[20];

	json_key(h->j, "insns");
	json_begin(h->j, '[');
	vec_each (in, &h->l->insns) {
		snprintf(hex, sizeof(hex), "%" PRIx64, in->svma);
		json_begin(h->j, '[');
		json_str(h->j, hex);
		json_str(h->j, in->text);
		json_i64(h->j, in->line == LINE_NONE ? -1 : (int64_t)in->line);
		json_u64(h->j, in->heat);
		json_begin(h->j, '[');
		for (unsigned i = 0; i < in->n_loops; i++) {
			snprintf(hex, sizeof(hex), "%" PRIx64, in->loops[i]);
			json_str(h->j, hex);
		}
		json_end(h->j, ']');
		json_i64(h->j, text_number(h, n_files, in->inlined));
		json_counts(h, in->counts);
		json_end(h->j, ']');
	}
	json_end(h->j, ']');
}

static void json_arrows(struct list_html *h)
{
	struct arrows a;

	arrows_init(&a, h->l, ARROW_LANES);
	json_key(h->j, "arrows");
	json_begin(h->j, '[');
	for (unsigned lane = 0; lane < a.n_lanes; lane++) {
		vec_each (at, &a.lanes[lane]) {
			json_begin(h->j, '[');
			json_u64(h->j, at->lo);
			json_u64(h->j, at->hi);
			json_u64(h->j, at->target);
			json_u64(h->j, lane);
			json_end(h->j, ']');
		}
	}
	json_end(h->j, ']');
	json_key(h->j, "jumps");
	json_begin(h->j, '[');
	vec_each (in, &h->l->insns)
		json_i64(h->j, in->jumps_to == INSN_NONE ? -1 : (int64_t)in->jumps_to);
	json_end(h->j, ']');
	arrows_release(&a);
}

static void json_candidates(struct list_html *h)
{
	const struct column *c = &h->columns->cols.v[h->columns->hide];

	json_key(h->j, "candidates");
	json_begin(h->j, '[');
	vec_each (k, &h->l->candidates) {
		json_begin(h->j, '{');
		json_member(h->j, "procedure", k->procedure);
		json_member(h->j, "into", k->into);
		json_member(h->j, "image", k->image);
		json_key(h->j, "samples");
		json_double(h->j, column_shown(c, k->samples));
		json_end(h->j, '}');
	}
	json_end(h->j, ']');
}

static void json_listing(struct list_html *h, const char *account)
{
	const struct listing *l = h->l;
	size_t n_files;

	vec_each (line, &l->lines)
		if (text_number(h, 0, line->file) < 0)
			vec_push(&h->texts, line->file);
	n_files = h->texts.n;
	vec_each (in, &l->insns)
		if (in->inlined && text_number(h, n_files, in->inlined) < 0)
			vec_push(&h->texts, in->inlined);
	json_begin(h->j, '{');
	json_member(h->j, "procedure", l->procedure);
	json_member(h->j, "into", l->into);
	json_shorts(h);
	json_member(h->j, "image", l->image);
	json_member(h->j, "file", l->file);
	json_key(h->j, "kept");
	json_bool(h->j, l->is_kept);
	json_key(h->j, "newer");
	json_bool(h->j, l->is_source_newer);
	json_member(h->j, "account", account);
	json_member(h->j, "why_no_code", l->has_code ? NULL : l->why_no_code.msg);
	json_member(h->j, "why_no_source", l->has_source ? NULL : l->why_no_source.msg);
	json_columns(h);
	json_candidates(h);
	json_texts(h, "files", 0, n_files);
	json_names(h, n_files);
	json_lines(h);
	json_insns(h, n_files);
	json_arrows(h);
	json_end(h->j, '}');
}

void list_data(struct str *out, struct source *s, const struct listing *l, const char *account)
{
	struct json j = json_init(out, 0);
	struct list_html h = {.j = &j, .columns = &s->columns, .l = l};

	h.order = xcalloc(s->columns.cols.n + 1, sizeof(*h.order));
	h.n_shown = cols_order(&s->columns, h.order);
	json_listing(&h, account);
	free(h.order);
	vec_release(&h.texts);
}

void list_page(struct str *out, struct source *s, const struct listing *l, const char *account)
{
	struct str text = {0}, title = {0}, style = {0};
	struct wr data = {0};

	list_data(&text, s, l, account);
	wr_bytes(&data, text.v, text.n);
	text_show(&title, l->procedure);
	str_addf(&style, "%s%s", list_page_style, list_page_more);
	page_add(out,
		 &(struct page){.title = str_get(&title),
				.generator = "dwell list",
				.body = list_page_body,
				.style = str_get(&style),
				.script = list_page_script},
		 &data, NULL);
	str_release(&text);
	str_release(&title);
	str_release(&style);
	wr_release(&data);
}
