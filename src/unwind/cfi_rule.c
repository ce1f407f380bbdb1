/* SPDX-License-Identifier: BSD-2-Clause */
/* From what call frame information says to the few forms of rules a stack walk knows: expressions,
 * and whole states.
 *
 * An expression is run on symbols.  Compilers and hand-written code use few: a register plus an
 * offset, the word there (gcc's realigned stacks, OpenSSL's assembly), and the linker's for lazy
 * binding stubs.  Everything else comes out as CFI_OTHER, and a state that needs it as
 * UNWIND_TOO_COMPLEX: a walk ends there by name instead of going astray. */
#include "unwind/cfi.h"
#include "unwind/rows.h"

#define MAX_VALUES 8

/* DWARF 5 section 7.7.1 */
enum {
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S,
	OP_CONST2U,
	OP_CONST2S,
	OP_CONST4U,
	OP_CONST4S,
	OP_CONST8U,
	OP_CONST8S,
	OP_CONSTU,
	OP_CONSTS,
	OP_AND = 0x1a,
	OP_MINUS = 0x1c,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_GE = 0x2a,
	OP_LIT0 = 0x30,
	OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70,
	OP_BREG31 = 0x8f,
	OP_BREGX = 0x92,
	OP_NOP = 0x96,
};

static int64_t cfi_rule_add(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static struct cfi_value plus_const(struct cfi_value v, int64_t n)
{
	switch (v.form) {
	case CFI_CONST:
	case CFI_REG:
	case CFI_CFA:
		v.off = cfi_rule_add(v.off, n);
		return v;
	case CFI_DEREF:
		v.add = cfi_rule_add(v.add, n);
		return v;
	default:
		return (struct cfi_value){0};
	}
}

static struct cfi_value plus(struct cfi_value a, struct cfi_value b)
{
	if (b.form == CFI_CONST)
		return plus_const(a, b.off);
	if (a.form == CFI_CONST)
		return plus_const(b, a.off);
	if (a.form == CFI_REG && a.reg == X86_SP && a.off == 8 && b.form == CFI_IP_GE_8)
		return (struct cfi_value){.form = CFI_PLT, .off = b.off};
	return (struct cfi_value){0};
}

static struct cfi_value binary(uint8_t op, struct cfi_value a, struct cfi_value b)
{
	if (op == OP_PLUS)
		return plus(a, b);
	if (b.form != CFI_CONST)
		return (struct cfi_value){0};
	switch (op) {
	case OP_MINUS:
		return plus_const(a, (int64_t)(0 - (uint64_t)b.off));
	case OP_AND:
		if (a.form == CFI_REG && a.reg == X86_IP && a.off == 0 && b.off == 15)
			return (struct cfi_value){.form = CFI_IP_LOW};
		break;
	case OP_GE:
		if (a.form == CFI_IP_LOW && b.off > 0 && b.off <= 15)
			return (struct cfi_value){.form = CFI_IP_GE, .off = b.off};
		break;
	default: /* OP_SHL */
		if (a.form == CFI_IP_GE && b.off == 3)
			return (struct cfi_value){.form = CFI_IP_GE_8, .off = a.off};
		break;
	}
	return (struct cfi_value){0};
}

static struct cfi_value in_register(uint64_t reg, int64_t off)
{
	return reg > 255 ? (struct cfi_value){0}
			 : (struct cfi_value){.form = CFI_REG, .reg = (uint8_t)reg, .off = off};
}

/* What operation OP, which takes nothing from the stack, pushes; CFI_OTHER when it is none. */
static struct cfi_value read_operand(struct rd *r, uint8_t op)
{
	int64_t n;
	uint64_t reg;

	if (op >= OP_BREG0 && op <= OP_BREG31)
		return in_register(op - OP_BREG0, cfi_read_sleb(r));
	if (op == OP_BREGX) {
		reg = rd_uleb(r);
		return in_register(reg, cfi_read_sleb(r));
	}
	if (op >= OP_LIT0 && op <= OP_LIT31) {
		n = op - OP_LIT0;
	} else {
		switch (op) {
		case OP_CONST1U:
			n = rd_u8(r);
			break;
		case OP_CONST1S:
			n = (int8_t)rd_u8(r);
			break;
		case OP_CONST2U:
			n = rd_le16(r);
			break;
		case OP_CONST2S:
			n = (int16_t)rd_le16(r);
			break;
		case OP_CONST4U:
			n = rd_le32(r);
			break;
		case OP_CONST4S:
			n = (int32_t)rd_le32(r);
			break;
		case OP_CONST8U:
		case OP_CONST8S:
			n = (int64_t)rd_le64(r);
			break;
		case OP_CONSTU:
			n = (int64_t)rd_uleb(r);
			break;
		case OP_CONSTS:
			n = cfi_read_sleb(r);
			break;
		default:
			return (struct cfi_value){0};
		}
	}
	return (struct cfi_value){.form = CFI_CONST, .off = n};
}

struct cfi_value cfi_eval(const uint8_t *bytes, size_t n, uint16_t machine, bool with_cfa)
{
	struct cfi_value stack[MAX_VALUES], *top = stack; /* top: behind the last */
	struct rd r = rd_init(bytes, n);

	if (with_cfa)
		*top++ = (struct cfi_value){.form = CFI_CFA};
	while (rd_left(&r)) {
		uint8_t op = rd_u8(&r);

		switch (op) {
		case OP_NOP:
			continue;
		case OP_DEREF:
			if (top == stack || top[-1].form != CFI_REG)
				return (struct cfi_value){0};
			top[-1].form = CFI_DEREF;
			break;
		case OP_PLUS_UCONST:
			if (top == stack)
				return (struct cfi_value){0};
			top[-1] = plus_const(top[-1], (int64_t)rd_uleb(&r));
			break;
		case OP_PLUS:
		case OP_MINUS:
		case OP_AND:
		case OP_GE:
		case OP_SHL:
			if (top - stack < 2)
				return (struct cfi_value){0};
			top--;
			top[-1] = binary(op, top[-1], *top);
			break;
		default:
			if (top - stack == MAX_VALUES)
				return (struct cfi_value){0};
			*top++ = read_operand(&r, op);
			break;
		}
		if (r.bad || top[-1].form == CFI_OTHER ||
		    (top[-1].form >= CFI_IP_LOW && machine != EM_X86_64))
			return (struct cfi_value){0};
	}
	return top == stack ? (struct cfi_value){0} : top[-1];
}

/* The CFA's part of a rule; false when it has no form for it. */
static bool set_cfa(struct unwind_rule *rule, const struct cfi_value *v, uint16_t machine)
{
	bool is_sp = v->reg == cfi_sp(machine), is_fp = v->reg == cfi_fp(machine);

	if (v->off != (int32_t)v->off)
		return false;
	rule->cfa_off = (int32_t)v->off;
	switch (v->form) {
	case CFI_REG:
		rule->cfa = is_sp ? UNWIND_CFA_SP : is_fp ? UNWIND_CFA_FP : UNWIND_CFA_REG;
		if (rule->cfa == UNWIND_CFA_REG)
			rule->cfa_reg = v->reg;
		return true;
	case CFI_DEREF:
		if ((!is_sp && !is_fp) || v->add < 0 || v->add > 255)
			return false;
		rule->cfa = is_sp ? UNWIND_CFA_SP_DEREF : UNWIND_CFA_FP_DEREF;
		rule->cfa_add = (unsigned char)v->add;
		return true;
	case CFI_PLT:
		rule->cfa = UNWIND_CFA_PLT;
		return true;
	default:
		return false;
	}
}

/* Whether the word at P is one at CFA + OFF: an address relative to the register the CFA is
 * relative to is relative to the CFA as well. */
static bool is_by_cfa(const struct cfi_place *p, const struct cfi_value *cfa, int64_t *ret_off)
{
	*ret_off = p->at.off;
	if (p->at.form == CFI_CFA)
		return true;
	*ret_off = (int64_t)((uint64_t)p->at.off - (uint64_t)cfa->off);
	return cfa->form == CFI_REG && cfa->reg == p->at.reg;
}

/* Where a register is saved; sets BIT of *BY_FP when that is relative to the frame pointer. */
static short saved_at(const struct cfi_state *s, enum cfi_column column, uint16_t machine,
		      unsigned char *by_fp, unsigned char bit)
{
	const struct cfi_place *p = &s->columns[column];
	int64_t off;
	short at;

	if (p->how == CFI_UNSPECIFIED || p->how == CFI_SAME)
		return UNWIND_SAME;
	if (p->how != CFI_AT)
		return UNWIND_LOST;
	if (is_by_cfa(p, &s->cfa, &off))
		return rule_in_words(off, &at) && at != UNWIND_SAME ? at : UNWIND_LOST;
	if (p->at.reg != cfi_fp(machine) || !rule_in_words(p->at.off, &at))
		return UNWIND_LOST;
	*by_fp |= bit;
	return at;
}

static bool set_ra(struct unwind_rule *rule, const struct cfi_state *s, uint16_t machine)
{
	const struct cfi_place *p = &s->columns[CFI_RA];
	int64_t off;

	if (p->how == CFI_UNSPECIFIED || p->how == CFI_SAME) {
		rule->ra = UNWIND_RA_REGISTER;
		rule->ra_at = AARCH64_LR;
		return machine == EM_AARCH64 && s->ra_reg == AARCH64_LR;
	}
	if (p->how == CFI_IS && p->at.form == CFI_REG && p->at.off == 0) {
		rule->ra = UNWIND_RA_REGISTER; /* glibc's vfork: rdi
						  (sysdeps/unix/sysv/linux/x86_64/vfork.S) */
		rule->ra_at = p->at.reg;
		return true;
	}
	rule->ra = UNWIND_RA_SAVED;
	return p->how == CFI_AT && is_by_cfa(p, &s->cfa, &off) && rule_in_words(off, &rule->ra_at);
}

/* Whether the caller's stack pointer is the CFA, as everywhere but in code that switches stacks. */
static bool is_sp_plain(const struct cfi_place *p)
{
	return p->how == CFI_UNSPECIFIED ||
	       (p->how == CFI_IS && p->at.form == CFI_CFA && p->at.off == 0);
}

struct unwind_rule cfi_rule(const struct cfi_state *s, uint16_t machine, bool is_signal)
{
	static const struct unwind_rule too_complex = {.cfa = UNWIND_CFA_NONE,
						       .why = UNWIND_TOO_COMPLEX};
	struct unwind_rule rule = {0};

	if (s->columns[CFI_RA].how == CFI_UNDEFINED) {
		rule.cfa = UNWIND_CFA_SP; /* nobody asks where the frame is */
		rule.ra = UNWIND_RA_NONE;
		return rule;
	}
	/* glibc describes the kernel's frame by the stack pointer in it, at sp + 160 (x86-64:
	 * ucontext's uc_mcontext.gregs[REG_RSP]). */
	if (is_signal &&
	    (machine == EM_AARCH64 || (s->cfa.form == CFI_DEREF && s->cfa.reg == X86_SP &&
				       s->cfa.off == 160 && s->cfa.add == 0))) {
		rule.cfa = UNWIND_CFA_SIGNAL;
		return rule;
	}
	if (!is_sp_plain(&s->columns[CFI_SP]) || !set_cfa(&rule, &s->cfa, machine) ||
	    !set_ra(&rule, s, machine))
		return too_complex;
	rule.fp_at = saved_at(s, CFI_FP, machine, &rule.by_fp, UNWIND_FP_BY_FP);
	if (machine == EM_X86_64)
		rule.bx_at = saved_at(s, CFI_BX, machine, &rule.by_fp, UNWIND_BX_BY_FP);
	rule.signed_ra = s->signed_ra;
	return rule;
}
