/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables and stacks made by hand, for tests of walks over them.  A test's stack is words from
 * STACK_AVMA on; code is in one image whose functions are a block. */
#ifndef TESTS_WALK_T_H
#define TESTS_WALK_T_H

#include <elf.h>
#include <string.h>

#include "t.h"
#include "unwind/walk_host.h"

#define STACK_AVMA 0x7ffc00001000
#define CODE_AVMA  0x400000 /* the program: image PROGRAM, from file offset CODE_OFF on */
#define CODE_OFF   0x2000
#define CODE_SIZE  0x10000
#define JIT_AVMA   0x7f0000000000 /* no file */
#define NEW_AVMA   0x7f1000000000 /* a file nobody has a number for yet */
#define BARE_AVMA  0x7f2000000000 /* image BARE, without a table */
#define LIB_AVMA   0x7f3000000000 /* image LIB: no rule anywhere */

enum { PROGRAM = 2, BARE = 3, LIB = 4, N_FUNCTIONS = 16, N_WORDS = 256 };

/* What is at function number I of the program, and in it. */
#define FUNCTION(i) (CODE_AVMA + (uint64_t)(i)*UNWIND_BLOCK)
#define IN_FILE(number, avma)                                                                      \
	((uint64_t)(number) << FRAME_IMAGE_SHIFT | ((avma)-CODE_AVMA + CODE_OFF))
#define CALL(i) (FUNCTION(i) + 0x20) /* a return address into it */

static struct {
	uint32_t words[256];
	struct unwind_rule rules[UNWIND_N_RULES];
	struct unwind_image images[8];
	uint32_t clock;
	struct unwind_memory memory;
	uint64_t stack[N_WORDS];
	struct walk_input in;
	uint64_t code[2]; /* what is at CODE_SIGRETURN */
	uint64_t code_avma;
	unsigned n_wanted;
	uint64_t frames[CHAIN_MAX_FRAMES + 1];
	uint32_t n;
} t;

