/* SPDX-License-Identifier: BSD-2-Clause */
/* What holds in a function at one of its instructions, for code_frames.c, and what the instruction
 * makes of it.  x86-64. */
#ifndef RESOLVE_CODE_STATE_H
#define RESOLVE_CODE_STATE_H

#include <Zydis/Zydis.h>
#include <stdbool.h>

#include "unwind/table.h"

/* A register that belongs to the caller. */
struct callers {
	int at; /* its value is at CFA + AT; 0: nowhere */
	bool is_changed;
};

/* What holds before an instruction.  CFA: the canonical frame address. */
struct code_state {
	int up;	     /* CFA - rsp */
	int fp_up;   /* CFA - rbp */
	int copy_up; /* CFA - register COPY */
	bool knows_sp, knows_fp;
	ZydisRegister copy; /* of rsp; 0: none */
	struct callers fp, bx;
};

#define CODE_AT_ENTRY ((struct code_state){.up = 8, .knows_sp = true})

struct instruction {
	ZydisDecodedInstruction in;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
};

/* Whether functions begin with such an instruction. */
bool instruction_begins(const struct instruction *i);

/* Makes of F, which holds before instruction I, what holds after it.  I is no jump. */
void code_state_step(struct code_state *f, const struct instruction *i);

/* Whether all is as the caller left it. */
bool code_state_is_entry(const struct code_state *f);

/* Whether the return address is no longer on the stack. */
bool code_state_is_beyond(const struct code_state *f);

/* What F says of the caller, to be compared by its bytes: what it does not know, and what does not
 * matter, is zero. */
struct code_state code_state_known(const struct code_state *f);

/* The rule that F amounts to; of zeros where neither stack nor frame pointer is known. */
struct unwind_rule code_state_rule(const struct code_state *f);

#endif
