/* SPDX-License-Identifier: BSD-2-Clause */
/* Each instruction and expression of call frame information, in sections made here. */
#include <errno.h>

#include "t.h"
#include "unwind_t.h"

#define AT(svma, rule) EXPECT_STR(rule_at(&t, TEXT_SVMA + (svma)), rule)

/* The table of one function of 0x100 bytes with PROGRAM; false when there is none. */
static bool build_one(uint16_t machine, const uint8_t *program, size_t n, struct unwind_table *t)
{
	struct wr w = {0};
	size_t cie = put_plain_cie(&w, machine);
	struct unwind_input in;
	struct err err = {0};
	int rc;

	put_fde(&w, cie, TEXT_SVMA, 0x100, program, n);
	in = input_of(machine, &w);
	rc = unwind_build(&in, t, &err);
	wr_release(&w);
	if (rc < 0)
		printf("# %s\n", err.msg);
	else if (table_fault(t))
		t_fail_("%s", table_fault(t));
	return rc == 0;
}

/* The rule behind a program's instructions. */
static const char *after(uint16_t machine, const uint8_t *program, size_t n)
{
	struct unwind_table t;
	const char *text = "not built";

	if (build_one(machine, program, n, &t)) {
		text = rule_at(&t, TEXT_SVMA + 0xff);
		unwind_table_release(&t);
	}
	return text;
}

#define X86(...) after(EM_X86_64, PROGRAM(__VA_ARGS__))
#define ARM(...) after(EM_AARCH64, PROGRAM(__VA_ARGS__))

TEST(a_prologue)
{
	struct unwind_table t;

	/* push %rbp; mov %rsp,%rbp; push %rbx; ... leave; ret */
	REQUIRE(build_one(EM_X86_64,
			  PROGRAM(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x41, 0x83, 3, 0x02, 0x80,
				  0x0a, 0x0c, 7, 8, 0x41, 0x0b),
			  &t));
	AT(-1, "no fde");
	AT(0, "sp+8 ra@-1");
	AT(1, "sp+16 ra@-1 fp@-2");
	AT(3, "sp+16 ra@-1 fp@-2");
	AT(4, "fp+16 ra@-1 fp@-2");
	AT(5, "fp+16 ra@-1 fp@-2 bx@-3");
	AT(0x84, "fp+16 ra@-1 fp@-2 bx@-3");
	AT(0x85, "sp+8 ra@-1 fp@-2 bx@-3");
	AT(0x86, "fp+16 ra@-1 fp@-2 bx@-3");
	AT(0xff, "fp+16 ra@-1 fp@-2 bx@-3");
	AT(0x100, "no fde");
	EXPECT_EQ(t.n_fdes, 1);
	EXPECT_EQ(t.n_text_bytes, 0x100);
	EXPECT_EQ(t.n_damaged + t.n_too_complex, 0);
	unwind_table_release(&t);
}

TEST(a_function_without_instructions_has_a_row)
{
	EXPECT_STR(after(EM_X86_64, NULL, 0), "sp+8 ra@-1");
	EXPECT_STR(after(EM_AARCH64, NULL, 0), "sp+0 lr");
}

TEST(places)
{
	EXPECT_STR(X86(0x41, 0x02, 2, 0x03, 3, 0, 0x04, 4, 0, 0, 0, 0x0e, 24), "sp+24 ra@-1");
	EXPECT_STR(X86(0x01, 0, 0, 0, 0, 0x0e, 24), "damaged"); /* set_loc nowhere */
	EXPECT_STR(X86(0x1d, 9, 0, 0, 0, 0, 0, 0, 0, 0x0e, 24), "sp+24 ra@-1");
	EXPECT_STR(X86(0x04, 0xff, 0xff, 0xff, 0xff, 0x0e, 24), "sp+8 ra@-1"); /* past the end */
}

