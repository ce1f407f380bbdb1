/* SPDX-License-Identifier: BSD-2-Clause */
/* x86-64 and i386: where instructions go, and what the few that lead to a jump table compute.
 * Instructions are the Intel 64 and IA-32 Architectures Software Developer's Manual's, volume 2. */
#include <Zydis/Zydis.h>
#include <elf.h>

#include "base/alloc.h"
#include "resolve/flow_impl.h"

enum { SP = 4, BP = 5 }; /* as instructions number them */

void *flow_x86_new(uint16_t machine)
{
	ZydisDecoder *d = xcalloc(1, sizeof(*d));
	bool is_64 = machine == EM_X86_64;

	if (ZYAN_FAILED(ZydisDecoderInit(
		    d, is_64 ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
		    is_64 ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32))) {
		free(d);
		return NULL;
	}
	return d;
}

static enum flow_kind kind_of(const ZydisDecodedInstruction *in)
{
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_HLT:
	case ZYDIS_MNEMONIC_INT3:
		return FLOW_INSN_TRAP;
	case ZYDIS_MNEMONIC_SYSRET:
	case ZYDIS_MNEMONIC_SYSEXIT:
		return FLOW_INSN_RETURN;
	default:
		break;
	}
	switch (in->meta.category) {
	case ZYDIS_CATEGORY_CALL:
		return FLOW_INSN_CALL;
	case ZYDIS_CATEGORY_RET:
		return FLOW_INSN_RETURN;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return FLOW_INSN_JUMP;
	case ZYDIS_CATEGORY_COND_BR:
		return FLOW_INSN_BRANCH;
	default:
		return FLOW_INSN_PLAIN;
	}
}

static void flow_x86_decode(const void *engine, const uint8_t *p, size_t n, uint64_t svma,
			    struct flow_insn *ret)
{
	ZydisDecodedInstruction in;

	*ret = (struct flow_insn){.kind = FLOW_INSN_BAD, .n_bytes = 1, .is_padding = *p == 0};
	/* Without operands: a quarter of the time. */
	if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(engine, NULL, p, n, &in)))
		return;
	ret->n_bytes = in.length;
	ret->kind = kind_of(&in);
	if (ret->kind == FLOW_INSN_BRANCH && !in.raw.imm[0].is_relative) /* XEND */
		ret->kind = FLOW_INSN_PLAIN;
	ret->is_padding = in.meta.category == ZYDIS_CATEGORY_NOP ||
			  in.meta.category == ZYDIS_CATEGORY_WIDENOP ||
			  in.mnemonic == ZYDIS_MNEMONIC_INT3 ||
			  (p[0] == 0 && p[in.length - 1] == 0);
	if (ret->kind == FLOW_INSN_PLAIN || !in.raw.imm[0].is_relative)
		return;
	ret->has_target = true;
	ret->target = svma + in.length + (uint64_t)in.raw.imm[0].value.s;
	if (in.machine_mode == ZYDIS_MACHINE_MODE_LEGACY_32)
		ret->target = (uint32_t)ret->target;
}

/* The number of the general register that R is, or is a part of; -1: another kind. */
static int reg_of(ZydisRegister r)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);

	if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15)
		return -1;
	return (int)(whole - ZYDIS_REGISTER_RAX);
}

static bool is_high_byte(ZydisRegister r)
{
	return r >= ZYDIS_REGISTER_AH && r <= ZYDIS_REGISTER_BH;
}

static struct flow_value address_of(struct flow_values *v, const ZydisDecodedInstruction *in,
				    const ZydisDecodedOperand *op, uint64_t svma)
{
	struct flow_value at = flow_value_const((uint64_t)op->mem.disp.value), index;
	int base = reg_of(op->mem.base), i = reg_of(op->mem.index);

	if (op->mem.segment == ZYDIS_REGISTER_FS || op->mem.segment == ZYDIS_REGISTER_GS)
		return flow_value_fresh(v);
	if (op->mem.base == ZYDIS_REGISTER_RIP) {
		at.addend += svma + in->length;
	} else if (base >= 0) {
		struct flow_value b = flow_value_named(v->regs[base]);

		/* A field of what it points to keeps the name of the pointer. */
		if (b.kind == FLOW_LINEAR && i < 0) {
			b.addend += at.addend;
			return b;
		}
		if (b.kind == FLOW_LINEAR && i >= 0 && v->regs[i].kind == FLOW_CONST) {
			/* base and index exchanged: (index, table, 1) */
			at.addend += v->regs[i].addend * op->mem.scale;
			b.addend += at.addend;
			b.is_indexed = true;
			return b;
		}
		at = b.kind == FLOW_CONST ? flow_value_const(b.addend + at.addend)
					  : flow_value_fresh(v);
	}
	if (i < 0)
		return at;
	index = flow_value_named(v->regs[i]);
	if (at.kind != FLOW_CONST || !op->mem.scale)
		return flow_value_fresh(v);
	index.scale *= op->mem.scale;
	index.addend = index.addend * op->mem.scale + at.addend;
	index.is_indexed = base >= 0;
	return index;
}

