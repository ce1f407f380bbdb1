/* SPDX-License-Identifier: BSD-2-Clause */
/* Stack walks over tables and stacks made by hand: each kind of rule, each cause, hostile
 * stacks. */
#include "walk_t.h"

TEST(frames_without_frame_pointer)
{
	begin(EM_X86_64);
	outermost();
	rule(1, UNWIND_CFA_SP, 8);
	rule(2, UNWIND_CFA_SP, 32);
	at(FUNCTION(1) + 0x10, 4, 0);
	t.stack[4] = CALL(2);
	t.stack[5 + 3] = CALL(2);
	t.stack[9 + 3] = CALL(0);
	EXPECT_WALK(CHAIN_COMPLETE, LEAF(1), FRAME(2), FRAME(2), FRAME(0));
	EXPECT_EQ(t.images[PROGRAM].last_used, 7);
}

TEST(the_row_that_holds_is_the_last_one_before_the_address)
{
	/* Block 1 has no row: the one of block 0 reaches into it.  Block 2 has three. */
	static const uint32_t blocks[] = {0, 2, 2, 5};
	static const struct {
		uint32_t off, rule;
	} rows[] = {{0, 1}, {0x3f0, 2}, {0x804, 3}, {0x810, 4}, {0xbff, 5}};
	static const struct {
		uint32_t off, rule;
	} holds[] = {{0, 1},	 {1, 1},     {0x3ef, 1}, {0x3f0, 2}, {0x3ff, 2},
		     {0x400, 2}, {0x7ff, 2}, {0x803, 2}, {0x804, 3}, {0x80f, 3},
		     {0x810, 4}, {0xbfe, 4}, {0xbff, 5}};

	begin(EM_X86_64);
	memcpy(t.words, blocks, sizeof(blocks));
	for (unsigned i = 0; i < 5; i++)
		t.words[10 + i] = rows[i].rule << 16 | ((CODE_OFF + rows[i].off) & 0xffff);
	t.images[PROGRAM] =
		(struct unwind_image){.first_off = CODE_OFF, .n_blocks = 3, .rows_at = 10};
	/* Rule I tells itself by the cause it leads to: none, a lost register, an entry ... */
	for (unsigned i = 0; i < 5; i++)
		rule(i, UNWIND_CFA_SP, 8 * (int)(i + 1));
	for (unsigned i = 0; i < sizeof(holds) / sizeof(holds[0]); i++) {
		memset(t.stack, 0, sizeof(t.stack));
		at(CODE_AVMA + holds[i].off, 0, 0);
		t.stack[holds[i].rule - 1] = JIT_AVMA + 1 + i; /* only that rule finds this */
		for (unsigned j = 0; j < 5; j++)
			if (j != holds[i].rule - 1)
				t.stack[j] = LIB_AVMA + 1;
		walk();
		EXPECT_EQ(t.n, 2);
		EXPECT_EQ(t.frames[1], JIT_AVMA + i);
	}
	at(CODE_AVMA + 0xc00, 0, 0); /* behind the table */
	EXPECT_EQ(walk(), CHAIN_NO_RULE);
}

TEST(a_walk_that_is_left_for_want_of_a_table_is_taken_up_there)
{
	begin(EM_X86_64);
	outermost();
	rule(1, UNWIND_CFA_SP, 8);
	at(FUNCTION(1) + 0x10, 4, 20);
	t.stack[4] = CALL(1);
	t.stack[5] = CALL(0);
	t.stack[20] = 0; /* looks like a frame, which a walk that goes on by guess takes */
	t.stack[21] = CALL(0);
	const uint32_t n_blocks = t.images[PROGRAM].n_blocks;

	t.images[PROGRAM].n_blocks = 0;
	t.in.want = NULL;
	t.in.leaves = true;
	EXPECT_WALK(CHAIN_NO_TABLE, LEAF(1));

	t.images[PROGRAM].n_blocks = n_blocks;
	t.in.is_taken_up = true;
	t.in.flags = 0;
	t.in.ip = CALL(1);
	t.in.sp = word(5);
	EXPECT_WALK(CHAIN_COMPLETE, FRAME(1), FRAME(0));
	t.in.hole_bytes = 16;
	t.in.holes = 1 << 2; /* words 4 and 5 */
	EXPECT_WALK(CHAIN_UNREADABLE, FRAME(1));
	t.in.holes = 1 << 3;
	EXPECT_WALK(CHAIN_COMPLETE, FRAME(1), FRAME(0));
}

/* A copied stack does not tell what an interpreter's loop executed: a mark stands for it, and the
 * walk goes on. */
TEST(a_mark_before_a_loop_whose_functions_were_not_copied)
{
	static const struct {
		uint32_t interpreter, mark;
	} cases[] = {{INTERPRETER_PYTHON_3_11, SCRIPT_NOT_COPIED},
		     {INTERPRETER_PHP_8_2, SCRIPT_PHP + SCRIPT_NOT_COPIED},
		     {INTERPRETER_PERL_5_36, SCRIPT_PERL + SCRIPT_NOT_COPIED},
		     {INTERPRETER_RUBY_3_1, SCRIPT_RUBY + SCRIPT_NOT_COPIED}};

	begin(EM_X86_64);
	outermost();
	rule(1, UNWIND_CFA_SP, 8);
	rule(2, UNWIND_CFA_SP, 32)->why = UNWIND_LOOP;
	at(FUNCTION(1) + 0x10, 4, 0);
	t.stack[4] = CALL(2);
	t.stack[5 + 3] = CALL(0);
	EXPECT_WALK(CHAIN_COMPLETE, LEAF(1), FRAME(2), FRAME(0));
	t.in.marks_loops = true;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		t.images[PROGRAM].interpreter = cases[i].interpreter;
		EXPECT_WALK(CHAIN_COMPLETE, LEAF(1),
			    FRAME_SCRIPT((uint64_t)cases[i].mark, SCRIPT_NO_OFF), FRAME(2),
			    FRAME(0));
	}
	EXPECT_EQ(walk_stack(&t.in, t.frames, 2, &t.n), CHAIN_TOO_DEEP);
	EXPECT_EQ(t.n, 2);
}

