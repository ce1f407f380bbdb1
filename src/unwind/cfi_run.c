/* SPDX-License-Identifier: BSD-2-Clause */
/* The programs of call frame information (DWARF 5 section 6.4.2 and 7.24): what holds at each
 * address of a stretch of code, row by row.
 *
 * Only the registers a stack walk needs are followed (enum cfi_column); instructions about others
 * are read and dropped.  A program is run once, from its start, so the work is
 * linear in its bytes. */
#include "unwind/cfi.h"

#include <errno.h>

#define MAX_REMEMBERED 64 /* states; compilers nest one or two */

enum {
	/* The upper two bits; the lower six are an operand. */
	CFA_ADVANCE_LOC = 0x40,
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
	CFA_NOP = 0x00,
	CFA_SET_LOC,
	CFA_ADVANCE_LOC1,
	CFA_ADVANCE_LOC2,
	CFA_ADVANCE_LOC4,
	CFA_OFFSET_EXTENDED,
	CFA_RESTORE_EXTENDED,
	CFA_UNDEFINED,
	CFA_SAME_VALUE,
	CFA_REGISTER,
	CFA_REMEMBER_STATE,
	CFA_RESTORE_STATE,
	CFA_DEF_CFA,
	CFA_DEF_CFA_REGISTER,
	CFA_DEF_CFA_OFFSET,
	CFA_DEF_CFA_EXPRESSION,
	CFA_EXPRESSION,
	CFA_OFFSET_EXTENDED_SF,
	CFA_DEF_CFA_SF,
	CFA_DEF_CFA_OFFSET_SF,
	CFA_VAL_OFFSET,
	CFA_VAL_OFFSET_SF,
	CFA_VAL_EXPRESSION,
	CFA_ADVANCE_LOC8 = 0x1d, /* MIPS's; GNU as knows it everywhere */
	/* AADWARF64 4.6 "Call frame instructions" */
	CFA_NEGATE_RA_STATE_WITH_PC = 0x2c,
	CFA_NEGATE_RA_STATE = 0x2d,
	/* LSB 5.0 "DWARF Extensions" */
	CFA_GNU_ARGS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
};

struct run {
	const struct cfi_frames *f;
	const struct cfi_cie *cie;
	uint16_t machine;
	struct rd r;
	uint64_t at, end; /* the row being made begins at `at` */
	struct cfi_state s;
	cfi_row_fn *row; /* NULL in initial instructions */
	void *owner;
	uint32_t n_remembered;
	struct cfi_state remembered[MAX_REMEMBERED];
};

/* The column of DWARF's register REG; NULL: it is not followed. */
static struct cfi_place *find_place(struct run *run, uint64_t reg)
{
	struct cfi_place *columns = run->s.columns;

	if (reg == run->s.ra_reg)
		return &columns[CFI_RA];
	if (reg == cfi_fp(run->machine))
		return &columns[CFI_FP];
	if (reg == cfi_sp(run->machine))
		return &columns[CFI_SP];
	if (reg == X86_BX && run->machine == EM_X86_64)
		return &columns[CFI_BX];
	return NULL;
}

static void set_place(struct run *run, uint64_t reg, enum cfi_how how, struct cfi_value at)
{
	struct cfi_place *p = find_place(run, reg);

	if (p)
		*p = (struct cfi_place){.how = (uint8_t)how, .at = at};
}

static int64_t factored(const struct run *run, int64_t n)
{
	return (int64_t)((uint64_t)n * (uint64_t)run->cie->data_align);
}

/* The word at CFA + OFF, or with CFI_IS that sum. */
static void set_offset(struct run *run, uint64_t reg, enum cfi_how how, int64_t off)
{
	set_place(run, reg, how, (struct cfi_value){.form = CFI_CFA, .off = off});
}

static void restore(struct run *run, uint64_t reg)
{
	struct cfi_place *p = find_place(run, reg);

	if (p)
		*p = run->cie->start.columns[p - run->s.columns];
}

static void set_cfa(struct run *run, uint64_t reg, int64_t off)
{
	struct cfi_value *cfa = &run->s.cfa, *plain = &run->s.plain;

	/* By members: to load as a whole what was just stored in pieces takes as long as all the
	 * rest of an instruction. */
	cfa->form = plain->form = reg > 255 ? CFI_OTHER : CFI_REG;
	cfa->reg = plain->reg = (uint8_t)reg;
	cfa->off = plain->off = off;
	cfa->add = plain->add = 0;
}

/* Sets the register to REG and keeps the offset.  DWARF forbids it behind an expression, but
 * libgcrypt's assembly ends so and GCC's unwinder takes the last offset before (observed). */
