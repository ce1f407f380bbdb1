/* SPDX-License-Identifier: BSD-2-Clause */
/* What one step of a walk says of itself, for walkers that keep things between walks: for which
 * addresses a rule holds, and what a plain step depended on. */
#include <string.h>

#include "unwind/walk_state.h"

#include "t.h"

#define CODE_AVMA 0x400000
#define N_BLOCKS  6
#define N_ROWS	  200
#define STACK	  0x7ffc00001000

struct env {
	__u32 words[N_BLOCKS + 1 + N_ROWS];
	struct unwind_rule rules[N_ROWS + 1];
	struct unwind_image image;
	__u64 stack[64];
	__u64 code; /* before each address; 0: none can be read */
	/* What was to be remembered last. */
	__u64 frame;
	__u32 n_before, n_from;
	const struct unwind_rule *rule;
};

#define WALK_ENV     struct env
#define WALK_AARCH64 0
#include "unwind/made_code.h"
#include "unwind/walk.h"

static bool walk_word(struct env *e, __u64 avma, __u64 *ret)
{
	if (avma < STACK || avma >= STACK + sizeof(e->stack))
		return false;
	*ret = e->stack[(avma - STACK) / 8];
	return true;
}

static bool walk_code(struct env *e, __u64 avma, __u64 *ret)
{
	*ret = e->code;
	return e->code != 0;
}

static __u64 walk_thread(struct env *e)
{
	return 0;
}

static bool walk_region(struct env *e, __u64 avma, struct walk_region *ret)
{
	if (avma - CODE_AVMA >= N_BLOCKS * UNWIND_BLOCK)
		return false;
	*ret = (struct walk_region){.start = CODE_AVMA,
				    .end = CODE_AVMA + N_BLOCKS * UNWIND_BLOCK,
				    .bias = -(__u64)CODE_AVMA,
				    .image = 1};
	return true;
}

static __u32 walk_table_word(struct env *e, __u32 at)
{
	return e->words[at];
}

static const struct unwind_image *walk_image(struct env *e, __u32 number)
{
	return &e->image;
}

static const struct unwind_rule *walk_rule(struct env *e, __u32 number)
{
	return &e->rules[number];
}

static bool walk_is_left(struct env *e)
{
	return false;
}

static bool walk_keeps_fp(struct env *e, struct walk *w)
{
	(void)e, (void)w;
	return false;
}

static bool walk_leaves_made(struct env *e, struct walk *w)
{
	return false;
}

static const struct unwind_rule *walk_recall(struct env *e, __u64 frame)
{
	return NULL;
}

static void walk_remember(struct env *e, __u64 frame, __u32 n_before, __u32 n_from,
			  const struct unwind_rule *rule)
{
	e->frame = frame;
	e->n_before = n_before;
	e->n_from = n_from;
	e->rule = rule;
}

static void walk_want(struct env *e, __u32 image, __u64 avma)
{
}

static struct env env;

/* The table of rows that start at OFFS: row I has rule I + 1. */
static void make_table(const __u32 *offs, __u32 n)
{
	__u32 at = 0;

	memset(&env, 0, sizeof(env));
	env.image = (struct unwind_image){.n_blocks = N_BLOCKS, .rows_at = N_BLOCKS + 1};
	for (__u32 b = 0; b <= N_BLOCKS; b++) {
		while (at < n && offs[at] < b * UNWIND_BLOCK)
			at++;
		env.words[b] = at;
	}
	for (__u32 i = 0; i < n; i++) {
		env.words[N_BLOCKS + 1 + i] = (offs[i] & 0xffff) | (i + 1) << 16;
		env.rules[i + 1] = (struct unwind_rule){
			.cfa = UNWIND_CFA_SP, .cfa_off = 16, .ra = UNWIND_RA_SAVED, .ra_at = -1};
	}
}

