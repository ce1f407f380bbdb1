/* SPDX-License-Identifier: BSD-2-Clause */
/* Running a BPF iterator to its end. */
#ifndef COLLECT_BPF_ITER_H
#define COLLECT_BPF_ITER_H

#include <stddef.h>

#include "base/err.h"

struct bpf_program;

/* Runs PROG and gives what it writes to FN in pieces of N_BYTES, which is at most 4096. */
int bpf_iter_run(struct bpf_program *prog, size_t n_bytes, void (*fn)(void *ctx, const void *piece),
		 void *ctx, struct err *err);

#endif