static void set_cfa_register(struct run *run, uint64_t reg)
{
	if (run->s.plain.form == CFI_REG)
		set_cfa(run, reg, run->s.plain.off);
	else
		run->r.bad = true;
}

/* The other half; while an expression holds it is noted only. */
static void set_cfa_offset(struct run *run, int64_t off)
{
	if (run->s.cfa.form == CFI_REG)
		set_cfa(run, run->s.cfa.reg, off);
	else if (run->s.plain.form == CFI_REG)
		run->s.plain.off = off;
	else
		run->r.bad = true;
}

static struct cfi_value read_expression(struct run *run, bool with_cfa)
{
	size_t n = rd_count(&run->r, 1);
	const uint8_t *bytes = rd_bytes(&run->r, n);

	return bytes ? cfi_eval(bytes, n, run->machine, with_cfa) : (struct cfi_value){0};
}

/* What a register's expression says: the word's address, or with CFI_IS the value. */
static void set_expression(struct run *run, uint64_t reg, enum cfi_how how)
{
	struct cfi_value v = read_expression(run, true);

	if (v.form != CFI_CFA && v.form != CFI_REG)
		how = CFI_LOST;
	set_place(run, reg, how, v);
}

/* Ends the row at TO and begins the next there; past the end there is nothing to say. */
static void advance(struct run *run, uint64_t to)
{
	if (!run->row || to < run->at) {
		run->r.bad = true;
		return;
	}
	if (to > run->end)
		to = run->end;
	if (to > run->at && !run->r.bad)
		run->row(run->owner, run->at, to, &run->s);
	run->at = to;
}

static void advance_by(struct run *run, uint64_t n)
{
	uint64_t bytes;

	if (__builtin_mul_overflow(n, run->cie->code_align, &bytes) || bytes > run->end - run->at)
		bytes = run->end - run->at;
	advance(run, run->at + bytes);
}

static void cfi_run_remember(struct run *run)
{
	if (run->n_remembered == MAX_REMEMBERED)
		run->r.bad = true;
	else
		run->remembered[run->n_remembered++] = run->s;
}

/* The CFA comes back, too: GCC counts on it (DWARF leaves it open). */
static void recall(struct run *run)
{
	if (run->n_remembered == 0)
		run->r.bad = true;
	else
		run->s = run->remembered[--run->n_remembered];
}

static void run_register(struct run *run, uint8_t op)
{
	struct rd *r = &run->r;
	uint64_t reg = rd_uleb(r);

	switch (op) {
	case CFA_OFFSET_EXTENDED:
		set_offset(run, reg, CFI_AT, factored(run, (int64_t)rd_uleb(r)));
		break;
	case CFA_OFFSET_EXTENDED_SF:
		set_offset(run, reg, CFI_AT, factored(run, cfi_read_sleb(r)));
		break;
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		set_offset(run, reg, CFI_AT, factored(run, -(int64_t)(rd_uleb(r) & INT64_MAX)));
		break;
	case CFA_VAL_OFFSET:
		set_offset(run, reg, CFI_IS, factored(run, (int64_t)rd_uleb(r)));
		break;
	case CFA_VAL_OFFSET_SF:
		set_offset(run, reg, CFI_IS, factored(run, cfi_read_sleb(r)));
		break;
	case CFA_RESTORE_EXTENDED:
		restore(run, reg);
		break;
	case CFA_UNDEFINED:
		set_place(run, reg, CFI_UNDEFINED, (struct cfi_value){0});
		break;
	case CFA_SAME_VALUE:
		set_place(run, reg, CFI_SAME, (struct cfi_value){0});
		break;
	case CFA_REGISTER: {
		uint64_t in = rd_uleb(r);

		set_place(run, reg,
			  in > 255    ? CFI_LOST
			  : in == reg ? CFI_SAME
				      : CFI_IS,
			  (struct cfi_value){.form = CFI_REG, .reg = (uint8_t)in});
		break;
	}
	case CFA_EXPRESSION:
		set_expression(run, reg, CFI_AT);
		break;
	default:
		set_expression(run, reg, CFI_IS);
		break;
	}
}

static void run_cfa(struct run *run, uint8_t op)
{
	struct rd *r = &run->r;
	uint64_t reg;

	switch (op) {
	case CFA_DEF_CFA:
		reg = rd_uleb(r);
		set_cfa(run, reg, (int64_t)rd_uleb(r));
		break;
	case CFA_DEF_CFA_SF:
		reg = rd_uleb(r);
		set_cfa(run, reg, factored(run, cfi_read_sleb(r)));
		break;
	case CFA_DEF_CFA_REGISTER:
		set_cfa_register(run, rd_uleb(r));
		break;
	case CFA_DEF_CFA_OFFSET:
		set_cfa_offset(run, (int64_t)rd_uleb(r));
		break;
	case CFA_DEF_CFA_OFFSET_SF:
		set_cfa_offset(run, factored(run, cfi_read_sleb(r)));
		break;
	default:
		run->s.cfa = read_expression(run, false);
		break;
	}
}

