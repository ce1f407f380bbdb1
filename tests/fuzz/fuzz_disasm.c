/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes are instructions of each machine: every byte comes out once, in order, with text. */
#include <elf.h>
#include <string.h>

#include "fuzz.h"
#include "resolve/disasm.h"

uint8_t *fuzz_seed(unsigned i, size_t *ret_n)
{
	static const uint8_t code[] = {
		0x62, 0xb2, 0x7d, 0x4a, 0x26, 0xc9, 0xf3, 0x48, 0xa5, 0x66, 0x66, 0x2e, 0x0f,
		0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0x24, 0xc5, 0x00, 0x20, 0x00,
		0x00, 0xe8, 0xf9, 0xff, 0xff, 0xff, 0xc5, 0xf9, 0xc2, 0xc1, 0x1f, 0xdb, 0xe9,
		0x9b, 0xd9, 0x3c, 0x24, 0xf2, 0x0f, 0x38, 0xf1, 0x00, 0x61, 0x00, 0x00, 0x54,
		0x40, 0x00, 0x00, 0xb4, 0x20, 0x00, 0x3f, 0xd6, 0xfd, 0x7b, 0xbf, 0xa9, 0x3f,
		0x23, 0x03, 0xd5, 0x40, 0x00, 0x00, 0x58, 0x00, 0x00, 0x00};
	uint8_t *copy = i == 0 ? malloc(sizeof(code)) : NULL;

	if (copy) {
		memcpy(copy, code, sizeof(code));
		*ret_n = sizeof(code);
	}
	return copy;
}

static const char *name(void *ctx, uint64_t svma, uint64_t *ret_offset)
{
	*ret_offset = svma & 0xf;
	return svma & 0x10 ? "a_name" : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const struct disasm_opts machines[] = {
		{.machine = EM_X86_64, .name = name},
		{.machine = EM_X86_64, .intel = true},
		{.machine = EM_386, .name = name},
		{.machine = EM_AARCH64, .name = name},
	};
	static struct disasm *all[4];

	for (size_t i = 0; i < 4; i++) {
		struct disasm *d = all[i] ? all[i] : (all[i] = disasm_new(&machines[i], NULL));
		uint64_t next = UINT64_MAX - 20, *targets; /* addresses wrap */
		struct disasm_insn insn;
		size_t n_seen = 0, n_targets;

		FUZZ_REQUIRE(d);
		disasm_begin(d, data, n, next);
		while (disasm_next(d, &insn)) {
			FUZZ_REQUIRE(insn.svma == next && insn.n_bytes > 0 && insn.n_bytes <= 15);
			FUZZ_REQUIRE(insn.text[0] && !strchr(insn.text, '\n'));
			FUZZ_REQUIRE(!insn.bad || (!insn.has_target && insn.kind == DISASM_OTHER));
			next += insn.n_bytes;
			n_seen += insn.n_bytes;
		}
		FUZZ_REQUIRE(n_seen == n);
		n_targets = disasm_targets(d, data, n, 0x1000, &targets);
		for (size_t k = 0; k < n_targets; k++)
			FUZZ_REQUIRE(targets[k] - 0x1000 < n &&
				     (k == 0 || targets[k - 1] < targets[k]));
		free(targets);
	}
	return 0;
}