/* What a list copied with the stack says that the loops executed. */
TEST(functions_of_a_copied_list)
{
	enum { N = 3, MOST = 6 };
	const uint64_t a = FRAME_SCRIPT(1000, 1), b = FRAME_SCRIPT(1001, 2),
		       c = FRAME_SCRIPT(1002, SCRIPT_NO_OFF),
		       uncopied = FRAME_SCRIPT(SCRIPT_NOT_COPIED, SCRIPT_NO_OFF),
		       php_uncopied = FRAME_SCRIPT(SCRIPT_PHP + SCRIPT_NOT_COPIED, SCRIPT_NO_OFF),
		       unmatched = FRAME_SCRIPT(SCRIPT_UNMATCHED, SCRIPT_NO_OFF),
		       /* on the stack of the inner and of the outer call of the loop */
		inner = word(6), outer = word(10);
	const struct {
		uint64_t list[MOST];
		uint32_t n, interpreter;
		uint64_t before_inner[MOST], before_outer[MOST], at_root[N];
	} cases[] = {
		{{a, b, inner, c, outer}, 5, INTERPRETER_PYTHON_3_12, {a, b}, {c}, {0}},
		{{a, outer}, 2, INTERPRETER_PYTHON_3_12, {0}, {a}, {0}}, /* in its prologue */
		{{a, inner, b, 0}, 4, INTERPRETER_PYTHON_3_11, {a}, {b}, {0}},
		{{a, 0, b, 0}, 4, INTERPRETER_PYTHON_3_10, {a}, {b}, {0}},
		{{a, inner}, 2, INTERPRETER_PYTHON_3_12, {a}, {unmatched}, {0}},
		{{a, inner, b, inner}, 4, INTERPRETER_PYTHON_3_12, {a}, {unmatched}, {0}},
		{{a, 0, b, 0, c, 0}, 6, INTERPRETER_PYTHON_3_10, {a}, {b}, {unmatched}},
		{{a, 0, b, 0, c, 0}, 6, INTERPRETER_PHP_8_2, {a}, {b}, {c}},
		{{a, 0}, 2, INTERPRETER_PHP_8_2, {a}, {0}, {0}},
		{{a, b}, 2, INTERPRETER_PYTHON_3_12, {a, b, uncopied}, {uncopied}, {0}},
		{{a, b}, 2, INTERPRETER_PHP_8_2, {a, b, php_uncopied}, {php_uncopied}, {0}},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t expected[4 * MOST] = {0};
		uint32_t n = 0;

		begin(EM_X86_64);
		outermost();
		rule(1, UNWIND_CFA_SP, 8);
		rule(2, UNWIND_CFA_SP, 32)->why = UNWIND_LOOP;
		at(FUNCTION(1) + 0x10, 4, 0);
		t.stack[4] = CALL(2);
		t.stack[5 + 3] = CALL(2);
		t.stack[9 + 3] = CALL(0);
		t.images[PROGRAM].interpreter = cases[i].interpreter;
		t.in.marks_loops = true;
		t.in.script_image = PROGRAM;
		t.in.n_scripts = cases[i].n;
		t.in.scripts = cases[i].list;
		expected[n++] = LEAF(1);
		for (unsigned k = 0; k < MOST && cases[i].before_inner[k]; k++)
			expected[n++] = cases[i].before_inner[k];
		expected[n++] = FRAME(2);
		for (unsigned k = 0; k < MOST && cases[i].before_outer[k]; k++)
			expected[n++] = cases[i].before_outer[k];
		expected[n++] = FRAME(2);
		expected[n++] = FRAME(0);
		for (unsigned k = 0; k < N && cases[i].at_root[k]; k++)
			expected[n++] = cases[i].at_root[k];
		expect(CHAIN_COMPLETE, n, expected);

		/* The loop of another interpreter executes none of it. */
		t.in.script_image = LIB;
		EXPECT_EQ(walk(), CHAIN_COMPLETE);
		EXPECT_EQ(SCRIPT_CODE(t.frames[1]) % SCRIPT_N_KINDS, SCRIPT_NOT_COPIED);
		EXPECT_EQ(SCRIPT_CODE(t.frames[3]) % SCRIPT_N_KINDS, SCRIPT_NOT_COPIED);
	}
}

/* Go puts the beginning of a function that calls nobody where a caller stands: its row begins one
 * byte before, and its frame is called by its beginning. */
TEST(a_caller_that_stands_at_its_beginning)
{
	begin(EM_X86_64);
	outermost();
	rule(1, UNWIND_CFA_SP, 8);
	rule(2, UNWIND_CFA_SP, 8)->why = UNWIND_BEGIN;
	at(FUNCTION(1) + 0x10, 4, 0);
	t.stack[4] = CALL(2);
	t.stack[5] = CALL(0);
	EXPECT_WALK(CHAIN_COMPLETE, LEAF(1), FRAME(2) + 1, FRAME(0));
}

/* Go's scheduler sends a thread elsewhere and leaves the address that it was stopped at, which may
 * be the first instruction of a function: the function before it has nothing to do with it. */
