/* SPDX-License-Identifier: BSD-2-Clause */
/* The profiles of a database being built: one for each thread that a recording kept apart, else one
 * for each group of processes, with the identifier tuples that name them.
 *
 *     NODE     the host: its hostid, or a hash of its name when it is another machine
 *     RANK     of an MPI or Slurm task, when the label or the cgroup says so
 *     PROCESS  the process, when there are several and the recording kept them apart; a kind of
 *              our own, as the format allows
 *     THREAD   0, 1, ... within those, the main thread first
 *
 * Profiles are added in any order; in the end they are sorted by these, and number I (from 0) has
 * index I + 1 in profile.db, where 0 is the summary. */
#ifndef HPC_IDENTITY_H
#define HPC_IDENTITY_H

#include "base/hash.h"
#include "formats/hpc/hpc.h"
#include "model/profile.h"

enum { BUILD_ID_PROCESS = HPC_N_ID_KINDS, BUILD_N_ID_KINDS };

/* The names of all kinds, for meta.db. */
extern const char *const build_id_names[BUILD_N_ID_KINDS];

#define NO_RANK	      UINT32_MAX
#define BUILD_MAX_IDS 4

/* What tells profiles apart. */
struct identity {
	uint32_t host;	/* in identities.hosts */
	uint32_t rank;	/* or NO_RANK */
	uint32_t pid;	/* 0: not kept */
	uint32_t tid;	/* 0: not kept */
	uint32_t group; /* of owners without threads: which; else 0 */
};

struct identities {
	VEC(struct identity) v;
	struct index by_key;
	VEC(char *) hosts;
	/* when finished: */
	uint32_t *threads;   /* by number in order: the THREAD */
	uint32_t *processes; /* the PROCESS, dense */
	bool many_processes;
};

void identities_release(struct identities *ids);

uint32_t identities_host(struct identities *ids, const char *name);

/* The number of KEY, added when it is not there; it changes when identities_finish sorts. */
uint32_t identities_intern(struct identities *ids, const struct identity *key);

/* The rank that an owner's label ("rank=3", "rank 3", "job-rank3") or cgroup (".../step_0/.../
 * task_3", as Slurm makes them) says, or NO_RANK. */
uint32_t identity_rank(const char *label, const char *cgroup);

/* Sorts them.  Returns where each went, in fresh memory. */
uint32_t *identities_finish(struct identities *ids);

/* The identifier tuple of number I (in order): returns how many identifications it has. */
size_t identities_tuple(const struct identities *ids, uint32_t i, struct hpc_id ret[BUILD_MAX_IDS]);

#endif
