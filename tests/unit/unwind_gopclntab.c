/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of Go's functions in each layout, and the rows that are made of it. */
#include <errno.h>

#include "gopclntab_t.h"
#include "t.h"
#include "unwind_t.h"

TEST(functions_of_each_layout)
{
	for (enum go_layout layout = GO_1_2; layout <= GO_1_20; layout++) {
		struct wr w = {0};
		struct go_table t;
		struct go_func f;
		const char *file;
		size_t n;

		put_go_table(&w, layout, TEXT_SVMA);
		REQUIRE(go_table_open(&t, w.v, w.n, 0, NULL) == 0);
		EXPECT_EQ(t.layout, layout);
		EXPECT_EQ(t.n_funcs, 2);
		REQUIRE(go_table_find(&t, TEXT_SVMA + 0x20, &f));
		EXPECT_EQ(f.start, TEXT_SVMA);
		EXPECT_EQ(f.end, TEXT_SVMA + 0x40);
		EXPECT_STR(f.name, "main.outer");
		EXPECT_EQ(f.first_line, layout == GO_1_20 ? 5 : 0);
		EXPECT_EQ(go_table_value(&t, &f, f.depths, f.start, 99), 0);
		EXPECT_EQ(go_table_value(&t, &f, f.depths, f.start + 4, 99), 16);
		EXPECT_EQ(go_table_value(&t, &f, f.depths, f.start + 0x3c, 99), 0);
		EXPECT_EQ(go_table_value(&t, &f, f.lines, f.start + 0xf, 99), 7);
		EXPECT_EQ(go_table_value(&t, &f, f.lines, f.start + 0x10, 99), 10);
		EXPECT_EQ(go_table_value(&t, &f, f.inlined, f.start + 0x10, 99), 0);
		EXPECT_EQ(go_table_value(&t, &f, f.inlined, f.start + 0x30, 99), -1);
		file = go_table_file(&t, &f, go_table_value(&t, &f, f.files, f.start, 99), &n);
		REQUIRE(file);
		EXPECT_STR(file, "/src/main.go");
		EXPECT_EQ(n, strlen(file));
		EXPECT(go_table_find_name(&t, "main.leaf", &f));
		EXPECT_EQ(f.start, TEXT_SVMA + 0x40);
		EXPECT_EQ(f.inlined, 0);
		EXPECT(!go_table_find(&t, TEXT_SVMA + 0x50, &f));
		wr_release(&w);
	}
}

TEST(a_stretch_beyond_the_last_address_ends_with_its_function)
{
	struct go_value stretch;
	struct go_values values;
	struct wr w = {0};
	struct go_table t;
	struct go_func f;

	put_go_table(&w, GO_1_20, UINT64_MAX - 0x50);
	w.v[GO_VALUES + 0x29] = 0x7f; /* main.leaf has 0x10 bytes */
	REQUIRE(go_table_open(&t, w.v, w.n, 0, NULL) == 0);
	REQUIRE(go_table_find_name(&t, "main.leaf", &f));
	values = go_values_begin(&t, &f, f.lines);
	REQUIRE(go_values_next(&values, &stretch));
	EXPECT_EQ(stretch.start, f.start);
	EXPECT_EQ(stretch.end, UINT64_MAX);
	EXPECT(!go_values_next(&values, &stretch));
	wr_release(&w);
}

TEST(what_is_no_table)
{
	struct wr w = {0};
	struct go_table t;

	put_go_table(&w, GO_1_20, TEXT_SVMA);
	EXPECT_EQ(go_table_open(&t, w.v, 20, 0, NULL), -EBADMSG);
	EXPECT_EQ(go_table_open(&t, w.v, 10, 0, NULL), -ENODATA);
	set_bytes(&w, 8, UINT64_MAX / 4, 8);
	EXPECT_EQ(go_table_open(&t, w.v, w.n, 0, NULL), -EBADMSG);
	w.v[0] = 0xf2;
	EXPECT_EQ(go_table_open(&t, w.v, w.n, 0, NULL), -EPROTONOSUPPORT);
	wr_release(&w);
}

