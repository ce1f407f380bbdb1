/* SPDX-License-Identifier: BSD-2-Clause */
/* A small HPCToolkit database that has one of everything: recursion, a procedure called from two
 * lines, a call inlined in a loop, a function without a name, code without a function, an
 * instruction that meta.db does not list, threads that lack contexts, traces, a copied source. */
#ifndef TESTS_HPCGEN_H
#define TESTS_HPCGEN_H

#include "base/err.h"
#include "formats/hpc/hpc.h"

/* Writes it into DIR, which is made. */
int hpcgen_write(const char *dir, enum hpc_layout layout, struct err *err);

/* Writes a database of the same metrics whose contexts are a tree of functions, each calling FANOUT
 * others, DEPTH deep, with values in all leaves; returns how many contexts it has. */
int hpcgen_write_tree(const char *dir, unsigned fanout, unsigned depth, uint32_t *ret_n_ctxs,
		      struct err *err);

#endif