/* Rows here and there, two blocks without any. */
TEST(rules_hold_from_one_row_to_the_next)
{
	__u32 offs[N_ROWS], n = 0;
	struct walk w = {.region = {.image = 1, .bias = -(__u64)CODE_AVMA}};
	const struct unwind_rule *rule;
	int why;

	for (__u32 off = 0; n < N_ROWS && off < N_BLOCKS * UNWIND_BLOCK; off += 1 + off * 7 % 61)
		if (off == 0 || off >> UNWIND_BLOCK_SHIFT != 2)
			offs[n++] = off;
	EXPECT(n > 100);
	make_table(offs, n);
	for (__u32 off = 0; off < N_BLOCKS * UNWIND_BLOCK; off++) {
		__u32 row = 0;

		while (row + 1 < n && offs[row + 1] <= off)
			row++;
		rule = walk_find_rule(&env, &w, CODE_AVMA + off, 1000 + off, &why);
		EXPECT(rule == &env.rules[row + 1] && env.rule == rule);
		EXPECT_EQ(env.frame, 1000 + off);
		/* Never wider than the row, and as wide as the block allows. */
		EXPECT(env.n_from >= 1);
		EXPECT(off - env.n_before >= offs[row]);
		EXPECT(off - env.n_before == offs[row] || (off - env.n_before) % UNWIND_BLOCK == 0);
		if (row + 1 < n)
			EXPECT(off + env.n_from <= offs[row + 1]);
		EXPECT((row + 1 < n && off + env.n_from == offs[row + 1]) ||
		       (off + env.n_from) % UNWIND_BLOCK == 0);
	}
}

/* One step from CODE_AVMA by RULE. */
static int step_by(struct unwind_rule rule, struct walk *w)
{
	const __u32 off = 0;
	__u64 frame;

	make_table(&off, 1);
	env.rules[1] = rule;
	for (__u32 i = 0; i < 64; i++)
		env.stack[i] = CODE_AVMA + i;
	env.stack[8] = STACK + 160; /* at sp */
	*w = (struct walk){.ip = CODE_AVMA + 100,
			   .sp = STACK + 64,
			   .fp = STACK + 128,
			   .bx = STACK + 256,
			   .flags = WALK_FP | WALK_BX};
	return walk_step(&env, w, &frame);
}

#define RULE(...)                                                                                  \
	((struct unwind_rule){.ra = UNWIND_RA_SAVED, .ra_at = -1, .cfa_off = 32, __VA_ARGS__})

TEST(a_plain_step_names_the_words_it_read)
{
	struct walk w;

	EXPECT_EQ(step_by(RULE(.cfa = UNWIND_CFA_SP), &w), WALK_ON);
	EXPECT_EQ(w.step, WALK_PLAIN | 0xffff);
	EXPECT_EQ(w.sp, STACK + 96);

	EXPECT_EQ(step_by(RULE(.cfa = UNWIND_CFA_SP, .fp_at = -2, .bx_at = -3), &w), WALK_ON);
	EXPECT(w.step & WALK_PLAIN && !(w.step & (WALK_STEP_BY_FP | WALK_STEP_BY_BX)));
	EXPECT_EQ(WALK_STEP_RA(w.step), -1);
	EXPECT_EQ(WALK_STEP_FP(w.step), -2);
	EXPECT_EQ(WALK_STEP_BX(w.step), -3);

	EXPECT_EQ(step_by(RULE(.cfa = UNWIND_CFA_FP, .fp_at = UNWIND_LOST), &w), WALK_ON);
	EXPECT_EQ(w.step, WALK_PLAIN | WALK_STEP_BY_FP | 0xffff);
	EXPECT_EQ(w.flags, WALK_BX);
	EXPECT_EQ(step_by(RULE(.cfa = UNWIND_CFA_REG, .cfa_reg = WALK_X86_BX), &w), WALK_ON);
	EXPECT_EQ(w.step, WALK_PLAIN | WALK_STEP_BY_BX | 0xffff);
}

TEST(the_outermost_step_is_plain_too)
{
	const __u32 off = 0;
	struct walk w;
	__u64 frame;

	EXPECT_EQ(step_by(RULE(.cfa = UNWIND_CFA_SP, .ra = UNWIND_RA_NONE), &w), CHAIN_COMPLETE);
	EXPECT_EQ(w.step, WALK_PLAIN);

	step_by(RULE(.cfa = UNWIND_CFA_SP, .fp_at = -2), &w);
	make_table(&off, 1);
	env.rules[1] = RULE(.cfa = UNWIND_CFA_SP, .fp_at = -2);
	w = (struct walk){.ip = CODE_AVMA + 100, .sp = STACK + 64, .flags = WALK_FP};
	EXPECT_EQ(walk_step(&env, &w, &frame), CHAIN_COMPLETE); /* a return address of 0 */
	EXPECT_EQ(w.step, WALK_PLAIN | 0xffff);			/* nothing else was read */
	EXPECT_EQ(w.sp, STACK + 96);
	EXPECT_EQ(w.ip, 0);
}

