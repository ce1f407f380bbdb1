/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the code of the BPF programs is that are loaded now, whoever loaded them. */
#ifndef COLLECT_BPF_PROGRAMS_H
#define COLLECT_BPF_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

/* Gives FN each function's run-time addresses [START, END), and its name as /proc/kallsyms has it:
 * "bpf_prog_6deef7357e7b4530_sample".  Those whose name is not certain are left out.  False where
 * the kernel does not tell this process. */
bool bpf_programs_each(void (*fn)(void *ctx, uint64_t start, uint64_t end, const char *name),
		       void *ctx);

#endif
