/* SPDX-License-Identifier: BSD-2-Clause */
/* Stack walks over arbitrary tables, registers, mappings and stacks: each ends, and reads nothing
 * outside of what it was given, which are allocations of the very size. */
#include <elf.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rd.h"
#include "base/wr.h"
#include "fuzz.h"
#include "unwind/walk_host.h"

enum { N_IMAGES = 4, N_REGIONS = 4, MAX_WORDS = 4096, MAX_RULES = 64 };

static struct walk_region regions[N_REGIONS];

static bool find_region(void *ctx, uint64_t avma, struct walk_region *ret)
{
	for (int i = 0; i < N_REGIONS; i++)
		if (avma >= regions[i].start && avma < regions[i].end) {
			*ret = regions[i];
			return true;
		}
	return false;
}

static bool read_code(void *ctx, uint64_t avma, uint64_t *ret)
{
	*ret = avma & 1 ? 0x050f0000000fc0c7 : 0x0f0000000fc0c748; /* mov $15, %rax; syscall */
	return avma & 2;
}

/* Two functions, of a rule by sp and one by fp, and a stack that alternates them.  The last two
 * seeds have an interpreter's loop and a list of what that executed. */
uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	const uint64_t stack = 0x7ffc00000000, code = 0x400000;
	const bool arm = i & 1, has_list = i & 2;
	struct wr w = {0};

	if (i > 3)
		return NULL;
	wr_u8(&w, (uint8_t)((has_list ? 0x50 : 0) | arm));
	for (int r = 0; r < WALK_MAX_REGISTERS; r++)
		wr_le64(&w, r == (arm ? WALK_ARM_IP : WALK_X86_IP)   ? code + 0x10
			    : r == (arm ? WALK_ARM_FP : WALK_X86_FP) ? stack + 32
								     : stack);
	wr_le64(&w, stack);
	for (int r = 0; r < N_REGIONS; r++) {
		wr_le64(&w, code + (uint64_t)r * 0x100000);
		wr_le32(&w, 0x1000);
		wr_le64(&w, -code);
		wr_le32(&w, r == 0 ? 1 : r == 1 ? WALK_ANONYMOUS : r == 2 ? WALK_UNKNOWN_FILE : 2);
	}
	for (int r = 0; r < N_IMAGES; r++) {
		wr_le64(&w, 0);
		wr_le32(&w, r == 1 ? 2 : 0);
		wr_le32(&w, 0);
		wr_le32(&w, 3);
	}
	wr_uleb(&w, 3); /* rules */
	for (int r = 0; r < 3; r++) {
		struct unwind_rule rule = {.cfa = r == 1 ? UNWIND_CFA_SP : UNWIND_CFA_FP,
					   .cfa_off = 16,
					   .why = r == 1 && has_list ? UNWIND_LOOP : 0,
					   .fp_at = r == 2 ? -2 : 0,
					   .ra_at = -1};

		wr_bytes(&w, &rule, sizeof(rule));
	}
	wr_uleb(&w, 5); /* words: where the blocks' rows begin, the rows */
	wr_le32(&w, 0);
	wr_le32(&w, 1);
	wr_le32(&w, 2);
	wr_le32(&w, 1 << 16);
	wr_le32(&w, 2 << 16);
	for (uint64_t k = 0; k < 16; k++) {
		wr_le64(&w, stack + 16 * (k + 3));
		wr_le64(&w, code + (k & 1) * 0x400 + 0x100000 * (k & 3) + 0x20);
	}
	*ret_n = w.n;
	return w.v;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct unwind_rule rules[UNWIND_N_RULES];
	static uint64_t frames[CHAIN_MAX_FRAMES];
	struct unwind_image images[N_IMAGES];
	struct rd r = rd_init(data, n);
	struct unwind_memory memory = {.rules = rules, .images = images, .n_images = N_IMAGES};
	struct walk_input in = {
		.memory = &memory, .find_region = find_region, .read_code = read_code};
	enum chain_cause cause;
	uint32_t n_frames, max;
	size_t n_rules;
	uint8_t flags = rd_u8(&r), *stack;
	uint64_t *list;

	in.machine = flags & 1 ? EM_AARCH64 : EM_X86_64;
	in.in_call = flags & 2;
	for (int i = 0; i < WALK_MAX_REGISTERS; i++)
		in.regs[i] = rd_le64(&r);
	in.stack_avma = rd_le64(&r);
	in.entry_sp = flags & 4 ? in.stack_avma + 64 : 0;
	for (int i = 0; i < N_REGIONS; i++) {
		regions[i].start = rd_le64(&r);
		regions[i].end = regions[i].start + rd_le32(&r);
		regions[i].bias = rd_le64(&r);
		regions[i].image = rd_le32(&r) & 0x7fff;
	}
	for (int i = 0; i < N_IMAGES; i++)
		images[i] = (struct unwind_image){.first_off = rd_le64(&r),
						  .n_blocks = rd_le32(&r),
						  .blocks_at = rd_le32(&r),
						  .rows_at = rd_le32(&r),
						  .interpreter = flags & 0x20
									 ? INTERPRETER_PHP_8_2
									 : INTERPRETER_PYTHON_3_12};
	n_rules = rd_count(&r, sizeof(rules[0]));
	n_rules = n_rules < MAX_RULES ? n_rules : MAX_RULES;
	memset(rules, 0, MAX_RULES * sizeof(rules[0]));
	for (size_t i = 0; i < n_rules; i++)
		memcpy(&rules[i], rd_bytes(&r, sizeof(rules[0])), sizeof(rules[0]));
	memory.n_words = rd_count(&r, sizeof(memory.words[0]));
	memory.n_words = memory.n_words < MAX_WORDS ? memory.n_words : MAX_WORDS;
	memory.words = xcalloc(memory.n_words + !memory.n_words, sizeof(memory.words[0]));
	for (size_t i = 0; i < memory.n_words; i++)
		memory.words[i] = rd_le32(&r);
	in.n_bytes = rd_left(&r);
	in.stack = stack = xmemdup(r.p, in.n_bytes);
	in.marks_loops = flags & 0x10;
	in.script_image = flags >> 6;
	in.n_scripts = flags & 0x40 ? (uint32_t)(in.n_bytes / 8) : 0;
	in.scripts = list = xmemdup(r.p, (size_t)in.n_scripts * 8);

	max = flags & 8 ? 5 : CHAIN_MAX_FRAMES;
	cause = walk_stack(&in, frames, max, &n_frames);
	FUZZ_REQUIRE(cause < CHAIN_N_CAUSES && n_frames <= max);
	for (uint32_t i = 0; i < n_frames; i++)
		FUZZ_REQUIRE(!(frames[i] & FRAME_KERNEL) ||
			     (in.marks_loops && FRAME_IS_SCRIPT(frames[i])));
	free(list);
	free(stack);
	free(memory.words);
	return 0;
}