static void run_extended(struct run *run, uint8_t op)
{
	struct rd *r = &run->r;

	switch (op) {
	case CFA_NOP:
		break;
	case CFA_SET_LOC:
		advance(run, cfi_read_pointer(r, run->cie->encoding, run->f->in,
					      run->f->section->svma +
						      (uint64_t)(r->p - run->f->section->bytes)));
		break;
	case CFA_ADVANCE_LOC1:
		advance_by(run, rd_u8(r));
		break;
	case CFA_ADVANCE_LOC2:
		advance_by(run, rd_le16(r));
		break;
	case CFA_ADVANCE_LOC4:
		advance_by(run, rd_le32(r));
		break;
	case CFA_ADVANCE_LOC8:
		advance_by(run, rd_le64(r));
		break;
	case CFA_REMEMBER_STATE:
		cfi_run_remember(run);
		break;
	case CFA_RESTORE_STATE:
		recall(run);
		break;
	case CFA_DEF_CFA:
	case CFA_DEF_CFA_SF:
	case CFA_DEF_CFA_REGISTER:
	case CFA_DEF_CFA_OFFSET:
	case CFA_DEF_CFA_OFFSET_SF:
	case CFA_DEF_CFA_EXPRESSION:
		run_cfa(run, op);
		break;
	case CFA_OFFSET_EXTENDED:
	case CFA_OFFSET_EXTENDED_SF:
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
	case CFA_VAL_OFFSET:
	case CFA_VAL_OFFSET_SF:
	case CFA_RESTORE_EXTENDED:
	case CFA_UNDEFINED:
	case CFA_SAME_VALUE:
	case CFA_REGISTER:
	case CFA_EXPRESSION:
	case CFA_VAL_EXPRESSION:
		run_register(run, op);
		break;
	case CFA_GNU_ARGS_SIZE: /* for landing pads; the CFA does not depend on it */
		rd_uleb(r);
		break;
	case CFA_NEGATE_RA_STATE:
	case CFA_NEGATE_RA_STATE_WITH_PC:
		if (run->machine == EM_AARCH64) {
			run->s.signed_ra = !run->s.signed_ra;
			break;
		}
		/* fall through */
	default:
		run->r.bad = true;
		break;
	}
}

static void run_program(struct run *run)
{
	struct rd *r = &run->r;

	while (rd_left(r) && !(run->row && run->at == run->end)) {
		uint8_t op = rd_u8(r), operand = op & 0x3f;

		switch (op & 0xc0) {
		case CFA_ADVANCE_LOC:
			advance_by(run, operand);
			break;
		case CFA_OFFSET:
			set_offset(run, operand, CFI_AT, factored(run, (int64_t)rd_uleb(r)));
			break;
		case CFA_RESTORE:
			restore(run, operand);
			break;
		default:
			run_extended(run, op);
			break;
		}
		if (r->bad)
			break;
	}
}

/* Not all of it: the remembered states are many bytes. */
static void cfi_run_init(struct run *run, const struct cfi_frames *f, const struct cfi_cie *c,
			 const uint8_t *program, size_t n)
{
	run->f = f;
	run->cie = c;
	run->machine = f->in->machine;
	run->r = rd_init(program, n);
	run->s = c->start;
	run->n_remembered = 0;
}

int cfi_run_start(const struct cfi_frames *f, struct cfi_cie *c)
{
	struct run run;

	cfi_run_init(&run, f, c, c->program, c->n_program);
	run.row = NULL;
	run_program(&run);
	if (run.r.bad)
		return -EBADMSG;
	c->start = run.s;
	return 0;
}

int cfi_run(const struct cfi_frames *f, const struct cfi_fde *fde, cfi_row_fn *row, void *owner)
{
	const struct cfi_cie *c = &f->cies.v[fde->cie];
	struct run run;

	cfi_run_init(&run, f, c, fde->program, fde->n_program);
	run.at = fde->svma;
	run.end = fde->svma + fde->n_bytes;
	run.row = row;
	run.owner = owner;
	run_program(&run);
	if (run.at < run.end)
		row(owner, run.at, run.end, run.r.bad ? NULL : &run.s);
	return run.r.bad ? -EBADMSG : 0;
}