static bool find_region(void *ctx, uint64_t avma, struct walk_region *ret)
{
	static const struct {
		uint64_t start;
		uint32_t image;
	} maps[] = {{CODE_AVMA, PROGRAM},
		    {JIT_AVMA, WALK_ANONYMOUS},
		    {NEW_AVMA, WALK_UNKNOWN_FILE},
		    {BARE_AVMA, BARE},
		    {LIB_AVMA, LIB}};

	for (unsigned i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		if (avma >= maps[i].start && avma < maps[i].start + CODE_SIZE) {
			*ret = (struct walk_region){.start = maps[i].start,
						    .end = maps[i].start + CODE_SIZE,
						    .bias = CODE_OFF - maps[i].start,
						    .image = maps[i].image};
			return true;
		}
	return false;
}

/* Where a thread of Go's has its pointer, and the state it leads to: g, m, the goroutine. */
#define THREAD_AVMA 0x7f5000000000
#define GO_WORDS    64
#define GO_AT(word) (THREAD_AVMA + 8 * (uint64_t)(word))

static uint64_t go_words[GO_WORDS];

static bool read_code(void *ctx, uint64_t avma, uint64_t *ret)
{
	if (avma >= GO_AT(-1) && avma < GO_AT(GO_WORDS - 1)) {
		*ret = go_words[(avma - GO_AT(-1)) / 8];
		return true;
	}
	if (avma < t.code_avma || avma > t.code_avma + 8)
		return false;
	memcpy(ret, (const char *)t.code + (avma - t.code_avma), 8);
	return true;
}

/* The goroutine's sp, ip and fp; G 0: the thread has none. */
static inline void put_goroutine(bool has_one, uint64_t sp, uint64_t ip, uint64_t fp)
{
	uint64_t *at = go_words + 1; /* of the thread's pointer */

	memset(go_words, 0, sizeof(go_words));
	at[-1] = GO_AT(4);		      /* g0 */
	at[4 + 0x30 / 8] = GO_AT(20);	      /* its m */
	at[20 + 3] = has_one ? GO_AT(30) : 0; /* what that runs */
	at[30 + 0x38 / 8] = sp;
	at[30 + 0x40 / 8] = ip;
	at[30 + 0x68 / 8] = fp;
}

static void want(void *ctx, uint32_t image, uint64_t avma)
{
	EXPECT_EQ(image, BARE);
	t.n_wanted++;
}

/* A program whose function I has rule I + 1, which is made NONE here.  */
static inline void begin(uint16_t machine)
{
	memset(&t, 0, sizeof(t));
	for (uint32_t i = 0; i <= N_FUNCTIONS; i++)
		t.words[i] = i;
	for (uint32_t i = 0; i < N_FUNCTIONS; i++)
		t.words[N_FUNCTIONS + 1 + i] = (i + 1) << 16 | (CODE_OFF + i * UNWIND_BLOCK);
	t.images[PROGRAM] = (struct unwind_image){
		.first_off = CODE_OFF, .n_blocks = N_FUNCTIONS, .rows_at = N_FUNCTIONS + 1};
	t.images[LIB] = (struct unwind_image){
		.first_off = 1ULL << FRAME_IMAGE_SHIFT, .n_blocks = 1, .rows_at = 200};
	t.memory = (struct unwind_memory){.words = t.words,
					  .n_words = 256,
					  .rules = t.rules,
					  .images = t.images,
					  .n_images = 8,
					  .clock = &t.clock};
	t.clock = 7;
	t.in = (struct walk_input){.machine = machine,
				   .stack = (const uint8_t *)t.stack,
				   .n_bytes = sizeof(t.stack),
				   .stack_avma = STACK_AVMA,
				   .memory = &t.memory,
				   .find_region = find_region,
				   .read_code = read_code,
				   .want = want};
	for (int i = 0; i < WALK_MAX_REGISTERS; i++)
		t.in.regs[i] = 0xbad0bad0bad0 + (unsigned)i;
}

/* The registers that every walk starts with; words of the stack are named by their number. */
static inline void at(uint64_t ip, unsigned sp, unsigned fp)
{
	bool arm = t.in.machine == EM_AARCH64;

	t.in.regs[arm ? WALK_ARM_IP : WALK_X86_IP] = ip;
	t.in.regs[arm ? WALK_ARM_SP : WALK_X86_SP] = STACK_AVMA + 8 * sp;
	t.in.regs[arm ? WALK_ARM_FP : WALK_X86_FP] = fp ? STACK_AVMA + 8 * fp : 0;
}

static inline uint64_t word(unsigned i)
{
	return STACK_AVMA + 8 * i;
}

/* The rule of function I: CFA kind and offset; x86-64's return address. */
static inline struct unwind_rule *rule(unsigned i, enum unwind_cfa cfa, int off)
{
	t.rules[i + 1] =
		(struct unwind_rule){.cfa = (unsigned char)cfa, .cfa_off = off, .ra_at = -1};
	return &t.rules[i + 1];
}

/* Function 0 is where every good walk ends. */
static inline void outermost(void)
{
	rule(0, UNWIND_CFA_SP, 8)->ra = UNWIND_RA_NONE;
}

static enum chain_cause walk(void)
{
	return walk_stack(&t.in, t.frames, CHAIN_MAX_FRAMES, &t.n);
}

/* A walk ends for CAUSE with the frames in functions FUNCTIONS, innermost first. */
static void expect(enum chain_cause cause, unsigned n, const uint64_t *frames)
{
	EXPECT_EQ(walk(), cause);
	EXPECT_EQ(t.n, n);
	for (unsigned i = 0; i < n && i < t.n; i++)
		EXPECT_EQ(t.frames[i], frames[i]);
}

#define EXPECT_WALK(cause, ...)                                                                    \
	expect(cause, sizeof((uint64_t[]){__VA_ARGS__}) / 8, (uint64_t[]){__VA_ARGS__})

#define LEAF(i)	 IN_FILE(PROGRAM, FUNCTION(i) + 0x10)
#define FRAME(i) IN_FILE(PROGRAM, CALL(i) - 1)

#endif
