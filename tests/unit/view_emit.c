/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/emit.h"
#include "t.h"

static const struct emit_col cols[] = {
	{"cycles", NULL, EMIT_U64, .group = "counts"},
	{"imiss", NULL, EMIT_U64, .group = "counts"},
	{"percent", "%", EMIT_PERCENT, .in = EMIT_IN_TABLE, .hot = true},
	{"svma", NULL, EMIT_HEX, .in = EMIT_IN_JSON | EMIT_IN_CSV},
	{"procedure", NULL, EMIT_STR, .cut = TEXT_NAME},
	{"image", NULL, EMIT_STR, .cut = TEXT_PATH},
};

static void emit_two(struct emit *e)
{
	emit_begin(e);
	emit_text(e, "Samples\n");
	emit_table(e, "events", cols, 1);
	emit_row(e, (struct emit_cell[]){{.u = 7}});
	emit_table_end(e);
	if (emit_json(e)) {
		json_key(emit_json(e), "losses");
		json_begin(emit_json(e), '{');
		json_end(emit_json(e), '}');
	}
	emit_rows_by(e, "procedure");
	emit_table(e, "rows", cols, n_elems(cols));
	emit_row(e, (struct emit_cell[]){{.u = 12345},
					 {.u = 0},
					 {.d = 99.5},
					 {.u = 0x401000},
					 {.s = "f(int, char)"},
					 {.s = "/bin/a,\"b\""}});
	emit_row(e, (struct emit_cell[]){{.u = 5},
					 {.none = true},
					 {.d = 0.5},
					 {.u = 16},
					 {.none = true},
					 {.s = "x\033[1m"}});
	emit_table_end(e);
	emit_end(e);
}

static const char *emitted(struct emit e)
{
	static struct str out;

	str_reset(&out);
	e.out = &out;
	emit_two(&e);
	return str_get(&out);
}

TEST(emit_table_aligns)
{
	EXPECT_STR(emitted((struct emit){.format = EMIT_TABLE}),
		   "Samples\n"
		   "cycles\n"
		   "     7\n"
		   "cycles imiss      %  procedure  image\n"
		   " 12345     0 99.50%  f(...)     /bin/a,\"b\"\n"
		   "     5        0.50%             x\\x1b[1m\n");
}

TEST(emit_table_cuts_on_a_terminal)
{
	static const struct emit_col wide[] = {
		{"n", NULL, EMIT_U64},
		{"procedure", NULL, EMIT_STR, .cut = TEXT_NAME},
		{"image", NULL, EMIT_STR, .cut = TEXT_PATH},
	};
	const struct emit_cell row[] = {
		{.u = 1}, {.s = "ns::function(unsigned long)"}, {.s = "/usr/lib/x86_64/libc.so.6"}};
	struct str out = {0};
	struct emit e = {.out = &out, .terminal = true, .width = 40};

	emit_begin(&e);
	emit_table(&e, "rows", wide, n_elems(wide));
	emit_row(&e, row);
	emit_table_end(&e);
	emit_end(&e);
	EXPECT_STR(str_get(&out), "n  procedure          image\n"
				  "1  ns::function(...)  ...86_64/libc.so.6\n");
	str_release(&out);
}

TEST(paths_among_texts_keep_their_end)
{
	static const struct emit_col text[] = {{"source", NULL, EMIT_STR, .cut = TEXT_END}};
	struct str out = {0};
	struct emit e = {.out = &out, .terminal = true, .width = 20};

	emit_begin(&e);
	emit_table(&e, "rows", text, 1);
	emit_row(&e,
		 (struct emit_cell[]){{.s = "[/usr/include/c++/12/bits/map.h]", .is_path = true}});
	emit_row(&e, (struct emit_cell[]){{.s = "[short.h]", .is_path = true}});
	emit_row(&e, (struct emit_cell[]){{.s = "for (int i = 0; i < n; i++)"}});
	emit_table_end(&e);
	emit_end(&e);
	EXPECT_STR(str_get(&out), "source\n"
				  "[...+/12/bits/map.h]\n"
				  "[short.h]\n"
				  "for (int i = 0; i...\n");
	str_release(&out);
}

TEST(emit_table_colours)
{
	struct str out = {0};
	struct emit e = {.out = &out, .terminal = true, .colour = true, .width = 80};

	emit_begin(&e);
	emit_table(&e, "rows", cols + 2, 1);
	emit_row(&e, (struct emit_cell[]){{.d = 50}});
	emit_row(&e, (struct emit_cell[]){{.d = 0.1}});
	emit_table_end(&e);
	emit_end(&e);
	EXPECT_STR(str_get(&out), "\033[1m     %\n\033[m\033[31m50.00%\033[m\n 0.10%\n");
	str_release(&out);
}

TEST(emit_json_document)
{
	EXPECT_STR(emitted((struct emit){.format = EMIT_JSON}),
		   "{\n"
		   "  \"schema\": 1,\n"
		   "  \"events\": [\n"
		   "    {\"counts\": {\"cycles\": 7}}\n"
		   "  ],\n"
		   "  \"losses\": {},\n"
		   "  \"rows_by\": \"procedure\",\n"
		   "  \"rows\": [\n"
		   "    {\"counts\": {\"cycles\": 12345, \"imiss\": 0}, \"svma\": \"0x401000\", "
		   "\"procedure\": \"f(int, char)\", \"image\": \"/bin/a,\\\"b\\\"\"},\n"
		   "    {\"counts\": {\"cycles\": 5, \"imiss\": null}, \"svma\": \"0x10\", "
		   "\"procedure\": null, \"image\": \"x\\u001b[1m\"}\n"
		   "  ]\n"
		   "}\n");
}

/* What a spreadsheet would take for a formula is text there. */
TEST(emit_csv_is_inert)
{
	static const struct emit_col name[] = {{"name", NULL, EMIT_STR}, {"n", NULL, EMIT_U64}};
	static const char *const names[] = {"=1+2", "+x", "-x", "@x", "-", "=a,b", "x=1"};
	struct str out = {0};
	struct emit e = {.out = &out, .format = EMIT_CSV};

	emit_begin(&e);
	emit_table(&e, "rows", name, 2);
	for (size_t i = 0; i < n_elems(names); i++)
		emit_row(&e, (struct emit_cell[]){{.s = names[i]}, {.u = 1}});
	emit_table_end(&e);
	emit_end(&e);
	EXPECT_STR(str_get(&out), "name,n\r\n'=1+2,1\r\n'+x,1\r\n'-x,1\r\n'@x,1\r\n-,1\r\n"
				  "\"'=a,b\",1\r\nx=1,1\r\n");
	str_release(&out);
}

TEST(emit_csv_quotes)
{
	EXPECT_STR(emitted((struct emit){.format = EMIT_CSV}),
		   "cycles,imiss,svma,procedure,image\r\n"
		   "12345,0,0x401000,\"f(int, char)\",\"/bin/a,\"\"b\"\"\"\r\n"
		   "5,,0x10,,x\\x1b[1m\r\n");
}