TEST(a_caller_that_was_stopped_at_its_beginning)
{
	begin(EM_X86_64);
	outermost();
	rule(1, UNWIND_CFA_SP, 8);
	rule(2, UNWIND_CFA_SP, 8);
	rule(3, UNWIND_CFA_SP, 16)->why = UNWIND_STOPS;
	at(FUNCTION(3) + 0x10, 4, 0);
	t.stack[5] = FUNCTION(2);
	t.stack[6] = CALL(0);
	EXPECT_WALK(CHAIN_COMPLETE, LEAF(3), IN_FILE(PROGRAM, FUNCTION(2)), FRAME(0));
}

TEST(a_frame_pointer_saved_and_restored)
{
	begin(EM_X86_64);
	outermost();
	rule(1, UNWIND_CFA_FP, 16)->fp_at = -2;
	rule(2, UNWIND_CFA_SP, 24)->fp_at = -2; /* pushed, but not used */
	at(FUNCTION(1) + 0x10, 2, 6);
	t.stack[6] = word(20); /* the caller's, kept by function 2's frame */
	t.stack[7] = CALL(2);
	t.stack[8 + 1] = word(14);
	t.stack[8 + 2] = CALL(1);
	t.stack[14] = 0;
	t.stack[15] = CALL(0);
	EXPECT_WALK(CHAIN_COMPLETE, LEAF(1), FRAME(2), FRAME(1), FRAME(0));
}

TEST(a_register_as_base_is_known_in_the_innermost_frame)
{
	begin(EM_X86_64);
	outermost();
	rule(1, UNWIND_CFA_REG, 0)->cfa_reg = 10; /* lea 8(%rsp),%r10; and $-32,%rsp */
	at(FUNCTION(1) + 0x10, 4, 0);
	t.in.regs[10] = word(9);
	t.stack[8] = CALL(0);
	EXPECT_WALK(CHAIN_COMPLETE, LEAF(1), FRAME(0));

	rule(2, UNWIND_CFA_SP, 8);
	at(FUNCTION(2) + 0x10, 3, 0);
	t.stack[3] = CALL(1);
	EXPECT_WALK(CHAIN_REGISTER_LOST, LEAF(2), FRAME(1));
}

TEST(rbx_as_base_is_known_everywhere)
{
	begin(EM_X86_64);
	outermost();
	rule(1, UNWIND_CFA_REG, 16)->cfa_reg = WALK_X86_BX;
	rule(2, UNWIND_CFA_SP, 16)->bx_at = -2;
	rule(3, UNWIND_CFA_SP, 8);
	at(FUNCTION(3) + 0x10, 2, 0);
	t.stack[2] = CALL(2);
	t.stack[3] = word(10); /* rbx of function 1 */
	t.stack[4] = CALL(1);
	t.stack[11] = CALL(0);
	EXPECT_WALK(CHAIN_COMPLETE, LEAF(3), FRAME(2), FRAME(1), FRAME(0));

	t.rules[2 + 1].bx_at = UNWIND_LOST;
	EXPECT_WALK(CHAIN_REGISTER_LOST, LEAF(3), FRAME(2), FRAME(1));
}

TEST(a_realigned_stack)
{
	/* lea 8(%rsp),%r10; and $-32,%rsp; push -8(%r10); push %rbp; mov %rsp,%rbp; push %r10;
	 * push %rbx: the CFA is at rbp-8, rbp at rbp, rbx at rbp-16. */
	begin(EM_X86_64);
	outermost();
	*rule(1, UNWIND_CFA_FP_DEREF, -8) =
		(struct unwind_rule){.cfa = UNWIND_CFA_FP_DEREF,
				     .cfa_off = -8,
				     .ra_at = -1,
				     .bx_at = -2,
				     .by_fp = UNWIND_FP_BY_FP | UNWIND_BX_BY_FP};
	rule(2, UNWIND_CFA_FP, 16);
	rule(3, UNWIND_CFA_REG, 8)->cfa_reg = WALK_X86_BX;
	at(FUNCTION(1) + 0x10, 2, 8);
	t.stack[6] = word(25); /* rbx */
	t.stack[7] = word(13); /* r10 */
	t.stack[8] = word(17); /* rbp */
	t.stack[12] = CALL(2);
	t.stack[18] = CALL(3);
	t.stack[25] = CALL(0);
	EXPECT_WALK(CHAIN_COMPLETE, LEAF(1), FRAME(2), FRAME(3), FRAME(0));
}

TEST(a_realigned_stack_is_left)
{
	static const uint64_t codes[] = {0xc3f8628d49,
					 0xc3f8658d49}; /* lea -8(%r10 or %r13), %rsp */

	for (unsigned i = 0; i < 2; i++) {
		unsigned reg = i == 0 ? 10 : 13;

		/* Behind pop %rbp the rule is still that of before. */
		begin(EM_X86_64);
		outermost();
		*rule(1, UNWIND_CFA_REG, 0) =
			(struct unwind_rule){.cfa = UNWIND_CFA_REG,
					     .cfa_reg = (unsigned char)reg,
					     .ra_at = -1,
					     .bx_at = -5,
					     .by_fp = UNWIND_FP_BY_FP | UNWIND_BX_BY_FP};
		rule(2, UNWIND_CFA_FP, 16);
		at(FUNCTION(1) + 0x10, 2, 17);
		t.in.regs[reg] = word(13);
		t.stack[12] = CALL(2);
		t.stack[17] = 1; /* not where a frame pointer is */
		t.stack[18] = CALL(0);
		t.code_avma = FUNCTION(1) + 0x10;
		t.code[0] = codes[i];
		EXPECT_WALK(CHAIN_COMPLETE, LEAF(1), FRAME(2), FRAME(0));

		/* Before it, the caller's is where the rule says. */
		t.code[0] = 0xf8628d495d; /* pop %rbp */
		t.stack[17] = word(21);
		t.stack[22] = CALL(0);
		t.stack[18] = 0;
		EXPECT_WALK(CHAIN_COMPLETE, LEAF(1), FRAME(2), FRAME(0));

		/* At ret, the CFA is the stack pointer's again. */
		t.rules[2].cfa = UNWIND_CFA_SP;
		t.rules[2].cfa_off = 8;
		t.stack[2] = CALL(2);
		t.stack[17] = 1;
		t.stack[18] = CALL(0);
		EXPECT_WALK(CHAIN_COMPLETE, LEAF(1), FRAME(2), FRAME(0));
	}
}

