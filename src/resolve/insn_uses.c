/* SPDX-License-Identifier: BSD-2-Clause */
/* See insn_uses.h.  Instructions are the Intel 64 and IA-32 Architectures Software Developer's
 * Manual's, volume 2; Zydis tells operands, also those that no text shows. */
#include "resolve/insn_uses.h"

#include <Zydis/Zydis.h>
#include <elf.h>
#include <string.h>

#define FLAGS (1ull << 63)

static uint64_t bit_of(ZydisRegister r)
{
	const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
	const ZydisRegisterClass of = ZydisRegisterGetClass(whole);

	/* Nothing encloses flags. */
	if (ZydisRegisterGetClass(r) == ZYDIS_REGCLASS_FLAGS)
		return FLAGS;
	if (of == ZYDIS_REGCLASS_GPR64)
		return 1ull << ZydisRegisterGetId(whole);
	if (of == ZYDIS_REGCLASS_ZMM && ZydisRegisterGetId(whole) < 31)
		return 1ull << (32 + ZydisRegisterGetId(whole));
	return 0; /* x87, masks, segments, the instruction pointer */
}

static void add_operand(struct insn_uses *u, const ZydisDecodedOperand *op, bool is_jump)
{
	if (op->type == ZYDIS_OPERAND_TYPE_REGISTER) {
		if (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
			u->reads |= bit_of(op->reg.value);
		if (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			u->writes |= bit_of(op->reg.value);
	}
	if (op->type != ZYDIS_OPERAND_TYPE_MEMORY)
		return;
	u->reads |= bit_of(op->mem.base) | bit_of(op->mem.index);
	/* LEA only computes the address.  Calls and returns use the stack, where nothing waits. */
	if (op->mem.type != ZYDIS_MEMOP_TYPE_MEM ||
	    (is_jump && op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN))
		return;
	u->tls |= op->mem.segment == ZYDIS_REGISTER_FS || op->mem.segment == ZYDIS_REGISTER_GS;
	u->stack |= op->mem.base == ZYDIS_REGISTER_RSP || op->mem.base == ZYDIS_REGISTER_ESP;
	u->loads |= (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
	u->stores |= (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
}

static bool divides(const ZydisDecodedInstruction *in)
{
	const char *name = ZydisMnemonicGetString(in->mnemonic);

	return name && (strstr(name, "div") || strstr(name, "sqrt"));
}

static bool locks(const ZydisDecodedInstruction *in, const struct insn_uses *u)
{
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_MFENCE:
	case ZYDIS_MNEMONIC_LFENCE:
	case ZYDIS_MNEMONIC_SFENCE:
	case ZYDIS_MNEMONIC_CPUID:
		return true;
	case ZYDIS_MNEMONIC_XCHG: /* of memory it always locks */
		return u->stores;
	default:
		return (in->attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0;
	}
}

struct insn_uses insn_uses_of(uint16_t machine, const uint8_t *bytes, size_t n)
{
	struct insn_uses u = {0};
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;
	ZydisDecoder d;
	const bool is_64 = machine == EM_X86_64;

	if (!is_64 && machine != EM_386)
		return u;
	if (ZYAN_FAILED(ZydisDecoderInit(
		    &d, is_64 ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
		    is_64 ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32)) ||
	    ZYAN_FAILED(ZydisDecoderDecodeFull(&d, bytes, n, &in, ops)))
		return u;
	for (unsigned i = 0; i < in.operand_count; i++)
		add_operand(&u, &ops[i],
			    in.meta.category == ZYDIS_CATEGORY_CALL ||
				    in.meta.category == ZYDIS_CATEGORY_RET);
	u.divides = divides(&in);
	u.locks = locks(&in, &u);
	u.is_known = true;
	return u;
}
