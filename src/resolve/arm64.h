/* SPDX-License-Identifier: BSD-2-Clause */
/* What the words of arm64 instructions say without a disassembler: their fields, and where a branch
 * leads.  Encodings are the Arm Architecture Reference Manual's (DDI 0487), C4.1 "A64 instruction
 * set encoding". */
#ifndef RESOLVE_ARM64_H
#define RESOLVE_ARM64_H

#include <stdbool.h>
#include <stdint.h>

enum arm64_kind {
	ARM64_PLAIN,  /* the next instruction follows */
	ARM64_JUMP,   /* always taken */
	ARM64_BRANCH, /* on a condition */
	ARM64_CALL,
	ARM64_RETURN,
};

struct arm64_branch {
	enum arm64_kind kind;
	bool has_target; /* false: through a register, or no branch */
	uint64_t target; /* an svma */
};

static inline uint32_t arm64_bits(uint32_t word, unsigned low, unsigned n_bits)
{
	return word >> low & ((1u << n_bits) - 1);
}

/* FIELD's highest bit is its sign.  The answer is in two's complement, so that it may be
 * shifted. */
static inline uint64_t arm64_sign_extend(uint32_t field, unsigned n_bits)
{
	uint64_t sign = 1ull << (n_bits - 1);

	return (field ^ sign) - sign;
}

/* A branch of KIND from SVMA.  Its distance in words is the N_BITS of WORD from LOW on. */
static inline struct arm64_branch arm64_to(enum arm64_kind kind, uint64_t svma, uint32_t word,
					   unsigned low, unsigned n_bits)
{
	uint64_t n_words = arm64_sign_extend(arm64_bits(word, low, n_bits), n_bits);

	return (struct arm64_branch){kind, true, svma + n_words * 4};
}

/* What WORD at SVMA does.  C4.1.65 "Branches, Exception Generating and System instructions". */
static inline struct arm64_branch arm64_branch_of(uint32_t word, uint64_t svma)
{
	if ((word & 0xfc000000) == 0x14000000) /* B */
		return arm64_to(ARM64_JUMP, svma, word, 0, 26);
	if ((word & 0xfc000000) == 0x94000000) /* BL */
		return arm64_to(ARM64_CALL, svma, word, 0, 26);
	if ((word & 0xff000000) == 0x54000000) /* B.cond, BC.cond; 14 and 15: always */
		return arm64_to(arm64_bits(word, 0, 4) >= 14 ? ARM64_JUMP : ARM64_BRANCH, svma,
				word, 5, 19);
	if ((word & 0x7e000000) == 0x34000000) /* CBZ, CBNZ */
		return arm64_to(ARM64_BRANCH, svma, word, 5, 19);
	if ((word & 0x7e000000) == 0x36000000) /* TBZ, TBNZ */
		return arm64_to(ARM64_BRANCH, svma, word, 5, 14);
	if ((word & 0xfe1f0000) == 0xd61f0000)	   /* through a register; bit 24: with a modifier */
		switch (arm64_bits(word, 21, 3)) { /* opc, less its highest bit */
		case 0:				   /* BR, BRAA, BRAB */
			return (struct arm64_branch){.kind = ARM64_JUMP};
		case 1: /* BLR, BLRAA, BLRAB */
			return (struct arm64_branch){.kind = ARM64_CALL};
		case 2: /* RET, RETAA, RETAB */
		case 4: /* ERET */
			return (struct arm64_branch){.kind = ARM64_RETURN};
		}
	return (struct arm64_branch){.kind = ARM64_PLAIN};
}

#endif
