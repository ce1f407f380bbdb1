/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of the check of a whole database share. */
#ifndef FORMATS_HPC_CHECK_IMPL_H
#define FORMATS_HPC_CHECK_IMPL_H

#include "base/vec.h"
#include "formats/hpc/cct.h"
#include "formats/hpc/check/check.h"
#include "formats/hpc/meta.h"
#include "formats/hpc/profile.h"
#include "formats/hpc/trace.h"

/* Where a context is in the tree. */
struct check_place {
	uint32_t parent; /* ctxId; HPC_ROOT_CTX for a root, HPC_NONE when meta.db lists none */
	uint8_t relation, lexicalType;
	bool isEntry;
};

struct check_tree {
	uint32_t n;
	struct check_place *of; /* by ctxId below n */
	VEC(uint32_t) others;	/* listed ctxIds from n on, sorted */
	bool instructions;	/* some context is an instruction */
};

/* The tree of META's contexts; N_CTXS is how many can have values. */
void check_tree_init(struct check_tree *t, const struct hpc_meta *meta, uint32_t n_ctxs);
void check_tree_release(struct check_tree *t);

/* Whether meta.db lists CTXID, or it is the root of all. */
bool check_tree_has(const struct check_tree *t, uint32_t ctxId);

/* The summary profile is what formulas and combinations make of all threads' values. */
void check_summaries(struct hpc_check *c, const struct hpc_files *f, const struct check_tree *tree);

/* Values of scopes execution and function are the sums they should be. */
void check_scopes(struct hpc_check *c, const struct hpc_files *f, const struct check_tree *tree);

#endif
