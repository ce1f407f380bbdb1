/* SPDX-License-Identifier: BSD-2-Clause */
/* Seeded random models of HPCToolkit databases for property tests. */
#ifndef TESTS_GEN_HPC_H
#define TESTS_GEN_HPC_H

#include "base/wr.h"
#include "formats/hpc/meta.h"
#include "t.h"

/* Fills M with all kinds of structures, N_NODES contexts among them, in the form that a file of
 * LAYOUT can hold: reading what was written gives the same.  hpc_meta_model_release frees it. */
void gen_hpc_meta(struct t_rng *r, struct hpc_meta_model *m, uint32_t n_nodes,
		  enum hpc_layout layout);

/* All of M as text, to be freed. */
char *gen_hpc_meta_text(const struct hpc_meta_model *m);

/* The file that hpc_meta_write makes of M; empty, with *ERR set, when that fails. */
struct wr gen_hpc_meta_bytes(const struct hpc_meta_model *m, enum hpc_layout layout,
			     struct err *err);

#endif
