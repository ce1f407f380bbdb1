/* SPDX-License-Identifier: BSD-2-Clause */
/* The profiles of a database being built: one for each thread that a recording kept apart, else one
 * for each group of processes, with the identifier tuples that name them.
 *
 *     NODE     the host: its hostid, or a hash of its name when it is another machine
 *     RANK     of an MPI or Slurm task, when the label or the cgroup says so
 *     PROCESS  the process, when there are several, or traces, and the recording kept them apart; a
 *              kind of our own, as the format allows
 *     THREAD   0, 1, ... within those, the main thread first
 *
 * Profiles of databases that are put in keep their tuples, but for the logical numbers of nodes
 * where two have the same.
 *
 * Profiles are added in any order; in the end they are sorted by these, those of databases behind
 * by their numbers there, and number I (from 0) has index I + 1 in profile.db, where 0 is the
 * summary. */
#ifndef HPC_IDENTITY_H
#define HPC_IDENTITY_H

#include "base/hash.h"
#include "formats/hpc/hpc.h"
#include "model/profile.h"

/* Identifications of a profile of a recording. */
#define NO_RANK	      UINT32_MAX
#define NO_PROCESS    UINT32_MAX
#define BUILD_MAX_IDS 5

/* What tells profiles apart. */
struct identity {
	uint32_t db;	  /* of a database: the input's number + 1; else 0 */
	uint32_t profile; /* of a database: which of its profiles, and all else is 0 */
	uint32_t host;	  /* in identities.hosts */
	uint32_t rank;	  /* or NO_RANK */
	uint32_t core;	  /* or NO_RANK */
	uint32_t pid;	  /* 0: not kept */
	uint32_t tid;	  /* 0: not kept */
	uint32_t input;	  /* of owners without threads: the input's number + 1; else 0 */
	uint32_t owner;	  /* and the owner */
};

/* A machine that a database names (NODE). */
struct identity_node {
	uint64_t physicalId;
	uint32_t logicalId; /* the database's; when finished what it is here */
	uint64_t order;	    /* where it was met first */
};

struct identities {
	VEC(struct identity) v;
	struct index by_key;
	VEC(char *) hosts; /* sorted when finished */
	VEC(struct identity_node) nodes;
	VEC(char *) kinds; /* names of kinds beside HPCToolkit's own, sorted when finished */
	/* when finished: */
	uint32_t *host_ids;  /* by host: its hostid */
	uint32_t *threads;   /* by number in order: the THREAD */
	uint32_t *processes; /* the PROCESS, dense; NO_PROCESS where the rank says it all */
	bool many_processes;
};

void identities_release(struct identities *ids);

uint32_t identities_host(struct identities *ids, const char *name);

/* The number of KEY, added when it is not there; it changes when identities_finish sorts. */
uint32_t identities_intern(struct identities *ids, const struct identity *key);

/* A kind of identifier that is not HPCToolkit's own. */
void identities_add_kind(struct identities *ids, const char *name);

/* A NODE of a database; ORDER says where it stands. */
void identities_add_node(struct identities *ids, uint64_t physicalId, uint32_t logicalId,
			 uint64_t order);

/* The rank that an owner's label ("rank=3", "rank 3", "job-rank3") or cgroup (".../step_0/.../
 * task_3", as Slurm makes them) says, or NO_RANK. */
uint32_t identity_rank(const char *label, const char *cgroup);

/* The core that an owner's label says it was bound to ("rank=3,core=1"), or NO_RANK. */
uint32_t identity_core(const char *label);

/* Sorts them.  Returns where each went, in fresh memory.  With traces (HAS_TRACES) processes are
 * named even if there is one: Pipit takes a tuple's second for the process and its third for the
 * thread. */
uint32_t *identities_finish(struct identities *ids, bool has_traces);

/* When finished: how many kinds there are, the name of one, and the one of a NAME that was added.
 */
unsigned identities_n_kinds(const struct identities *ids);
const char *identities_kind_name(const struct identities *ids, unsigned kind);
uint8_t identities_kind(const struct identities *ids, const char *name);

/* The logical number of the NODE that is PHYSICALID. */
uint32_t identities_node(const struct identities *ids, uint64_t physicalId);

/* The identifier tuple of number I (in order), which is no database's: returns how many
 * identifications it has. */
size_t identities_tuple(const struct identities *ids, uint32_t i, struct hpc_id ret[BUILD_MAX_IDS]);

#endif
