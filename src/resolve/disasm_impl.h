/* SPDX-License-Identifier: BSD-2-Clause */
/* What disasm.c and the machines behind it share; not for other folders. */
#ifndef RESOLVE_DISASM_IMPL_H
#define RESOLVE_DISASM_IMPL_H

#include "base/str.h"
#include "resolve/disasm.h"

/* Decodes the instruction at D->p (at least one byte is there): fills RET's n_bytes, kind, target
 * and bad, and, when D->want_text, D->text; when D->only_lengths, at least n_bytes and bad. */
typedef void disasm_decode_fn(struct disasm *d, struct disasm_insn *ret);

struct disasm {
	struct disasm_opts opts;
	disasm_decode_fn *decode;
	void (*free_engine)(struct disasm *d);
	void *engine; /* the machine's own */
	const uint8_t *p, *end;
	uint64_t svma; /* of p */
	bool want_text, only_lengths;
	struct str text;
};

int disasm_x86_init(struct disasm *d, struct err *err);
int disasm_arm64_init(struct disasm *d, struct err *err);

/* Appends `HEX <name+0xoff>` as objdump writes it, without the part in <> when
 * nothing covers SVMA. */
void disasm_add_address(struct disasm *d, uint64_t svma);

#endif