TEST(a_register_that_cannot_be_read_is_lost)
{
	begin(EM_X86_64);
	outermost();
	rule(1, UNWIND_CFA_SP, 16)->fp_at = 30000;
	rule(2, UNWIND_CFA_SP, 16);
	rule(3, UNWIND_CFA_FP, 16);
	at(FUNCTION(1) + 0x10, 2, 8);
	t.stack[3] = CALL(2);
	t.stack[5] = CALL(0);
	EXPECT_WALK(CHAIN_COMPLETE, LEAF(1), FRAME(2), FRAME(0));
	t.stack[5] = CALL(3); /* which needs it */
	EXPECT_WALK(CHAIN_REGISTER_LOST, LEAF(1), FRAME(2), FRAME(3));
}

TEST(the_word_at_sp_plus_something)
{
	begin(EM_X86_64);
	outermost();
	rule(1, UNWIND_CFA_SP_DEREF, 24)->cfa_add = 8; /* mov %rsp,%rax; and; mov %rax,24(%rsp) */
	at(FUNCTION(1) + 0x10, 2, 0);
	t.stack[5] = word(10);
	t.stack[10] = CALL(0);
	EXPECT_WALK(CHAIN_COMPLETE, LEAF(1), FRAME(0));
}

TEST(a_lazy_binding_stub)
{
	begin(EM_X86_64);
	outermost();
	rule(1, UNWIND_CFA_PLT, 11);
	t.stack[4] = CALL(0);
	for (unsigned i = 0; i < 32; i++) { /* endbr/jmp, then push: at byte 11 it is done */
		bool pushed = (i & 15) >= 11;

		at(FUNCTION(1) + i, pushed ? 3 : 4, 0);
		EXPECT_WALK(CHAIN_COMPLETE, IN_FILE(PROGRAM, FUNCTION(1) + i), FRAME(0));
	}
}

/* The registers of a signal's frame, whose ucontext is at word I of the stack. */
static void signal_frame(unsigned i, uint64_t ip, unsigned sp, unsigned fp)
{
	uint64_t *regs = &t.stack[i + 5];

	for (int r = 0; r < 18; r++)
		regs[r] = 0x5000 + (unsigned)r;
	regs[10] = word(fp);
	regs[15] = word(sp);
	regs[16] = ip;
}

TEST(through_a_signal)
{
	begin(EM_X86_64);
	outermost();
	rule(1, UNWIND_CFA_SP, 16); /* the handler */
	rule(2, UNWIND_CFA_SIGNAL, 0);
	rule(3, UNWIND_CFA_REG, 8)->cfa_reg = 8; /* r8 is known there */
	at(FUNCTION(1) + 0x10, 2, 0);
	t.stack[3] = FUNCTION(2); /* its first byte */
	signal_frame(4, FUNCTION(3), 60, 0);
	t.stack[9] = word(70); /* r8 */
	t.stack[70] = CALL(0);
	/* One byte earlier is function 1's: the frame information of glibc begins there. */
	t.words[N_FUNCTIONS + 1 + 2]--;
	t.words[2] = 3;
	EXPECT_WALK(CHAIN_COMPLETE, LEAF(1), IN_FILE(PROGRAM, FUNCTION(2)),
		    IN_FILE(PROGRAM, FUNCTION(3)), FRAME(0));
}

/* Go's handler has pushed the address that was interrupted, and not yet said where to go on. */
TEST(through_a_signal_whose_handler_makes_a_call)
{
	begin(EM_X86_64);
	outermost();
	rule(1, UNWIND_CFA_SP, 16); /* the handler */
	rule(2, UNWIND_CFA_SIGNAL, 0)->why = UNWIND_STOPS;
	rule(4, UNWIND_CFA_SP, 8);
	at(FUNCTION(1) + 0x10, 2, 0);
	t.stack[3] = CALL(2);
	signal_frame(4, FUNCTION(4), 60, 0);
	t.stack[60] = FUNCTION(4);
	t.stack[61] = CALL(0);
	EXPECT_WALK(CHAIN_COMPLETE, LEAF(1), IN_FILE(PROGRAM, CALL(2)),
		    IN_FILE(PROGRAM, FUNCTION(4)), FRAME(0));
	t.stack[60] = CALL(0); /* before it has pushed */
	EXPECT_WALK(CHAIN_COMPLETE, LEAF(1), IN_FILE(PROGRAM, CALL(2)),
		    IN_FILE(PROGRAM, FUNCTION(4)), FRAME(0));
	t.stack[60] = FUNCTION(4); /* what was called from the end of the code before it */
	t.rules[2 + 1].why = 0;
	EXPECT_WALK(CHAIN_NO_RULE, LEAF(1), IN_FILE(PROGRAM, CALL(2)),
		    IN_FILE(PROGRAM, FUNCTION(4)), IN_FILE(PROGRAM, FUNCTION(4) - 1));
}