TEST(cfa)
{
	EXPECT_STR(X86(0x0c, 6, 16), "fp+16 ra@-1");
	EXPECT_STR(X86(0x0c, 10, 0), "reg10+0 ra@-1");
	EXPECT_STR(X86(0x0c, 0x80, 1, 0), "reg128+0 ra@-1");
	EXPECT_STR(X86(0x0c, 0x80, 2, 0), "too complex");
	EXPECT_STR(X86(0x0d, 3), "reg3+8 ra@-1");
	EXPECT_STR(X86(0x0e, 0x80, 0x80, 4), "sp+65536 ra@-1");
	EXPECT_STR(X86(0x12, 7, 0x7e), "sp+16 ra@-1");
	EXPECT_STR(X86(0x12, 7, 2), "sp-16 ra@-1");
	EXPECT_STR(X86(0x13, 0x7d), "sp+24 ra@-1");
	EXPECT_STR(X86(0x0e, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f), "too complex");
	EXPECT_STR(X86(0x2e, 0x80, 1, 0x0e, 16), "sp+16 ra@-1"); /* GNU_args_size */
}

/* A CIE that says nothing of the CFA. */
TEST(a_cfa_that_was_never_set)
{
	static const uint8_t programs[][3] = {{0x0d, 7}, {0x0e, 8}, {0x13, 1}, {0}, {0x0c, 7, 8}};
	static const char *const texts[] = {"damaged", "damaged", "damaged", "too complex",
					    "sp+8 ra@-1"};

	for (int i = 0; i < 5; i++) {
		struct wr w = {0};
		size_t cie = put_cie(&w, EM_X86_64, "", PROGRAM(0x90, 1));
		struct unwind_input in;
		struct unwind_table t;

		put_fde(&w, cie, TEXT_SVMA, 16, programs[i], 3);
		in = input_of(EM_X86_64, &w);
		REQUIRE(unwind_build(&in, &t, NULL) == 0);
		AT(0, texts[i]);
		unwind_table_release(&t);
		wr_release(&w);
	}
}

TEST(saved_registers)
{
	EXPECT_STR(X86(0x86, 2), "sp+8 ra@-1 fp@-2");
	EXPECT_STR(X86(0x05, 6, 3), "sp+8 ra@-1 fp@-3");
	EXPECT_STR(X86(0x11, 6, 0x7e), "sp+8 ra@-1 fp@2");
	EXPECT_STR(X86(0x2f, 6, 2), "sp+8 ra@-1 fp@2"); /* GNU_negative_offset_extended */
	EXPECT_STR(X86(0x83, 4, 0x8c, 5), "sp+8 ra@-1 bx@-4");
	EXPECT_STR(X86(0x86, 2, 0xc6), "sp+8 ra@-1");
	EXPECT_STR(X86(0x86, 2, 0x06, 6), "sp+8 ra@-1");
	EXPECT_STR(X86(0x86, 2, 0x08, 6), "sp+8 ra@-1");
	EXPECT_STR(X86(0x07, 6), "sp+8 ra@-1 fp?");
	EXPECT_STR(X86(0x09, 6, 9), "sp+8 ra@-1 fp?");
	EXPECT_STR(X86(0x09, 6, 6), "sp+8 ra@-1");
	EXPECT_STR(X86(0x14, 6, 2), "sp+8 ra@-1 fp?");
	EXPECT_STR(X86(0x15, 3, 0x7e), "sp+8 ra@-1 bx?");
	EXPECT_STR(X86(0x16, 3, 2, 0x77, 8), "sp+8 ra@-1 bx?");
	EXPECT_STR(X86(0x86, 0), "sp+8 ra@-1 fp?"); /* CFA + 0 has no form */
	EXPECT_STR(X86(0x05, 6, 0x80, 0x80, 0x80, 1), "sp+8 ra@-1 fp?");
}

