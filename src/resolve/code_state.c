/* SPDX-License-Identifier: BSD-2-Clause */
/* See code_state.h. */
#include "resolve/code_state.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define RETURN_ADDRESS_BYTES 8

static bool is_register(const ZydisDecodedOperand *op, ZydisRegister r)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->reg.value == r;
}

static ZydisRegister whole_register(const ZydisDecodedOperand *op)
{
	return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, op->reg.value);
}

/* The state's knowledge of register R in *RET, which is CFA - R. */
static bool distance_of(const struct code_state *f, ZydisRegister r, int *ret)
{
	if (r == ZYDIS_REGISTER_RSP && f->knows_sp)
		*ret = f->up;
	else if (r == ZYDIS_REGISTER_RBP && f->knows_fp)
		*ret = f->fp_up;
	else if (f->copy && r == f->copy)
		*ret = f->copy_up;
	else
		return false;
	return true;
}

/* Whether OP is the memory at a known place, at CFA + *RET. */
static bool is_in_frame(const struct code_state *f, const ZydisDecodedOperand *op, int *ret)
{
	int up;

	if (op->type != ZYDIS_OPERAND_TYPE_MEMORY || op->mem.index != ZYDIS_REGISTER_NONE ||
	    op->mem.segment == ZYDIS_REGISTER_FS || op->mem.segment == ZYDIS_REGISTER_GS ||
	    !distance_of(f, op->mem.base, &up) || llabs(op->mem.disp.value) > INT32_MAX / 4)
		return false;
	*ret = (int)op->mem.disp.value - up;
	return true;
}

static struct callers *callers_of(struct code_state *f, ZydisRegister r)
{
	return r == ZYDIS_REGISTER_RBP ? &f->fp : r == ZYDIS_REGISTER_RBX ? &f->bx : NULL;
}

/* Register R has a new value, of which nothing is known. */
static void lose(struct code_state *f, ZydisRegister r)
{
	struct callers *c = callers_of(f, r);

	if (c)
		c->is_changed = true;
	if (r == ZYDIS_REGISTER_RBP)
		f->knows_fp = false;
	if (r == ZYDIS_REGISTER_RSP)
		f->knows_sp = false;
	if (r == f->copy)
		f->copy = ZYDIS_REGISTER_NONE;
}

/* Register R becomes CFA - UP. */
static void know(struct code_state *f, ZydisRegister r, int up)
{
	lose(f, r);
	if (r == ZYDIS_REGISTER_RSP) {
		f->up = up;
		f->knows_sp = true;
	} else if (r == ZYDIS_REGISTER_RBP) {
		f->fp_up = up;
		f->knows_fp = true;
	} else if (r != ZYDIS_REGISTER_RBX) {
		f->copy = r;
		f->copy_up = up;
	}
}

/* The value of register R is stored at CFA + AT. */
static void store(struct code_state *f, ZydisRegister r, int at)
{
	struct callers *c = callers_of(f, r);

	if (f->fp.at == at)
		f->fp.at = 0;
	if (f->bx.at == at)
		f->bx.at = 0;
	if (c && !c->is_changed && at < 0)
		c->at = at;
}

/* Register R is loaded from CFA + AT. */
static void load(struct code_state *f, ZydisRegister r, int at)
{
	struct callers *c = callers_of(f, r);
	bool is_back = c && c->at == at;

	lose(f, r);
	if (is_back)
		*c = (struct callers){0};
}

static void push(struct code_state *f, const ZydisDecodedOperand *op)
{
	f->up += 8;
	if (f->knows_sp)
		store(f,
		      op && op->type == ZYDIS_OPERAND_TYPE_REGISTER ? op->reg.value
								    : ZYDIS_REGISTER_NONE,
		      -f->up);
}

static void pop(struct code_state *f, const ZydisDecodedOperand *op)
{
	if (op && op->type == ZYDIS_OPERAND_TYPE_REGISTER) {
		if (f->knows_sp)
			load(f, op->reg.value, -f->up);
		else
			lose(f, op->reg.value);
	}
	f->up -= 8;
}