/* Function 2 went on with the thread's stack, which lies above the goroutine's. */
TEST(from_the_stack_of_a_thread_to_that_of_its_goroutine)
{
	struct unwind_rule *r;

	begin(EM_X86_64);
	outermost();
	rule(1, UNWIND_CFA_SP, 8);
	r = rule(2, UNWIND_CFA_GOROUTINE, 16);
	r->bx_at = 3;
	r->fp_at = -2;
	rule(3, UNWIND_CFA_FP, 16)->fp_at = -2;
	at(FUNCTION(1) + 0x10, 100, 0);
	t.stack[100] = CALL(2);
	t.stack[10] = word(40);
	t.stack[11] = CALL(3);
	t.stack[41] = CALL(0);
	t.in.thread = THREAD_AVMA;
	put_goroutine(true, word(10), 0, 0);
	EXPECT_WALK(CHAIN_COMPLETE, LEAF(1), FRAME(2), FRAME(3), FRAME(0));

	/* It goes on elsewhere. */
	r->cfa_reg = UNWIND_SWITCH_LEAVES;
	t.stack[19] = CALL(3);
	put_goroutine(true, word(20), CALL(3), word(40));
	EXPECT_WALK(CHAIN_COMPLETE, LEAF(1), FRAME(2), FRAME(3), FRAME(0));
	/* Not behind a call. */
	put_goroutine(true, word(20), FUNCTION(3), word(40));
	EXPECT_WALK(CHAIN_COMPLETE, LEAF(1), FRAME(2), IN_FILE(PROGRAM, FUNCTION(3)), FRAME(0));

	/* Not yet: behind the call of function 2, with the stack pointer of where it will go on. */
	put_goroutine(true, word(20), CALL(3), word(40));
	t.stack[19] = 0;
	t.code_avma = CALL(3) - 8;
	t.code[0] = (FUNCTION(2) - CALL(3)) << 32 | 0xe8000000;
	EXPECT_WALK(CHAIN_REGISTER_LOST, LEAF(1), FRAME(2));
	t.code[0] = (FUNCTION(4) - CALL(3)) << 32 | 0xe8000000; /* it goes on behind another call */
	EXPECT_WALK(CHAIN_COMPLETE, LEAF(1), FRAME(2), IN_FILE(PROGRAM, CALL(3)), FRAME(0));

	/* It parked its goroutine. */
	put_goroutine(false, 0, 0, 0);
	EXPECT_WALK(CHAIN_COMPLETE, LEAF(1), FRAME(2));

	/* There is one place only for where the goroutine was. */
	t.stack[19] = CALL(2);
	put_goroutine(true, word(20), CALL(2), word(40));
	EXPECT_WALK(CHAIN_NOT_RISING, LEAF(1), FRAME(2), FRAME(2));

	/* Where it was called is kept while it calls the vdso, on whichever stack. */
	r->cfa_reg = UNWIND_SWITCH_KEEPS;
	put_goroutine(false, 0, 0, 0);
	go_words[1 + 20 + 3] = word(12); /* m's */
	EXPECT_WALK(CHAIN_COMPLETE, LEAF(1), FRAME(2), FRAME(3), FRAME(0));
	r->cfa_reg = UNWIND_SWITCH_LEAVES;

	put_goroutine(true, 0, CALL(3), 0);
	EXPECT_WALK(CHAIN_UNREADABLE, LEAF(1), FRAME(2));
	t.in.thread = 0;
	EXPECT_WALK(CHAIN_UNREADABLE, LEAF(1), FRAME(2));
}

TEST(from_an_alternate_stack_down)
{
	begin(EM_X86_64);
	outermost();
	rule(1, UNWIND_CFA_SP, 8);
	rule(2, UNWIND_CFA_SIGNAL, 0);
	at(FUNCTION(1) + 0x10, 100, 0);
	t.stack[100] = CALL(2);
	signal_frame(101, FUNCTION(1) + 0x10, 4, 0);
	t.stack[4] = CALL(0);
	EXPECT_WALK(CHAIN_COMPLETE, LEAF(1), IN_FILE(PROGRAM, CALL(2)), LEAF(1), FRAME(0));

	/* Frames that lead back to themselves, again and again. */
	signal_frame(101, FUNCTION(1) + 0x10, 100, 0);
	EXPECT_EQ(walk(), CHAIN_NOT_RISING);
	EXPECT_EQ(t.n, 2 * (WALK_MAX_FALLS + 1));
}

TEST(a_trampoline_without_frame_information_is_known_by_its_code)
{
	static const uint8_t mov_rax[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};
	static const uint8_t mov_eax[] = {0xb8, 15, 0, 0, 0, 0x0f, 0x05};

	for (int i = 0; i < 3; i++) {
		begin(EM_X86_64);
		outermost();
		rule(1, UNWIND_CFA_SP, 8);
		at(FUNCTION(1) + 0x10, 2, 0);
		t.stack[2] = t.code_avma = LIB_AVMA + 0x100;
		memcpy(t.code, i == 0 ? mov_rax : mov_eax,
		       i == 0 ? sizeof(mov_rax) : sizeof(mov_eax));
		signal_frame(3, FUNCTION(1) + 0x10, 60, 0);
		t.stack[60] = CALL(0);
		if (i < 2) {
			EXPECT_WALK(CHAIN_COMPLETE, LEAF(1),
				    (uint64_t)LIB << FRAME_IMAGE_SHIFT | (CODE_OFF + 0x100),
				    LEAF(1), FRAME(0));
			continue;
		}
		((uint8_t *)t.code)[1] = 14; /* another system call */
		EXPECT_EQ(walk(), CHAIN_NO_RULE);
		EXPECT_EQ(t.n, 2);
	}
}

