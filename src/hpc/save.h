/* SPDX-License-Identifier: BSD-2-Clause */
/* The threads that fill profile.db. */
#ifndef HPC_SAVE_H
#define HPC_SAVE_H

#include "hpc/write/profile.h"
#include "hpc/build.h"

/* The groups of records of each profile: those of number I (from 0) are
 * groups[first[I]] .. groups[first[I + 1] - 1]. */
struct profile_groups {
	uint32_t *first, *groups;
	uint32_t n; /* profiles */
};

/* Writes profile.db but for its summary in the directory of B, whose records are finished and whose
 * inputs' nodes are ctxIds by now.  It is settled (hpc_profile_settle); *RET is to be finished or
 * abandoned.  N_IDS: in the tuples of databases. */
int save_profiles(struct build *b, const struct ctx_tree *tree, const struct profile_groups *groups,
		  uint64_t n_ids, struct hpc_profile_writer **ret, struct err *err);

/* How B's processes share a file; NULL: there is one. */
const struct hpc_share *build_share(const struct build *b);

/* The database that profile ID is of; NULL: none. */
const struct database *build_database(const struct build *b, const struct identity *id);

/* Reports progress; as build_opts.progress. */
int build_progress(const struct build *b, const char *what, uint64_t done, uint64_t all,
		   struct err *err);

#endif