/* rsp plus a number; AND and others that round it lose it. */
static bool adds_to_sp(const struct instruction *i, int *ret)
{
	const bool subtracts = i->in.mnemonic == ZYDIS_MNEMONIC_SUB;

	if ((i->in.mnemonic != ZYDIS_MNEMONIC_ADD && !subtracts) ||
	    !is_register(&i->op[0], ZYDIS_REGISTER_RSP) ||
	    i->op[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE ||
	    llabs(i->op[1].imm.value.s) > INT32_MAX / 4)
		return false;
	*ret = (int)(subtracts ? -i->op[1].imm.value.s : i->op[1].imm.value.s);
	return true;
}

/* Moves between registers, to and from the frame; false: it is none whose result is known. */
static bool step_move(struct code_state *f, const struct instruction *i)
{
	const ZydisDecodedOperand *to = &i->op[0], *from = &i->op[1];
	int n;

	if (i->in.mnemonic == ZYDIS_MNEMONIC_LEA && i->in.operand_width == 64) {
		ZydisDecodedOperand place = *from;

		place.type = ZYDIS_OPERAND_TYPE_MEMORY;
		if (!is_in_frame(f, &place, &n))
			return false;
		know(f, to->reg.value, -n);
		return true;
	}
	if (i->in.mnemonic != ZYDIS_MNEMONIC_MOV || i->in.operand_width != 64)
		return false;
	if (to->type == ZYDIS_OPERAND_TYPE_REGISTER && from->type == ZYDIS_OPERAND_TYPE_REGISTER) {
		if (!distance_of(f, from->reg.value, &n))
			return false;
		know(f, to->reg.value, n);
		return true;
	}
	if (from->type == ZYDIS_OPERAND_TYPE_REGISTER && is_in_frame(f, to, &n)) {
		store(f, from->reg.value, n);
		return true;
	}
	if (to->type == ZYDIS_OPERAND_TYPE_REGISTER && is_in_frame(f, from, &n)) {
		load(f, to->reg.value, n);
		return true;
	}
	return false;
}

void code_state_step(struct code_state *f, const struct instruction *i)
{
	int n;

	switch (i->in.mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_PUSHFQ:
		if (i->in.operand_width != 64)
			break;
		push(f, i->in.mnemonic == ZYDIS_MNEMONIC_PUSH ? &i->op[0] : NULL);
		return;
	case ZYDIS_MNEMONIC_POP:
	case ZYDIS_MNEMONIC_POPFQ:
		if (i->in.operand_width != 64)
			break;
		pop(f, i->in.mnemonic == ZYDIS_MNEMONIC_POP ? &i->op[0] : NULL);
		return;
	case ZYDIS_MNEMONIC_LEAVE:
		f->knows_sp = f->knows_fp;
		f->up = f->fp_up;
		if (f->knows_sp)
			load(f, ZYDIS_REGISTER_RBP, -f->up);
		else
			lose(f, ZYDIS_REGISTER_RBP);
		f->up -= 8;
		return;
	case ZYDIS_MNEMONIC_CALL:
		f->copy = ZYDIS_REGISTER_NONE;
		return;
	default:
		break;
	}
	if (adds_to_sp(i, &n)) {
		f->up -= n;
		return;
	}
	if (step_move(f, i))
		return;
	for (unsigned k = 0; k < i->in.operand_count; k++)
		if (i->op[k].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    i->op[k].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			lose(f, whole_register(&i->op[k]));
}

bool instruction_begins(const struct instruction *i)
{
	return i->in.mnemonic == ZYDIS_MNEMONIC_PUSH || i->in.mnemonic == ZYDIS_MNEMONIC_ENDBR64 ||
	       (i->in.mnemonic == ZYDIS_MNEMONIC_SUB && is_register(&i->op[0], ZYDIS_REGISTER_RSP));
}

bool code_state_is_entry(const struct code_state *f)
{
	return f->knows_sp && f->up == RETURN_ADDRESS_BYTES && !f->fp.is_changed &&
	       !f->bx.is_changed;
}

bool code_state_is_beyond(const struct code_state *f)
{
	return f->knows_sp && f->up < RETURN_ADDRESS_BYTES;
}

struct code_state code_state_known(const struct code_state *f)
{
	struct code_state ret;

	memset(&ret, 0, sizeof(ret)); /* compared by its bytes */
	ret.knows_sp = f->knows_sp;
	ret.knows_fp = f->knows_fp;
	ret.up = f->knows_sp ? f->up : 0;
	ret.fp_up = f->knows_fp ? f->fp_up : 0;
	ret.fp.at = f->fp.at;
	ret.bx.at = f->bx.at;
	ret.fp.is_changed = !f->fp.at && f->fp.is_changed;
	ret.bx.is_changed = !f->bx.at && f->bx.is_changed;
	return ret;
}

struct unwind_rule code_state_rule(const struct code_state *f)
{
	struct unwind_rule rule = {.ra = UNWIND_RA_SAVED, .ra_at = -1};
	const struct callers *from[] = {&f->fp, &f->bx};
	short *to[] = {&rule.fp_at, &rule.bx_at};

	if (!f->knows_sp && !f->knows_fp)
		return (struct unwind_rule){0};
	rule.cfa = f->knows_sp ? UNWIND_CFA_SP : UNWIND_CFA_FP;
	rule.cfa_off = f->knows_sp ? f->up : f->fp_up;
	for (int i = 0; i < 2; i++) {
		*to[i] = from[i]->is_changed ? UNWIND_LOST : UNWIND_SAME;
		if (from[i]->at % 8 == 0 && from[i]->at < 0 && from[i]->at / 8 > -UNWIND_LOST)
			*to[i] = (short)(from[i]->at / 8);
	}
	return rule;
}