TEST(the_return_address)
{
	EXPECT_STR(X86(0x90, 3), "sp+8 ra@-3");
	EXPECT_STR(X86(0x07, 16), "end");
	EXPECT_STR(X86(0x08, 16), "too complex");
	EXPECT_STR(X86(0x09, 16, 5), "sp+8 ra=r5");
	EXPECT_STR(X86(0x07, 16, 0xd0), "sp+8 ra@-1");
	EXPECT_STR(ARM(0x0e, 16, 0x9d, 2, 0x9e, 1), "sp+16 ra@-1 fp@-2");
	EXPECT_STR(ARM(0x0e, 16, 0x9d, 2, 0x9e, 0), "sp+16 ra@0 fp@-2");
	EXPECT_STR(ARM(0x0e, 16, 0x9e, 1, 0xde), "sp+16 lr");
	EXPECT_STR(ARM(0x0c, 29, 32, 0x83, 1), "fp+32 lr");
	EXPECT_STR(ARM(0x07, 30), "end");
	EXPECT_STR(ARM(0x09, 30, 15), "sp+0 ra=r15");
}

TEST(signed_return_addresses)
{
	EXPECT_STR(ARM(0x2d), "sp+0 lr signed");
	EXPECT_STR(ARM(0x2d, 0x0e, 16, 0x9e, 1), "sp+16 ra@-1 signed");
	EXPECT_STR(ARM(0x2d, 0x2d), "sp+0 lr");
	EXPECT_STR(ARM(0x2c), "sp+0 lr signed");
	EXPECT_STR(ARM(0x2d, 0x0a, 0x2d, 0x0b), "sp+0 lr signed");
	EXPECT_STR(X86(0x2d), "damaged");
}

TEST(remembered_states)
{
	uint8_t deep[130];

	EXPECT_STR(X86(0x0e, 16, 0x0a, 0x0e, 24, 0x86, 2, 0x0b), "sp+16 ra@-1");
	EXPECT_STR(X86(0x0a, 0x0e, 16, 0x0a, 0x0e, 24, 0x0b, 0x0b), "sp+8 ra@-1");
	EXPECT_STR(X86(0x0b), "damaged");
	memset(deep, 0x0a, 65);
	EXPECT_STR(after(EM_X86_64, deep, 64), "sp+8 ra@-1");
	EXPECT_STR(after(EM_X86_64, deep, 65), "damaged");
}

