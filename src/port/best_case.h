/* SPDX-License-Identifier: BSD-2-Clause */
/* How long blocks of code take at best on a CPU, by LLVM's scheduling models: llvm-mc (bytes to
 * assembly) and llvm-mca (assembly to cycles) of Debian's package llvm, each started once for a
 * set of blocks.
 *
 *     struct best_case_code code = {.machine = EM_X86_64};
 *     ... vec_push(&code.insns, ...); vec_push(&code.ends, code.insns.n) ...
 *     rc = best_case_find(&code, &opts, &model, err);
 *     ... model.blocks.v[i] is of block i; no instructions: it has no model ...
 *
 * The model knows caches that always hit, branches that are always foreseen, and calls that cost
 * what a jump does. */
#ifndef PORT_BEST_CASE_H
#define PORT_BEST_CASE_H

#include "base/err.h"
#include "base/vec.h"
#include "formats/mca.h"

#define BEST_CASE_MOST 20000u

struct best_case_insn {
	const uint8_t *bytes; /* borrowed */
	uint8_t n_bytes;
	bool calls;
};

struct best_case_code {
	uint16_t machine; /* elf.h: EM_X86_64, EM_386 or EM_AARCH64 */
	VEC(struct best_case_insn) insns;
	VEC(size_t) ends; /* block I's instructions are insns [ends[I - 1], ends[I]) */
};

struct best_case_opts {
	const char *cpu;       /* LLVM's name (llvm-mca --mcpu=help); NULL: this machine's */
	const char *cache_dir; /* models are kept there, by what they are of; NULL: not kept */
};

/* Fills RET with a model of each block of CODE.  Blocks that LLVM cannot model on that CPU have no
 * instructions there.  -ENOENT: llvm-mca is not installed; -E2BIG: more than BEST_CASE_MOST
 * instructions; -ETIMEDOUT: LLVM took a minute; -ENOTSUP: no model for this machine or CPU.  RET is
 * empty after an error; mca_release it in any case. */
int best_case_find(const struct best_case_code *code, const struct best_case_opts *o,
		   struct mca *ret, struct err *err);
void best_case_code_release(struct best_case_code *code);

#endif
