/* SPDX-License-Identifier: BSD-2-Clause */
/* Instructions as text: one small interface over the disassemblers of each machine.
 *
 *     struct disasm_opts o = {.machine = EM_X86_64, .name = find_name, .ctx = symbols};
 *     struct disasm *d = disasm_new(&o, err);
 *     disasm_begin(d, bytes, n_bytes, svma);
 *     while (disasm_next(d, &insn))
 *             ... insn.svma, insn.text ...
 *     disasm_free(d);
 *
 * Every byte of the input belongs to exactly one instruction: bytes that are no instruction come
 * out as `(bad)` of one byte (x86) or `.inst 0x...` of four (arm64), and decoding goes on behind
 * them. */
#ifndef RESOLVE_DISASM_H
#define RESOLVE_DISASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Returns the name of the procedure or object that covers SVMA and puts SVMA's distance from its
 * start into *RET_OFFSET, or returns NULL.  The name is used before the next call. */
typedef const char *disasm_name_fn(void *ctx, uint64_t svma, uint64_t *ret_offset);

struct disasm_opts {
	uint16_t machine;     /* elf.h: EM_X86_64, EM_386 or EM_AARCH64 */
	bool intel;	      /* Intel's syntax instead of AT&T's (x86 only) */
	disasm_name_fn *name; /* NULL: addresses stay numbers */
	void *ctx;	      /* first argument of name */
};

enum disasm_kind { DISASM_OTHER, DISASM_JUMP, DISASM_COND_JUMP, DISASM_CALL, DISASM_RETURN };

struct disasm_insn {
	uint64_t svma;
	uint64_t target;  /* of a direct jump or call; only if has_target */
	const char *text; /* mnemonic, padded to 6, a space, operands; lives until disasm_next */
	uint8_t n_bytes;
	bool has_target;
	bool bad; /* not an instruction */
	enum disasm_kind kind;
};

struct disasm;

/* Makes a disassembler for one machine.  NULL when the machine is not known or its library is not
 * installed; ERR says which. */
struct disasm *disasm_new(const struct disasm_opts *opts, struct err *err);
void disasm_free(struct disasm *d);

/* Starts over at BYTES, which must stay in place until the last disasm_next; SVMA is the first
 * byte's address.  No instruction is read past N_BYTES. */
void disasm_begin(struct disasm *d, const void *bytes, size_t n_bytes, uint64_t svma);

/* As disasm_begin, for who asks only where instructions begin: disasm_next tells svma, n_bytes and
 * bad, in less than half of the time (x86). */
void disasm_begin_lengths(struct disasm *d, const void *bytes, size_t n_bytes, uint64_t svma);

/* Decodes the next instruction; false at the end. */
bool disasm_next(struct disasm *d, struct disasm_insn *ret);

/* Finds the addresses in [svma, svma + n_bytes) that a direct jump in the same range goes to
 * (calls do not count).  Puts them into *RET, ascending and each once (free it), and returns how
 * many there are.  Ends what disasm_begin began. */
size_t disasm_targets(struct disasm *d, const void *bytes, size_t n_bytes, uint64_t svma,
		      uint64_t **ret);

#endif