static struct flow_value value_of(struct flow_values *v, const ZydisDecodedInstruction *in,
				  const ZydisDecodedOperand *op, uint64_t svma, bool is_signed)
{
	unsigned n_bytes = op->size / 8;
	int r;

	switch (op->type) {
	case ZYDIS_OPERAND_TYPE_IMMEDIATE:
		return flow_value_const(op->imm.is_signed ? (uint64_t)op->imm.value.s
							  : op->imm.value.u);
	case ZYDIS_OPERAND_TYPE_MEMORY:
		if (n_bytes == 1 || n_bytes == 2 || n_bytes == 4 || n_bytes == 8)
			return flow_value_load(v, address_of(v, in, op, svma), n_bytes, is_signed);
		return flow_value_fresh(v);
	case ZYDIS_OPERAND_TYPE_REGISTER:
		r = reg_of(op->reg.value);
		if (r >= 0 && !is_high_byte(op->reg.value))
			return v->regs[r];
		return flow_value_fresh(v);
	default:
		return flow_value_fresh(v);
	}
}

/* What the call leaves alone: System V ABI, AMD64 supplement, figure 3.4. */
static void forget_scratch(struct flow_values *v)
{
	static const uint8_t scratch[] = {0, 1, 2, 6, 7, 8, 9, 10, 11}; /* ax cx dx si di r8-r11 */

	for (size_t i = 0; i < sizeof(scratch); i++)
		v->regs[scratch[i]] = flow_value_fresh(v);
	v->has_compared = false;
}

static void branch(struct flow_values *v, ZydisMnemonic m, bool taken)
{
	switch (m) {
	case ZYDIS_MNEMONIC_JNBE: /* ja */
		if (!taken)
			flow_value_at_most(v, false);
		break;
	case ZYDIS_MNEMONIC_JBE:
		if (taken)
			flow_value_at_most(v, false);
		break;
	case ZYDIS_MNEMONIC_JNB: /* jae */
		if (!taken)
			flow_value_at_most(v, true);
		break;
	case ZYDIS_MNEMONIC_JB:
		if (taken)
			flow_value_at_most(v, true);
		break;
	default:
		break;
	}
}

/* The value an instruction puts into its first operand; false when this file does not know. */
static bool flow_x86_result(struct flow_values *v, const ZydisDecodedInstruction *in,
			    const ZydisDecodedOperand *op, uint64_t svma, struct flow_value *ret)
{
	struct flow_value a, b;

	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		*ret = value_of(v, in, &op[1], svma, false);
		return true;
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
		a = value_of(v, in, &op[1], svma, in->mnemonic != ZYDIS_MNEMONIC_MOVZX);
		*ret = flow_value_extend(a, op[1].size / 8, in->mnemonic != ZYDIS_MNEMONIC_MOVZX);
		return true;
	case ZYDIS_MNEMONIC_CDQE:
		*ret = flow_value_extend(v->regs[0], 4, true);
		return true;
	case ZYDIS_MNEMONIC_LEA:
		a = address_of(v, in, &op[1], svma);
		/* Not an address, but a sum. */
		a.is_indexed = false;
		if (a.kind == FLOW_LINEAR && a.scale == 1 && a.addend)
			a = flow_value_add(
				v, (struct flow_value){.kind = FLOW_LINEAR, .id = a.id, .scale = 1},
				flow_value_const(a.addend));
		*ret = a;
		return true;
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
		a = value_of(v, in, &op[0], svma, false);
		b = value_of(v, in, &op[1], svma, false);
		if (in->mnemonic == ZYDIS_MNEMONIC_SUB) {
			if (b.kind != FLOW_CONST)
				return false;
			b.addend = -b.addend;
		}
		*ret = flow_value_add(v, a, b);
		return true;
	case ZYDIS_MNEMONIC_SHL:
		b = value_of(v, in, &op[1], svma, false);
		if (b.kind != FLOW_CONST || b.addend > 8)
			return false;
		*ret = flow_value_shift(v, value_of(v, in, &op[0], svma, false),
					(unsigned)b.addend);
		return true;
	case ZYDIS_MNEMONIC_AND:
		b = value_of(v, in, &op[1], svma, false);
		if (b.kind != FLOW_CONST)
			return false;
		*ret = flow_value_mask(v, value_of(v, in, &op[0], svma, false), b.addend);
		return true;
	default:
		return false;
	}
}

