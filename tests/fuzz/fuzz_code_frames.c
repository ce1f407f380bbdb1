/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes are code without frame information: rules come in order and once, with a CFA above the
 * stack pointer.  The first byte says how many entries, at made-up places, are told. */
#include <string.h>

#include "fuzz.h"
#include "resolve/code_frames.h"

#define SVMA 0x401000

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	static const uint8_t code[] = {
		2,
		/* push %r12; push %rbx; push %rbp; mov %rsp,%rbp; sub $64,%rsp; and $-64,%rsp */
		0x41, 0x54, 0x53, 0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x40, 0x48, 0x83, 0xe4,
		0xc0,
		/* 1: dec %rdi; jnz 1b; leave; pop %rbx; pop %r12; ret; nop */
		0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc9, 0x5b, 0x41, 0x5c, 0xc3, 0x0f, 0x1f, 0x40, 0x00,
		/* sub $24,%rsp; mov %rbx,(%rsp); call; mov (%rsp),%rbx; add $24,%rsp; ret */
		0x48, 0x83, 0xec, 0x18, 0x48, 0x89, 0x1c, 0x24, 0xe8, 0, 0, 0, 0, 0x48, 0x8b, 0x1c,
		0x24, 0x48, 0x83, 0xc4, 0x18, 0xc3,
		/* mov %rsp,%r11; and $-32,%rsp; mov %r11,%rsp; ret; mov $15,%eax; syscall */
		0x49, 0x89, 0xe3, 0x48, 0x83, 0xe4, 0xe0, 0x4c, 0x89, 0xdc, 0xc3, 0xb8, 0x0f, 0, 0,
		0, 0x0f, 0x05};
	uint8_t *copy = i == 0 ? malloc(sizeof(code)) : NULL;

	if (copy) {
		memcpy(copy, code, sizeof(code));
		*ret_n = sizeof(code);
	}
	return copy;
}

struct last {
	uint64_t svma, end;
};

static void put(void *owner, uint64_t svma, const struct unwind_rule *rule)
{
	struct last *l = owner;

	FUZZ_REQUIRE(svma >= l->svma && svma <= l->end);
	FUZZ_REQUIRE(rule->cfa != UNWIND_CFA_SP || rule->cfa_off >= 8);
	l->svma = svma + 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct last l = {SVMA, SVMA + n};
	struct code_frames c = {.has_entries = true};

	if (!n)
		return 0;
	for (uint64_t i = 0; i < data[0]; i++)
		vec_push(&c.entries, SVMA + i * i);
	code_frames_find(data + 1, n - 1, SVMA, &c, put, &l);
	code_frames_release(&c);
	return 0;
}