TEST(expressions_of_the_cfa)
{
	EXPECT_STR(X86(0x0f, 2, 0x76, 0x10), "fp+16 ra@-1");
	EXPECT_STR(X86(0x0f, 3, 0x76, 0x78, 0x06), "[fp-8]+0 ra@-1");
	EXPECT_STR(X86(0x0f, 6, 0x77, 0x98, 1, 0x06, 0x23, 8), "[sp+152]+8 ra@-1");
	EXPECT_STR(X86(0x0f, 5, 0x77, 8, 0x06, 0x38, 0x22), "[sp+8]+8 ra@-1");
	EXPECT_STR(X86(0x0f, 5, 0x38, 0x77, 8, 0x06, 0x22), "[sp+8]+8 ra@-1");
	EXPECT_STR(X86(0x0f, 6, 0x77, 8, 0x06, 0x23, 0x80, 2), "too complex");
	EXPECT_STR(X86(0x0f, 3, 0x73, 8, 0x06), "too complex"); /* the word at rbx + 8 */
	EXPECT_STR(X86(0x0f, 4, 0x92, 7, 16, 0x96), "sp+16 ra@-1");
	EXPECT_STR(X86(0x0f, 5, 0x77, 0, 0x08, 200, 0x22), "sp+200 ra@-1");
	EXPECT_STR(X86(0x0f, 5, 0x77, 0, 0x09, 0xf8, 0x22), "sp-8 ra@-1");
	EXPECT_STR(X86(0x0f, 6, 0x77, 0, 0x0a, 0, 1, 0x22), "sp+256 ra@-1");
	EXPECT_STR(X86(0x0f, 6, 0x77, 0, 0x0b, 0, 0xff, 0x22), "sp-256 ra@-1");
	EXPECT_STR(X86(0x0f, 8, 0x77, 0, 0x0c, 0, 0, 1, 0, 0x22), "sp+65536 ra@-1");
	EXPECT_STR(X86(0x0f, 8, 0x77, 0, 0x0d, 0xf0, 0xff, 0xff, 0xff, 0x22), "sp-16 ra@-1");
	EXPECT_STR(X86(0x0f, 12, 0x77, 0, 0x0e, 8, 0, 0, 0, 0, 0, 0, 0, 0x22), "sp+8 ra@-1");
	EXPECT_STR(X86(0x0f, 12, 0x77, 0, 0x0f, 8, 0, 0, 0, 0, 0, 0, 0, 0x1c), "sp-8 ra@-1");
	EXPECT_STR(X86(0x0f, 6, 0x77, 0, 0x10, 0x80, 1, 0x22), "sp+128 ra@-1");
	EXPECT_STR(X86(0x0f, 5, 0x77, 0, 0x11, 0x70, 0x22), "sp-16 ra@-1");
	EXPECT_STR(X86(0x0f, 0), "too complex");
	EXPECT_STR(X86(0x0f, 1, 0x06), "too complex");
	EXPECT_STR(X86(0x0f, 1, 0x22), "too complex");
	EXPECT_STR(X86(0x0f, 1, 0x38), "too complex");
	EXPECT_STR(X86(0x0f, 1, 0x12), "too complex"); /* dup */
	EXPECT_STR(X86(0x0f, 9, 0x38, 0x38, 0x38, 0x38, 0x38, 0x38, 0x38, 0x38, 0x38),
		   "too complex");
	EXPECT_STR(X86(0x0f, 9, 0x77), "damaged");
	/* A register or an offset behind an expression: the other half is the last there was. */
	EXPECT_STR(X86(0x0e, 56, 0x0f, 3, 0x76, 0x78, 0x06, 0x0d, 6), "fp+56 ra@-1");
	EXPECT_STR(X86(0x0f, 3, 0x76, 0x78, 0x06, 0x0e, 16), "[fp-8]+0 ra@-1");
	EXPECT_STR(X86(0x0f, 3, 0x76, 0x78, 0x06, 0x0e, 16, 0x0d, 7), "sp+16 ra@-1");
}

TEST(stubs_of_a_linkage_table)
{
	EXPECT_STR(X86(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22),
		   "plt+11 ra@-1");
	EXPECT_STR(X86(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3a, 0x2a, 0x33, 0x24, 0x22),
		   "plt+10 ra@-1");
	EXPECT_STR(X86(0x0f, 11, 0x77, 16, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22),
		   "too complex");
	EXPECT_STR(X86(0x0f, 11, 0x77, 8, 0x80, 0, 0x3e, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22),
		   "too complex");
	EXPECT_STR(X86(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x32, 0x24, 0x22),
		   "too complex");
	EXPECT_STR(ARM(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22),
		   "too complex");
}

TEST(expressions_of_registers)
{
	/* gcc realigns the stack: in the prologue, then in the body. */
	EXPECT_STR(X86(0x0c, 10, 0, 0x10, 6, 2, 0x76, 0), "reg10+0 ra@-1 fp@fp+0");
	EXPECT_STR(X86(0x10, 6, 2, 0x76, 0, 0x10, 3, 2, 0x76, 0x68, 0x0f, 3, 0x76, 0x78, 0x06),
		   "[fp-8]+0 ra@-1 fp@fp+0 bx@fp-3");
	EXPECT_STR(X86(0x0c, 6, 16, 0x10, 6, 2, 0x76, 0), "fp+16 ra@-1 fp@-2");
	EXPECT_STR(X86(0x0e, 32, 0x10, 3, 2, 0x77, 8), "sp+32 ra@-1 bx@-3");
	EXPECT_STR(X86(0x10, 3, 2, 0x23, 16), "sp+8 ra@-1 bx@2"); /* begins with the CFA */
	EXPECT_STR(X86(0x10, 3, 2, 0x72, 16), "sp+8 ra@-1 bx?");
	EXPECT_STR(X86(0x10, 3, 2, 0x76, 4), "sp+8 ra@-1 bx?");
	EXPECT_STR(X86(0x10, 3, 3, 0x76, 8, 0x06), "sp+8 ra@-1 bx?");
	EXPECT_STR(X86(0x10, 16, 2, 0x77, 0), "sp+8 ra@-1");
	EXPECT_STR(X86(0x10, 16, 2, 0x76, 0), "too complex");
	EXPECT_STR(X86(0x10, 9, 1, 0x12), "sp+8 ra@-1"); /* of a register nobody follows */
}

