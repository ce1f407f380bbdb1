/* SPDX-License-Identifier: BSD-2-Clause */
/* Stack walks on AArch64, over tables and stacks made by hand. */
#include "walk_t.h"

/* Function 1 keeps its return address where the call put it. */
static struct unwind_rule *leaf_without_frame(void)
{
	struct unwind_rule *r = rule(1, UNWIND_CFA_SP, 0);

	r->ra = UNWIND_RA_REGISTER;
	r->ra_at = WALK_ARM_LR;
	return r;
}

TEST(arm_leaf_and_frames)
{
	begin(EM_AARCH64);
	outermost();
	leaf_without_frame();
	*rule(2, UNWIND_CFA_SP, 48) =
		(struct unwind_rule){.cfa = UNWIND_CFA_SP, .cfa_off = 48, .fp_at = -6, .ra_at = -5};
	*rule(3, UNWIND_CFA_FP, 32) = (struct unwind_rule){
		.cfa = UNWIND_CFA_FP, .cfa_off = 32, .fp_at = -4, .ra_at = -3, .signed_ra = 1};
	at(FUNCTION(1) + 0x10, 4, 0);
	t.in.regs[WALK_ARM_LR] = CALL(2);
	t.stack[4] = word(14);
	t.stack[5] = CALL(3);
	t.stack[14] = 0;
	t.stack[15] = CALL(0) | 0x2aULL << 56 | 0x1fULL << 48; /* with its code */
	EXPECT_WALK(CHAIN_COMPLETE, LEAF(1), FRAME(2), FRAME(3), FRAME(0));

	/* A caller's link register is gone. */
	t.stack[5] = CALL(1);
	EXPECT_WALK(CHAIN_REGISTER_LOST, LEAF(1), FRAME(2), FRAME(1));
	t.in.regs[WALK_ARM_LR] = 0;
	EXPECT_WALK(CHAIN_COMPLETE, LEAF(1));
}

TEST(arm_by_frame_record)
{
	begin(EM_AARCH64);
	outermost();
	at(JIT_AVMA + 0x10, 2, 4);
	t.stack[4] = word(9);
	t.stack[5] = (JIT_AVMA + 0x40) | 0x7fULL << 48;
	t.stack[9] = 0;
	t.stack[10] = CALL(0);
	EXPECT_WALK(CHAIN_COMPLETE, JIT_AVMA + 0x10, (JIT_AVMA + 0x3f) | FRAME_GUESSED,
		    FRAME(0) | FRAME_GUESSED);
}

TEST(arm_through_a_signal)
{
	for (int by_code = 0; by_code < 2; by_code++) {
		uint64_t trampoline = by_code ? LIB_AVMA + 0x100 : FUNCTION(2) + 4;
		uint64_t *regs;

		begin(EM_AARCH64);
		outermost();
		leaf_without_frame();
		rule(2, UNWIND_CFA_SIGNAL, 0);
		rule(3, UNWIND_CFA_REG, 16)->cfa_reg = 9;
		t.rules[3 + 1].ra_at = -2;
		at(FUNCTION(1) + 0x10, 2, 0);
		t.in.regs[WALK_ARM_LR] = t.code_avma = trampoline;
		t.code[0] = 0xd4000001d2801168; /* mov x8, #139; svc #0 */
		regs = &t.stack[2 + (128 + 176 + 8) / 8];
		for (unsigned r = 0; r < 31; r++)
			regs[r] = 0x5000 + r;
		regs[9] = word(100);
		regs[31] = word(90);
		regs[32] = FUNCTION(3) + 8;
		t.stack[100] = CALL(0);
		EXPECT_WALK(CHAIN_COMPLETE, LEAF(1),
			    by_code ? (uint64_t)LIB << FRAME_IMAGE_SHIFT | (CODE_OFF + 0x100)
				    : IN_FILE(PROGRAM, trampoline),
			    IN_FILE(PROGRAM, FUNCTION(3) + 8), FRAME(0));
	}
}

TEST(arm_does_not_rise_by_the_link_register_alone)
{
	begin(EM_AARCH64);
	leaf_without_frame();
	rule(2, UNWIND_CFA_SP, 0)->ra_at = 0;
	at(FUNCTION(1) + 0x10, 4, 0);
	t.in.regs[WALK_ARM_LR] = CALL(2);
	t.stack[4] = CALL(2);
	EXPECT_WALK(CHAIN_NOT_RISING, LEAF(1), FRAME(2));
	leaf_without_frame()->cfa_off = -8;
	EXPECT_WALK(CHAIN_NOT_RISING, LEAF(1));
}
