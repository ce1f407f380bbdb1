/* SPDX-License-Identifier: BSD-2-Clause */
/* The graph of a procedure as a page.  Its data block is a JSON array: the document of `dwell calc
 * --json`, and {"account": TEXT}, what was recorded and lost. */
#include "base/cleanup.h"
#include "base/text.h"
#include "view/about.h"
#include "view/calc.h"
#include "view/graph_page.h"
#include "view/page.h"

/* The two parts of the data block. */
static void add_data(struct str *out, struct source *s, const struct listing *l,
		     const struct calc *c)
{
	_str_ struct str account = {0};
	struct emit numbers = {.out = out, .format = EMIT_JSON};
	struct emit about = {.out = &account, .format = EMIT_TABLE};
	struct json j;

	emit_begin(&about);
	about_emit(&about, s, false);
	emit_end(&about);
	str_addc(out, '[');
	calc_emit(&numbers, s, l, c, &(struct calc_view){0});
	str_addc(out, ',');
	j = json_init(out, 0);
	json_begin(&j, '{');
	json_key(&j, "account");
	json_str(&j, str_get(&account));
	json_end(&j, '}');
	str_addc(out, ']');
}

void calc_page(struct str *out, struct source *s, const struct listing *l, const struct calc *c)
{
	_str_ struct str text = {0}, title = {0}, style = {0};
	struct wr data = {0};

	add_data(&text, s, l, c);
	wr_bytes(&data, text.v, text.n);
	text_show(&title, l->procedure);
	str_addf(&style, "%s%s", graph_page_style, graph_page_more);
	page_add(out,
		 &(struct page){.title = str_get(&title),
				.generator = "dwell calc",
				.body = graph_page_body,
				.style = str_get(&style),
				.script = graph_page_script},
		 &data, NULL);
	wr_release(&data);
}