TEST(moved_stacks)
{
	EXPECT_STR(X86(0x87, 2), "too complex");    /* rsp saved */
	EXPECT_STR(X86(0x09, 7, 8), "too complex"); /* rsp in r8 */
	EXPECT_STR(X86(0x14, 7, 0), "sp+8 ra@-1");  /* rsp is the CFA */
	EXPECT_STR(X86(0x14, 7, 1), "too complex"); /* rsp is another */
	EXPECT_STR(X86(0x16, 7, 2, 0x23, 0), "sp+8 ra@-1");
	EXPECT_STR(ARM(0x9f, 2), "too complex");
}

TEST(signal_frames)
{
	static const uint8_t plain[] = {0x0c, 7, 8, 0x90, 1};
	static const uint8_t kernel[] = {0x0f, 4, 0x77, 0xa0, 1, 0x06, 0x10, 16, 3, 0x77, 0xa8, 1};
	static const uint8_t arm[] = {0x0c, 29, 0, 0x9d, 0, 0x9e, 0x7f};

	for (int i = 0; i < 3; i++) {
		uint16_t machine = i == 2 ? EM_AARCH64 : EM_X86_64;
		struct wr w = {0};
		size_t cie = i == 2 ? put_cie(&w, machine, "S", arm, 7)
				    : put_cie(&w, machine, "S", plain, 5);
		struct unwind_input in;
		struct unwind_table t;

		put_fde(&w, cie, TEXT_SVMA, 9, kernel, i == 1 ? 12 : 0);
		in = input_of(machine, &w);
		REQUIRE(unwind_build(&in, &t, NULL) == 0);
		AT(1, i ? "signal" : "sp+8 ra@-1");
		unwind_table_release(&t);
		wr_release(&w);
	}
}

TEST(damage_holds_to_the_end_of_its_function)
{
	struct wr w = {0};
	size_t cie = put_plain_cie(&w, EM_X86_64);
	struct unwind_input in;
	struct unwind_table t;

	put_fde(&w, cie, TEXT_SVMA, 16, PROGRAM(0x41, 0x0e, 16, 0x44, 0x3f));
	put_fde(&w, cie, TEXT_SVMA + 16, 16, PROGRAM(0x41, 0x0e, 16));
	in = input_of(EM_X86_64, &w);
	REQUIRE(unwind_build(&in, &t, NULL) == 0);
	AT(0, "sp+8 ra@-1");
	AT(4, "sp+16 ra@-1");
	AT(5, "damaged");
	AT(15, "damaged");
	AT(16, "sp+8 ra@-1");
	EXPECT_EQ(t.n_damaged, 1);
	EXPECT_EQ(t.n_fdes, 2);
	unwind_table_release(&t);
	/* A record that reaches past the end hides itself and what follows, no more. */
	in.eh_frame.n_bytes -= 8;
	REQUIRE(unwind_build(&in, &t, NULL) == 0);
	AT(4, "sp+16 ra@-1");
	AT(16, "no fde");
	EXPECT_EQ(t.n_fdes, 1);
	unwind_table_release(&t);
	wr_release(&w);
}