TEST(behind_a_system_call_the_frame_is_a_caller)
{
	begin(EM_X86_64);
	outermost();
	rule(1, UNWIND_CFA_SP, 8);
	rule(2, UNWIND_CFA_SP, 16);
	t.in.in_call = true;
	at(FUNCTION(2), 4, 0); /* function 1 ends with the call */
	t.stack[4] = CALL(0);
	EXPECT_WALK(CHAIN_COMPLETE, IN_FILE(PROGRAM, FUNCTION(2) - 1), FRAME(0));
}

TEST(by_frame_pointer_where_there_is_no_table)
{
	static const struct {
		uint64_t avma, frame;
	} where[] = {
		{JIT_AVMA, JIT_AVMA + 0x1f},
		{NEW_AVMA, NEW_AVMA + 0x1f},
		{BARE_AVMA, (uint64_t)BARE << FRAME_IMAGE_SHIFT | (CODE_OFF + 0x1f)},
		{LIB_AVMA, (uint64_t)LIB << FRAME_IMAGE_SHIFT | (CODE_OFF + 0x1f)},
	};

	for (unsigned i = 0; i < sizeof(where) / sizeof(where[0]); i++) {
		begin(EM_X86_64);
		outermost();
		rule(1, UNWIND_CFA_SP, 8);
		rule(2, UNWIND_CFA_FP, 16)->fp_at = -2;
		at(FUNCTION(1) + 0x10, 2, 6);
		t.stack[2] = where[i].avma + 0x20;
		t.stack[6] = word(12);
		t.stack[7] = where[i].avma + 0x20;
		t.stack[12] = word(20); /* of a function with a table again */
		t.stack[13] = CALL(2);
		t.stack[20] = 0;
		t.stack[21] = CALL(0);
		EXPECT_WALK(CHAIN_COMPLETE, LEAF(1), where[i].frame, where[i].frame | FRAME_GUESSED,
			    FRAME(2) | FRAME_GUESSED, FRAME(0));
		EXPECT_EQ(t.n_wanted, where[i].avma == BARE_AVMA ? 2 : 0);

		/* A frame pointer of 0 is the end, but only of frames that have one. */
		t.stack[12] = 0;
		t.stack[13] = where[i].avma + 0x20;
		EXPECT_WALK(CHAIN_COMPLETE, LEAF(1), where[i].frame, where[i].frame | FRAME_GUESSED,
			    where[i].frame | FRAME_GUESSED);
	}
}

/* Calls generated code without a frame pointer, in which CODE comes after the call. */
static void through(uint64_t code)
{
	begin(EM_X86_64);
	outermost();
	rule(1, UNWIND_CFA_SP, 8);
	rule(2, UNWIND_CFA_FP, 16);
	at(FUNCTION(1) + 0x10, 4, 0);
	t.stack[4] = JIT_AVMA + 0x20;
	t.code_avma = JIT_AVMA + 0x20;
	t.code[0] = code;
}

TEST(generated_code_by_the_epilogue_behind_the_call)
{
	through(0xc3); /* ret */
	t.stack[5] = CALL(0);
	EXPECT_WALK(CHAIN_COMPLETE, LEAF(1), JIT_AVMA + 0x1f, FRAME(0));

	through(0xccccccc310c48348); /* add $16,%rsp; ret */
	t.stack[7] = CALL(0);
	EXPECT_WALK(CHAIN_COMPLETE, LEAF(1), JIT_AVMA + 0x1f, FRAME(0));

	through(0xc35d); /* pop %rbp; ret: into code that needs it */
	t.stack[5] = word(8);
	t.stack[6] = CALL(2);
	t.stack[9] = CALL(0);
	EXPECT_WALK(CHAIN_COMPLETE, LEAF(1), JIT_AVMA + 0x1f, FRAME(2), FRAME(0));

	through(0xc35d08c48348); /* add $8,%rsp; pop %rbp; ret */
	t.stack[6] = word(9);
	t.stack[7] = CALL(2);
	t.stack[10] = CALL(0);
	EXPECT_WALK(CHAIN_COMPLETE, LEAF(1), JIT_AVMA + 0x1f, FRAME(2), FRAME(0));
}

TEST(what_is_no_epilogue_tells_nothing)
{
	static const uint64_t codes[] = {
		0xc390,	      /* nop; ret */
		0xc3f8c48348, /* add $-8,%rsp; ret */
		0x9008c48348, /* add $8,%rsp; nop */
		0xc35b,	      /* pop %rbx; ret */
	};

	for (unsigned i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		through(codes[i]);
		t.stack[5] = t.stack[6] = CALL(0);
		EXPECT_WALK(CHAIN_NO_RULE, LEAF(1), JIT_AVMA + 0x1f);
	}
	through(0xc3); /* to nowhere */
	t.stack[5] = 0x1234;
	EXPECT_WALK(CHAIN_NO_RULE, LEAF(1), JIT_AVMA + 0x1f);
	through(0xc3); /* interrupted there: the stack is what it is before the instruction */
	t.in.regs[WALK_X86_IP] = JIT_AVMA + 0x20;
	t.stack[4] = CALL(0);
	EXPECT_WALK(CHAIN_NO_RULE, JIT_AVMA + 0x20);
}