/* What push, pop and leave make of the stack pointer; false for other instructions. */
static bool new_sp(struct flow_values *v, const ZydisDecodedInstruction *in, struct flow_value *ret)
{
	struct flow_value word =
		flow_value_const(in->machine_mode == ZYDIS_MACHINE_MODE_LONG_64 ? 8 : 4);

	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
		*ret = flow_value_add(v, v->regs[SP], flow_value_const(-word.addend));
		return true;
	case ZYDIS_MNEMONIC_POP:
		*ret = flow_value_add(v, v->regs[SP], word);
		return true;
	case ZYDIS_MNEMONIC_LEAVE:
		*ret = flow_value_add(v, v->regs[BP], word);
		return true;
	default:
		return false;
	}
}

static bool is_written(const ZydisDecodedOperand *op)
{
	return op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
}

static void flow_x86_step(const void *engine, struct flow_values *v, const uint8_t *p, size_t n,
			  uint64_t svma, bool taken)
{
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;
	struct flow_value value, with;
	struct flow_value sp;
	bool known, moves_sp;

	if (ZYAN_FAILED(ZydisDecoderDecodeFull(engine, p, n, &in, op)))
		return;
	if (in.meta.category == ZYDIS_CATEGORY_COND_BR) {
		branch(v, in.mnemonic, taken);
		return;
	}
	if (in.meta.category == ZYDIS_CATEGORY_CALL) {
		forget_scratch(v);
		return;
	}
	if (in.mnemonic == ZYDIS_MNEMONIC_CMP) {
		value = value_of(v, &in, &op[0], svma, false);
		with = value_of(v, &in, &op[1], svma, false);
		if (op[0].size < 64)
			with.addend &= (1ull << op[0].size) - 1;
		if (with.kind == FLOW_CONST)
			flow_value_compare(v, value, with.addend);
		else
			v->has_compared = false;
		return;
	}
	known = in.operand_count && flow_x86_result(v, &in, op, svma, &value);
	moves_sp = new_sp(v, &in, &sp);
	for (unsigned i = 0; i < in.operand_count; i++) {
		int r = op[i].type == ZYDIS_OPERAND_TYPE_REGISTER ? reg_of(op[i].reg.value) : -1;

		if (!is_written(&op[i]))
			continue;
		if (op[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			flow_value_store(v, address_of(v, &in, &op[i], svma),
					 known && i == 0 ? value : flow_value_fresh(v));
		else if (r >= 0)
			v->regs[r] = known && i == 0 && !is_high_byte(op[i].reg.value)
					     ? value
					     : flow_value_fresh(v);
	}
	if (moves_sp)
		v->regs[SP] = sp;
	/* mov and lea leave the flags of the comparison alone. */
	if (in.cpu_flags && in.cpu_flags->modified | in.cpu_flags->undefined)
		v->has_compared = false;
}

static struct flow_value flow_x86_target(const void *engine, struct flow_values *v,
					 const uint8_t *p, size_t n, uint64_t svma)
{
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;

	if (ZYAN_FAILED(ZydisDecoderDecodeFull(engine, p, n, &in, op)) || !in.operand_count)
		return flow_value_fresh(v);
	return value_of(v, &in, &op[0], svma, false);
}

const struct flow_machine flow_x86 = {
	.sp = SP,
	.decode = flow_x86_decode,
	.step = flow_x86_step,
	.target = flow_x86_target,
};
