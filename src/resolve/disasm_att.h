/* SPDX-License-Identifier: BSD-2-Clause */
/* One decoded x86 instruction in AT&T syntax; see disasm_att.c. */
#ifndef RESOLVE_DISASM_ATT_H
#define RESOLVE_DISASM_ATT_H

#include <Zydis/Zydis.h>

#include "resolve/disasm_impl.h"

/* Appends the text of IN, which stands at D->svma, to D->text. */
void disasm_att_add(struct disasm *d, const ZydisDecodedInstruction *in,
		    const ZydisDecodedOperand *operands);

#endif