TEST(what_does_not_look_like_a_frame_is_none)
{
	begin(EM_X86_64);
	rule(1, UNWIND_CFA_SP, 8);
	at(FUNCTION(1) + 0x10, 4, 9);
	t.stack[4] = JIT_AVMA + 0x20;
	t.stack[9] = word(20);
	t.stack[10] = 0x1234; /* mapped nowhere */
	EXPECT_WALK(CHAIN_NO_RULE, LEAF(1), JIT_AVMA + 0x1f);
	t.stack[10] = 0;
	EXPECT_WALK(CHAIN_NO_RULE, LEAF(1), JIT_AVMA + 0x1f);
	t.stack[4] = NEW_AVMA + 0x20;
	EXPECT_WALK(CHAIN_NO_TABLE, LEAF(1), NEW_AVMA + 0x1f);
	at(FUNCTION(1) + 0x10, 4, 0); /* 0, but no frame before it says that it is one */
	EXPECT_WALK(CHAIN_NO_TABLE, LEAF(1), NEW_AVMA + 0x1f);
	at(FUNCTION(1) + 0x10, 4, 3); /* below the stack pointer */
	t.stack[3 + 1] = NEW_AVMA + 0x20;
	EXPECT_WALK(CHAIN_NO_TABLE, LEAF(1), NEW_AVMA + 0x1f);
	at(FUNCTION(1) + 0x10, 4, 9); /* not aligned */
	t.in.regs[WALK_X86_FP] += 4;
	EXPECT_WALK(CHAIN_NO_TABLE, LEAF(1), NEW_AVMA + 0x1f);
	t.rules[1 + 1].fp_at = UNWIND_LOST;
	EXPECT_WALK(CHAIN_NO_TABLE, LEAF(1), NEW_AVMA + 0x1f);
}

TEST(where_the_stack_of_the_process_begins_is_the_end)
{
	begin(EM_X86_64);
	rule(1, UNWIND_CFA_SP, 8);
	at(FUNCTION(1) + 0x10, 4, 0);
	t.stack[4] = LIB_AVMA + 0x20; /* the loader's entry has no frame information */
	t.in.entry_sp = word(5);
	EXPECT_WALK(CHAIN_COMPLETE, LEAF(1),
		    (uint64_t)LIB << FRAME_IMAGE_SHIFT | (CODE_OFF + 0x1f));
	t.in.entry_sp = word(10);
	EXPECT_EQ(walk(), CHAIN_NO_RULE);
	t.in.entry_sp = word(4);
	EXPECT_EQ(walk(), CHAIN_NO_RULE);
}

TEST(makecontext_is_the_end)
{
	static const struct {
		uint16_t machine;
		uint64_t code;
	} begins[] = {{EM_X86_64, 0x48243c8b48dc8948}, {EM_AARCH64, 0xb5fff9c0aa1303e0}};

	for (unsigned i = 0; i < 2; i++) {
		uint64_t there = FUNCTION(2) + 0x40; /* function 2 has no rule, 3 has */

		begin(begins[i].machine);
		rule(1, UNWIND_CFA_SP, 8);
		rule(3, UNWIND_CFA_SP, 8);
		at(FUNCTION(1) + 0x10, 4, 0);
		t.stack[4] = t.code_avma = there;
		t.code[0] = begins[i].code;
		EXPECT_WALK(CHAIN_COMPLETE, LEAF(1), IN_FILE(PROGRAM, there));
		t.code[0] ^= 1; /* other code */
		EXPECT_WALK(CHAIN_NO_RULE, LEAF(1), IN_FILE(PROGRAM, there - 1));

		/* The address of some procedure is no end, though nothing is known of what lies
		 * before it. */
		t.stack[4] = FUNCTION(3);
		EXPECT_WALK(CHAIN_NO_RULE, LEAF(1), IN_FILE(PROGRAM, FUNCTION(3) - 1));
	}
}

TEST(a_return_address_of_zero_is_the_end)
{
	begin(EM_X86_64);
	rule(1, UNWIND_CFA_SP, 8);
	at(FUNCTION(1) + 0x10, 4, 0);
	EXPECT_WALK(CHAIN_COMPLETE, LEAF(1));
}

TEST(causes)
{
	begin(EM_X86_64);
	rule(1, UNWIND_CFA_SP, 8);
	at(0x1234, 4, 0);
	EXPECT_EQ(walk(), CHAIN_NO_MAPPING);
	EXPECT_EQ(t.n, 0);
	at(FUNCTION(1) + 0x10, 4, 0);
	t.stack[4] = 0x1234;
	EXPECT_WALK(CHAIN_NO_MAPPING, LEAF(1));

	t.rules[2 + 1] = (struct unwind_rule){.why = UNWIND_TOO_COMPLEX};
	t.stack[4] = CALL(2);
	EXPECT_WALK(CHAIN_TOO_COMPLEX, LEAF(1), FRAME(2));
	t.rules[2 + 1] = (struct unwind_rule){.why = UNWIND_DAMAGED};
	EXPECT_WALK(CHAIN_NO_RULE, LEAF(1), FRAME(2));

	rule(2, UNWIND_CFA_SP, 8 * N_WORDS);
	EXPECT_WALK(CHAIN_UNREADABLE, LEAF(1), FRAME(2));
	rule(2, UNWIND_CFA_SP, -8 * 100);
	EXPECT_WALK(CHAIN_NOT_RISING, LEAF(1), FRAME(2));
	rule(2, UNWIND_CFA_SP, 0);
	EXPECT_WALK(CHAIN_NOT_RISING, LEAF(1), FRAME(2));
	rule(2, UNWIND_CFA_FP_DEREF, 8);
	EXPECT_WALK(CHAIN_UNREADABLE, LEAF(1), FRAME(2));
	rule(2, UNWIND_CFA_SIGNAL, 0);
	at(FUNCTION(2), N_WORDS - 4, 0);
	EXPECT_WALK(CHAIN_UNREADABLE, IN_FILE(PROGRAM, FUNCTION(2)));

	rule(1, UNWIND_CFA_SP, 8)->fp_at = UNWIND_LOST;
	rule(2, UNWIND_CFA_FP, 8);
	at(FUNCTION(1) + 0x10, 4, 9);
	t.stack[4] = CALL(2);
	EXPECT_WALK(CHAIN_REGISTER_LOST, LEAF(1), FRAME(2));
}