TEST(rows)
{
	struct unwind_input in = input_of(EM_X86_64, &(struct wr){0});
	const struct unwind_rule *rule;
	struct unwind_table table;
	struct wr w = {0};

	put_go_table(&w, GO_1_18, TEXT_SVMA);
	in.go = (struct unwind_section){w.v, w.n, 0};
	in.n_switches = 1;
	in.switches[0] = (struct unwind_switch){.start = TEXT_SVMA + 0x18,
						.end = TEXT_SVMA + 0x28,
						.depth = 8,
						.how = UNWIND_SWITCH_LEAVES,
						.goroutine_at = 24};
	REQUIRE(unwind_build(&in, &table, NULL) == 0);
	rule = unwind_table_find(&table, TEXT_OFF);
	EXPECT_EQ(rule->cfa, UNWIND_CFA_SP);
	EXPECT_EQ(rule->cfa_off, 8);
	EXPECT_EQ(rule->fp_at, UNWIND_SAME);
	rule = unwind_table_find(&table, TEXT_OFF + 4);
	EXPECT_EQ(rule->cfa_off, 24);
	EXPECT_EQ(rule->fp_at, -2);
	EXPECT_EQ(rule->ra_at, -1);
	EXPECT_EQ(unwind_table_find(&table, TEXT_OFF + 0x17)->cfa, UNWIND_CFA_SP);
	rule = unwind_table_find(&table, TEXT_OFF + 0x18);
	EXPECT_EQ(rule->cfa, UNWIND_CFA_GOROUTINE);
	EXPECT_EQ(rule->cfa_off, 16);
	EXPECT_EQ(rule->cfa_reg, UNWIND_SWITCH_LEAVES);
	EXPECT_EQ(rule->bx_at, 24);
	EXPECT_EQ(unwind_table_find(&table, TEXT_OFF + 0x28)->cfa_off, 24);
	EXPECT_EQ(unwind_table_find(&table, TEXT_OFF + 0x3c)->cfa_off, 8);
	EXPECT_EQ(unwind_table_find(&table, TEXT_OFF + 0x50)->cfa, UNWIND_CFA_NONE);
	EXPECT_EQ(table.n_text_bytes, 0x50);
	unwind_table_release(&table);
	wr_release(&w);
}

TEST(rows_of_functions_that_go_on_elsewhere)
{
	static const struct {
		const char *name;
		enum go_layout layout;
		uint64_t off;
		enum unwind_cfa cfa;
		enum unwind_ra ra;
		int why;
	} cases[] = {
		{"runtime.asyncPreempt", GO_1_18, 0x40, UNWIND_CFA_SP, UNWIND_RA_SAVED,
		 UNWIND_STOPS},
		{"runtime.sigreturn", GO_1_18, 0x3f, UNWIND_CFA_SIGNAL, UNWIND_RA_SAVED,
		 UNWIND_STOPS},
		{"gogo", GO_1_18, 0x40, UNWIND_CFA_SP, UNWIND_RA_NONE, 0},
		{"runtime.gogo", GO_1_18, 0x40, UNWIND_CFA_SP, UNWIND_RA_SAVED, 0},
		{"runtime.gogo", GO_1_16, 0x40, UNWIND_CFA_SP, UNWIND_RA_NONE, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct unwind_input in = input_of(EM_X86_64, &(struct wr){0});
		const struct unwind_rule *rule;
		struct unwind_table table;
		struct wr w = {0};

		put_go_table(&w, cases[i].layout, TEXT_SVMA);
		memcpy(w.v + GO_NAMES + 0xc, cases[i].name, strlen(cases[i].name) + 1);
		in.go = (struct unwind_section){w.v, w.n, 0};
		REQUIRE(unwind_build(&in, &table, NULL) == 0);
		EXPECT_EQ(unwind_table_find(&table, TEXT_OFF + 4)->why, 0);
		rule = unwind_table_find(&table, TEXT_OFF + cases[i].off);
		EXPECT_EQ(rule->cfa, cases[i].cfa);
		EXPECT_EQ(rule->ra, cases[i].ra);
		EXPECT_EQ(rule->why, cases[i].why);
		unwind_table_release(&table);
		wr_release(&w);
	}
}
