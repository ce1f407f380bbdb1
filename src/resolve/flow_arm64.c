/* SPDX-License-Identifier: BSD-2-Clause */
/* arm64: where instructions go, and what the few that lead to a jump table compute.  Encodings are
 * those of arm64.h. */
#include "resolve/arm64.h"
#include "resolve/flow_impl.h"

enum { ZERO = 31, SP = 32 };

static uint32_t word_at(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void flow_arm64_decode(const void *engine, const uint8_t *p, size_t n, uint64_t svma,
			      struct flow_insn *ret)
{
	static const enum flow_kind kinds[] = {
		[ARM64_PLAIN] = FLOW_INSN_PLAIN,   [ARM64_JUMP] = FLOW_INSN_JUMP,
		[ARM64_BRANCH] = FLOW_INSN_BRANCH, [ARM64_CALL] = FLOW_INSN_CALL,
		[ARM64_RETURN] = FLOW_INSN_RETURN,
	};
	struct arm64_branch b;
	uint32_t w;

	(void)engine;
	*ret = (struct flow_insn){.kind = FLOW_INSN_BAD, .n_bytes = (uint8_t)(n < 4 ? n : 4)};
	if (n < 4)
		return;
	w = word_at(p);
	ret->is_padding = w == 0xd503201f || w == 0; /* NOP, or nothing */
	if ((w & 0xffff0000) == 0 ||		     /* UDF */
	    (w & 0xffe0001f) == 0xd4200000 ||	     /* BRK */
	    (w & 0xffe0001f) == 0xd4400000) {	     /* HLT */
		ret->kind = FLOW_INSN_TRAP;
		return;
	}
	b = arm64_branch_of(w, svma);
	ret->kind = kinds[b.kind];
	ret->has_target = b.has_target;
	ret->target = b.target;
}

static void flow_arm64_set(struct flow_values *v, unsigned r, struct flow_value value)
{
	if (r != ZERO)
		v->regs[r] = value;
}

static struct flow_value get(struct flow_values *v, unsigned r)
{
	return r == ZERO ? flow_value_const(0) : v->regs[r];
}

static struct flow_value negate(struct flow_values *v, struct flow_value a)
{
	return a.kind == FLOW_CONST ? flow_value_const(-a.addend) : flow_value_fresh(v);
}

/* What ADD (extended register) and loads with a register make of R: C6.2 "extend_type".  OPTION: 0
 * UXTB .. 7 SXTX; 3 is LSL. */
static struct flow_value extended(struct flow_values *v, unsigned r, unsigned option,
				  unsigned shift)
{
	struct flow_value a = flow_value_extend(get(v, r), 1u << (option & 3), option & 4);

	return flow_value_shift(v, a, shift);
}

/* C4.1.63 "Data Processing -- Immediate" */
static void step_immediate(struct flow_values *v, uint32_t w, uint64_t svma)
{
	unsigned rd = arm64_bits(w, 0, 5), rn = arm64_bits(w, 5, 5), immr = arm64_bits(w, 16, 6),
		 imms = arm64_bits(w, 10, 6), width = w >> 31 ? 63 : 31;
	uint64_t imm21 = arm64_sign_extend(arm64_bits(w, 5, 19) << 2 | arm64_bits(w, 29, 2), 21);
	uint64_t imm12 = (uint64_t)arm64_bits(w, 10, 12) << (arm64_bits(w, 22, 1) ? 12 : 0);
	struct flow_value a = get(v, rn);

	if ((w & 0x9f000000) == 0x10000000) { /* ADR */
		flow_arm64_set(v, rd, flow_value_const(svma + imm21));
	} else if ((w & 0x9f000000) == 0x90000000) { /* ADRP */
		flow_arm64_set(v, rd, flow_value_const((svma & ~(uint64_t)4095) + (imm21 << 12)));
	} else if ((w & 0x1f800000) == 0x11000000) { /* ADD, SUB (immediate) */
		bool subtract = w >> 30 & 1, sets_flags = w >> 29 & 1;
		struct flow_value b = flow_value_const(subtract ? -imm12 : imm12);

		a = rn == ZERO ? v->regs[SP] : a;
		if (sets_flags && subtract)
			flow_value_compare(v, a, imm12);
		else if (sets_flags)
			v->has_compared = false;
		if (rd != ZERO)
			flow_arm64_set(v, rd, flow_value_add(v, a, b));
		else if (!sets_flags)
			v->regs[SP] = flow_value_add(v, a, b);
	} else if ((w & 0x7f800000) == 0x52800000) { /* MOVZ */
		flow_arm64_set(v, rd,
			       flow_value_const((uint64_t)arm64_bits(w, 5, 16)
						<< (16 * arm64_bits(w, 21, 2))));
	} else if ((w & 0x7f800000) == 0x12000000) { /* AND (immediate): low bits only */
		bool low = arm64_bits(w, 22, 1) == w >> 31 && !immr && imms < width;

		flow_arm64_set(v, rd,
			       low && imms < 16 ? flow_value_mask(v, a, (1ull << (imms + 1)) - 1)
						: flow_value_fresh(v));
	} else if ((w & 0x1f800000) == 0x13000000 && arm64_bits(w, 29, 2) != 1) { /* SBFM, UBFM */
		bool is_signed = arm64_bits(w, 29, 2) == 0;

		if (!immr && (imms == 7 || imms == 15 || imms == 31)) /* SXTB, UXTB, .. */
			a = flow_value_extend(a, (imms + 1) / 8, is_signed);
		else if (!is_signed && imms + 1 == immr) /* LSL */
			a = flow_value_shift(v, a, width - imms);
		else
			a = flow_value_fresh(v);
		flow_arm64_set(v, rd, a);
	} else {
		if ((w & 0x7f800000) == 0x72000000) /* ANDS */
			v->has_compared = false;
		flow_arm64_set(v, rd, flow_value_fresh(v));
	}
}

/* C4.1.67 "Data Processing -- Register" */
static void step_register(struct flow_values *v, uint32_t w)
{
	unsigned rd = arm64_bits(w, 0, 5), rn = arm64_bits(w, 5, 5), rm = arm64_bits(w, 16, 5);
	struct flow_value a = get(v, rn), b;

	if ((w & 0x7fe0ffe0) == 0x2a0003e0) { /* MOV (register) */
		flow_arm64_set(v, rd, get(v, rm));
	} else if ((w & 0x1fe00000) == 0x0b200000) { /* ADD, SUB (extended register) */
		b = extended(v, rm, arm64_bits(w, 13, 3), arm64_bits(w, 10, 3));
		a = rn == ZERO ? v->regs[SP] : a;
		if (w >> 30 & 1)
			b = negate(v, b);
		if (w >> 29 & 1)
			v->has_compared = false;
		if (rd == ZERO && !(w >> 29 & 1))
			v->regs[SP] = flow_value_fresh(v);
		flow_arm64_set(v, rd, flow_value_add(v, a, b));
	} else if ((w & 0x1f200000) == 0x0b000000) { /* ADD, SUB (shifted register) */
		bool subtract = w >> 30 & 1, sets_flags = w >> 29 & 1;

		b = get(v, rm);
		b = arm64_bits(w, 22, 2) == 0 ? flow_value_shift(v, b, arm64_bits(w, 10, 6))
					      : flow_value_fresh(v);
		if (sets_flags && subtract && b.kind == FLOW_CONST)
			flow_value_compare(v, a, b.addend);
		else if (sets_flags)
			v->has_compared = false;
		flow_arm64_set(v, rd, flow_value_add(v, a, subtract ? negate(v, b) : b));
	} else {
		/* ANDS, BICS, ADCS, SBCS, CCMP, CCMN: flags of something else */
		if ((w & 0x7f000000) == 0x6a000000 || (w & 0x3fe00000) == 0x3a000000 ||
		    (w & 0x3fe00000) == 0x3a400000)
			v->has_compared = false;
		flow_arm64_set(v, rd, flow_value_fresh(v));
	}
}

/* C4.1.66 "Loads and Stores" of general registers */
static void step_memory(struct flow_values *v, uint32_t w, uint64_t svma)
{
	unsigned rt = arm64_bits(w, 0, 5), rn = arm64_bits(w, 5, 5), size = arm64_bits(w, 30, 2),
		 opc = arm64_bits(w, 22, 2);
	struct flow_value *base = &v->regs[rn == ZERO ? SP : rn], at = flow_value_named(*base);
	bool is_vector = w >> 26 & 1, writes_back = false;
	uint64_t offset = 0; /* what is added to the base */

	if ((w & 0x3b000000) == 0x18000000) { /* LDR, LDRSW (literal) */
		uint64_t imm = arm64_sign_extend(arm64_bits(w, 5, 19), 19) * 4;

		at = flow_value_const(svma + imm);
		if (!is_vector)
			flow_arm64_set(v, rt, flow_value_load(v, at, size == 1 ? 8 : 4, size == 2));
		return;
	}
	if ((w & 0x3a000000) == 0x28000000) { /* LDP, STP and their like */
		bool is_load = w >> 22 & 1;

		if (!is_vector && is_load) {
			flow_arm64_set(v, rt, flow_value_fresh(v));
			flow_arm64_set(v, arm64_bits(w, 10, 5), flow_value_fresh(v));
		}
		writes_back = w >> 23 & 1;
		offset = arm64_sign_extend(arm64_bits(w, 15, 7), 7)
			 << (is_vector ? 2 + size : 2 + (size >> 1));
	} else if ((w & 0x3b200c00) == 0x38200800) { /* register offset */
		struct flow_value index = flow_value_named(get(v, arm64_bits(w, 16, 5)));

		index = flow_value_shift(v, index, w >> 12 & 1 ? size : 0);
		index.addend += at.addend;
		index.is_indexed = true;
		at = at.kind == FLOW_CONST ? index : flow_value_fresh(v);
	} else if ((w & 0x3b000000) == 0x39000000) { /* unsigned offset */
		at.addend += (uint64_t)arm64_bits(w, 10, 12) << size;
	} else if ((w & 0x3b200000) == 0x38000000) { /* unscaled, pre- and post-indexed */
		writes_back = w >> 10 & 1;
		offset = arm64_sign_extend(arm64_bits(w, 12, 9), 9);
		if (arm64_bits(w, 10, 2) != 1)
			at.addend += offset;
	} else {
		at = flow_value_fresh(v);
		if (!is_vector)
			flow_arm64_set(v, rt, flow_value_fresh(v));
	}
	if ((w & 0x3a000000) == 0x38000000 && !is_vector) {
		if (opc == 0)
			flow_value_store(v, at, get(v, rt));
		else if (size != 3 || opc == 1)
			flow_arm64_set(v, rt, flow_value_load(v, at, 1u << size, opc >= 2));
	}
	if (writes_back)
		*base = flow_value_add(v, *base, flow_value_const(offset));
}

static void flow_arm64_step(const void *engine, struct flow_values *v, const uint8_t *p, size_t n,
			    uint64_t svma, bool taken)
{
	struct flow_insn in;
	uint32_t w;

	flow_arm64_decode(engine, p, n, svma, &in);
	if (n < 4)
		return;
	w = word_at(p);
	if (in.kind == FLOW_INSN_CALL) {
		/* Procedure Call Standard for AAPCS64, 6.1.1: x0 .. x18 and the link register. */
		for (unsigned r = 0; r <= 18; r++)
			v->regs[r] = flow_value_fresh(v);
		v->regs[30] = flow_value_fresh(v);
		v->has_compared = false;
		return;
	}
	if (in.kind == FLOW_INSN_BRANCH && (w & 0xff000010) == 0x54000000) {
		switch (arm64_bits(w, 0, 4)) {
		case 2: /* HS */
			if (!taken)
				flow_value_at_most(v, true);
			break;
		case 3: /* LO */
			if (taken)
				flow_value_at_most(v, true);
			break;
		case 8: /* HI */
			if (!taken)
				flow_value_at_most(v, false);
			break;
		case 9: /* LS */
			if (taken)
				flow_value_at_most(v, false);
			break;
		}
		return;
	}
	/* C4.1 "A64 instruction set encoding", op0 */
	if ((w & 0x1c000000) == 0x10000000)
		step_immediate(v, w, svma);
	else if ((w & 0x0e000000) == 0x0a000000)
		step_register(v, w);
	else if ((w & 0x0a000000) == 0x08000000)
		step_memory(v, w, svma);
	else if ((w & 0x0e000000) == 0x0e000000) /* vectors; some write a general register */
		flow_arm64_set(v, arm64_bits(w, 0, 5), flow_value_fresh(v));
}

static struct flow_value flow_arm64_target(const void *engine, struct flow_values *v,
					   const uint8_t *p, size_t n, uint64_t svma)
{
	(void)engine;
	(void)svma;
	return n < 4 ? flow_value_fresh(v) : get(v, arm64_bits(word_at(p), 5, 5));
}

const struct flow_machine flow_arm64 = {
	.sp = SP,
	.decode = flow_arm64_decode,
	.step = flow_arm64_step,
	.target = flow_arm64_target,
};