TEST(return_address_in_a_register) /* vfork's, while it is in the kernel: rdi */
{
	begin(EM_X86_64);
	outermost();
	*rule(1, UNWIND_CFA_SP, 0) =
		(struct unwind_rule){.cfa = UNWIND_CFA_SP, .ra = UNWIND_RA_REGISTER, .ra_at = 5};
	at(FUNCTION(1) + 0x10, 4, 0);
	t.in.regs[5] = CALL(0);
	EXPECT_WALK(CHAIN_COMPLETE, LEAF(1), FRAME(0));
	t.in.regs[5] = CALL(1); /* known in the innermost frame only */
	EXPECT_WALK(CHAIN_REGISTER_LOST, LEAF(1), FRAME(1));
	t.rules[1 + 1].ra_at = WALK_MAX_REGISTERS;
	EXPECT_WALK(CHAIN_REGISTER_LOST, LEAF(1));
}

TEST(behind_a_system_call) /* clone3's frame information ends before it */
{
	begin(EM_X86_64);
	outermost();
	rule(1, UNWIND_CFA_SP, 8);
	at(FUNCTION(2) + 2, 4, 0); /* function 2 has none */
	t.stack[4] = CALL(0);
	EXPECT_WALK(CHAIN_NO_RULE, IN_FILE(PROGRAM, FUNCTION(2) + 2));
	t.in.in_call = true;
	EXPECT_WALK(CHAIN_COMPLETE, IN_FILE(PROGRAM, FUNCTION(2) + 1), FRAME(0));
	t.in.regs[WALK_X86_AX] = 0; /* in the thread that it made */
	EXPECT_WALK(CHAIN_COMPLETE, IN_FILE(PROGRAM, FUNCTION(2) + 1));
	t.in.lacks = WALK_FULL; /* not recorded: no 0 */
	EXPECT_WALK(CHAIN_NO_RULE, IN_FILE(PROGRAM, FUNCTION(2) + 1));
}

TEST(no_stack_at_all)
{
	begin(EM_X86_64);
	rule(1, UNWIND_CFA_SP, 8);
	at(FUNCTION(1) + 0x10, 0, 0);
	for (t.in.n_bytes = 0; t.in.n_bytes < 8; t.in.n_bytes++)
		EXPECT_WALK(CHAIN_UNREADABLE, LEAF(1));
}

TEST(deeper_than_there_is_room)
{
	static uint8_t deep[8 * (CHAIN_MAX_FRAMES + 8)];

	begin(EM_X86_64);
	rule(1, UNWIND_CFA_SP, 8);
	for (unsigned i = 0; i < sizeof(deep) / 8; i++)
		memcpy(deep + 8 * i, &(uint64_t){CALL(1)}, 8);
	at(FUNCTION(1) + 0x10, 0, 0);
	t.in.stack = deep;
	t.in.n_bytes = sizeof(deep);
	EXPECT_EQ(walk(), CHAIN_TOO_DEEP);
	EXPECT_EQ(t.n, CHAIN_MAX_FRAMES);
	EXPECT_EQ(t.frames[CHAIN_MAX_FRAMES - 1], FRAME(1));
}

/* Any tables, registers and stack: it ends, and what it yields is what a chain may hold. */
TEST(anything_ends)
{
	struct t_rng r = {1};

	for (unsigned n = t_cases(20000); n; n--) {
		begin(n & 1 ? EM_X86_64 : EM_AARCH64);
		for (unsigned i = 1; i <= N_FUNCTIONS; i++) {
			for (unsigned b = 0; b < sizeof(t.rules[i]); b++)
				((uint8_t *)&t.rules[i])[b] = (uint8_t)t_rand(&r);
			t.rules[i].cfa = (unsigned char)t_below(&r, UNWIND_CFA_SIGNAL + 1);
			t.rules[i].ra =
				t_below(&r, 8) ? UNWIND_RA_SAVED : (unsigned char)t_below(&r, 3);
			t.rules[i].cfa_off = (int)t_below(&r, 128) - 16;
			t.rules[i].ra_at = (short)((int)t_below(&r, 8) - 6);
			t.rules[i].fp_at = (short)((int)t_below(&r, 8) - 6);
			t.rules[i].bx_at = (short)((int)t_below(&r, 8) - 6);
		}
		for (unsigned i = 0; i < N_WORDS; i++)
			t.stack[i] = t_below(&r, 2) ? FUNCTION(t_below(&r, N_FUNCTIONS)) + 0x10
						    : word((unsigned)t_below(&r, N_WORDS + 8));
		for (unsigned i = 0; i < WALK_MAX_REGISTERS; i++)
			t.in.regs[i] = word((unsigned)t_below(&r, N_WORDS + 8));
		t.in.regs[t.in.machine == EM_AARCH64 ? WALK_ARM_IP : WALK_X86_IP] =
			FUNCTION(t_below(&r, N_FUNCTIONS));
		REQUIRE(walk() < CHAIN_N_CAUSES);
		REQUIRE(t.n <= CHAIN_MAX_FRAMES);
		for (unsigned i = 0; i < t.n; i++)
			REQUIRE(!(t.frames[i] & FRAME_KERNEL) &&
				(t.frames[i] >> FRAME_IMAGE_SHIFT & FRAME_MAX_IMAGES) == PROGRAM);
	}
}
