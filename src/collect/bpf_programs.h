/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the code of BPF programs is. */
#ifndef COLLECT_BPF_PROGRAMS_H
#define COLLECT_BPF_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

struct btf;

/* Gives FN the run-time addresses [START, END) of each function of the program at FD, which has
 * TYPES, and its name as /proc/kallsyms has it: "bpf_prog_6deef7357e7b4530_sample".  Those whose
 * name is not certain are left out; where the kernel hides addresses, all. */
void bpf_program_functions(int fd, const struct btf *types,
			   void (*fn)(void *ctx, uint64_t start, uint64_t end, const char *name),
			   void *ctx);

/* Gives FN those of all programs that are loaded now, whoever loaded them.  False where the kernel
 * does not tell this process. */
bool bpf_programs_each(void (*fn)(void *ctx, uint64_t start, uint64_t end, const char *name),
		       void *ctx);

#endif