TEST(steps_that_depend_on_more_are_not_plain)
{
	struct walk w;

	EXPECT_EQ(step_by(RULE(.cfa = UNWIND_CFA_SP_DEREF, .cfa_off = 0), &w), WALK_ON);
	EXPECT_EQ(w.sp, STACK + 160);
	EXPECT_EQ(w.step, 0);
	EXPECT_EQ(step_by(RULE(.cfa = UNWIND_CFA_FP, .fp_at = -2, .by_fp = UNWIND_FP_BY_FP), &w),
		  WALK_ON);
	EXPECT_EQ(w.step, 0);
	/* Saved, but below what can be read. */
	EXPECT_EQ(step_by(RULE(.cfa = UNWIND_CFA_SP, .fp_at = -100), &w), WALK_ON);
	EXPECT_EQ(w.step, 0);
	EXPECT_EQ(step_by(RULE(.cfa = UNWIND_CFA_SP, .cfa_off = 0), &w), CHAIN_NOT_RISING);
	EXPECT_EQ(w.step, 0);
}

/* --- Code that interpreters' compilers make --- */

#define LOOP (CODE_AVMA + 0x1000)

/* Whether a walk whose stack pointer is at word 0 of the stack leaves such code at one of the words
 * that are looked at, as BPF's side does. */
static bool leaves(struct walk *w, const struct made_loop *m)
{
	*w = (struct walk){.ip = 0x7f0000000000, .sp = STACK, .flags = WALK_FP | WALK_BX};
	for (__u32 i = 0; i < (m->is_ruby ? MADE_WORDS : MADE_PHP_BYTES / 8 + 1); i++)
		if (made_word(&env, w, m, i))
			return true;
	return false;
}

/* PHP's runs in the loop's frame, which is found by its return address. */
TEST(made_code_of_php)
{
	const struct made_loop m = {
		.ip = LOOP, .start = CODE_AVMA, .end = CODE_AVMA + 0x8000, .frame_bytes = 48};
	struct walk w;

	memset(&env, 0, sizeof(env));
	env.code = 0xe8ULL << 24;
	EXPECT(!leaves(&w, &m));
	env.stack[5] = CODE_AVMA + 0x7000;
	EXPECT(leaves(&w, &m));
	EXPECT_EQ(w.ip, LOOP);
	EXPECT_EQ(w.sp, STACK);
	EXPECT_EQ(w.flags, 0);
	env.stack[5] = 0;
	env.stack[7] = CODE_AVMA + 0x7000; /* 16 bytes of its own */
	EXPECT(leaves(&w, &m));
	EXPECT_EQ(w.sp, STACK + 16);
	env.code = 0x10ffULL << 40; /* by a register */
	EXPECT(leaves(&w, &m));
	env.code = 0x90; /* no call */
	EXPECT(!leaves(&w, &m));
	env.code = 0; /* cannot be read */
	EXPECT(!leaves(&w, &m));
	env.code = 0xe8ULL << 24;
	env.stack[7] = CODE_AVMA + 0x8000; /* another mapping */
	EXPECT(!leaves(&w, &m));
	env.stack[7] = 0;
	env.stack[10] = CODE_AVMA + 0x7000; /* too far */
	EXPECT(!leaves(&w, &m));
}

/* Ruby's returns to the loop that called it. */
TEST(made_code_of_ruby)
{
	const struct made_loop m = {.ip = LOOP,
				    .start = CODE_AVMA - 0x100000,
				    .end = CODE_AVMA + 0x100000,
				    .frame_bytes = 48,
				    .is_ruby = 1};
	struct walk w;

	memset(&env, 0, sizeof(env));
	env.code = 0xd0ffULL << 48;
	EXPECT(!leaves(&w, &m));
	env.stack[2] = LOOP + MADE_LOOP_BYTES + 1; /* another procedure */
	EXPECT(!leaves(&w, &m));
	env.stack[3] = LOOP + 0x20;
	EXPECT(leaves(&w, &m));
	EXPECT_EQ(w.ip, LOOP + 0x20);
	EXPECT_EQ(w.sp, STACK + 32);
	EXPECT_EQ(w.flags, WALK_FP);
	env.stack[3] = 0;
	env.stack[MADE_WORDS] = LOOP + 0x20; /* too far */
	EXPECT(!leaves(&w, &m));
}
