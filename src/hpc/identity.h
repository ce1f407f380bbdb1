/* SPDX-License-Identifier: BSD-2-Clause */
/* The profiles of a database being built: one for each thread that a recording kept apart, else one
 * for each group of processes, with the identifier tuples that name them.
 *
 *     NODE     the host: its hostid, or a hash of its name when it is another machine
 *     RANK     the process, when there are several: 0, 1, ... over the whole output; physically its
 *              rank of MPI or Slurm, if it alone has that (the label or the cgroup says so), else
 *              its pid
 *     THREAD   0, 1, ... within those, the main thread first
 *     GPUDEVICE, GPUCONTEXT, GPUSTREAM
 *              in place of THREAD, as far as the owner's label says them: work of a GPU, which has
 *              no thread
 *
 * Profiles of databases that are put in keep their tuples, but for the logical numbers of nodes
 * where two have the same, and for RANK, which all processes of the output share.  Kinds that are
 * not HPCToolkit's own are left out: its viewer knows eight (observed in hpcdata 8.4.4, where
 * IdTupleType.getSortingOrder has as many elements).  What they told apart, RANK does.
 *
 * Profiles are added in any order; in the end they are sorted by these, those of databases behind
 * by their numbers there, and number I (from 0) has index I + 1 in profile.db, where 0 is the
 * summary.  Processes are numbered in processes.c. */
#ifndef HPC_IDENTITY_H
#define HPC_IDENTITY_H

#include "base/hash.h"
#include "formats/hpc/hpc.h"
#include "model/profile.h"

/* Identifications of a profile of a recording. */
#define NO_RANK	      UINT32_MAX
#define BUILD_MAX_IDS 6
#define N_GPU_IDS     3 /* from HPC_ID_GPUDEVICE on */

/* What tells profiles apart. */
struct identity {
	uint32_t db;		 /* of a database: the input's number + 1; else 0 */
	uint32_t profile;	 /* of a database: which of its profiles, and all else is 0 */
	uint32_t host;		 /* in identities.hosts */
	uint32_t rank;		 /* its input's own, or NO_RANK */
	uint32_t core;		 /* or NO_RANK */
	uint32_t gpu[N_GPU_IDS]; /* device, context, stream: each or NO_RANK */
	uint32_t pid;		 /* 0: not kept */
	uint32_t tid;		 /* 0: not kept */
	uint32_t input;		 /* of owners without threads: the input's number + 1; else 0 */
	uint32_t owner;		 /* and the owner */
	uint64_t start_ns;	 /* of the first recording with it, of the wall
			    * clock; 0 for a database's */
	/* For a database's profile, whose pid is that of an identification PROCESS: */
	uint64_t node;	 /* NODE, physically */
	uint64_t others; /* a hash of identifications of other kinds than HPCToolkit's */
	uint64_t rank_physicalId;
};

/* The identification RANK of a profile. */
struct identity_rank {
	uint32_t logicalId; /* NO_RANK: there is one process only */
	uint32_t flags;
	uint64_t physicalId;
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
	/* when finished: */
	uint32_t *host_ids;	     /* by host: its hostid */
	uint32_t *threads;	     /* by number in order: the THREAD */
	struct identity_rank *ranks; /* by number in order */
};

void identities_release(struct identities *ids);

uint32_t identities_host(struct identities *ids, const char *name);

/* The number of KEY, added when it is not there; it changes when identities_finish sorts. */
uint32_t identities_intern(struct identities *ids, const struct identity *key);

/* A NODE of a database; ORDER says where it stands. */
void identities_add_node(struct identities *ids, uint64_t physicalId, uint32_t logicalId,
			 uint64_t order);

/* The rank that an owner's label ("rank=3", "rank 3", "job-rank3") or cgroup (".../step_0/.../
 * task_3", as Slurm makes them) says, or NO_RANK. */
uint32_t identity_rank(const char *label, const char *cgroup);

/* The core that an owner's label says it was bound to ("rank=3,core=1"), or NO_RANK. */
uint32_t identity_core(const char *label);

/* The device, context and stream of a GPU that an owner's label says ("gpucontext=1,gpustream=7"),
 * each or NO_RANK. */
void identity_gpu(const char *label, uint32_t ret[N_GPU_IDS]);

/* Sorts them.  Returns where each went, in fresh memory. */
uint32_t *identities_finish(struct identities *ids);

/* Gives each its RANK; the identities and nodes are in order. */
void identities_rank(struct identities *ids);

/* HPCToolkit's kinds of identifications: the name of one, and the one of a NAME, HPC_N_ID_KINDS for
 * any other. */
const char *identity_kind_name(unsigned kind);
uint8_t identity_kind(const char *name);

/* The logical number of the NODE that is PHYSICALID. */
uint32_t identities_node(const struct identities *ids, uint64_t physicalId);

/* The RANK of number I, which has one. */
struct hpc_id identities_rank_id(const struct identities *ids, uint32_t i);

/* How many identifications ID, which is no database's, has at most. */
size_t identity_most_ids(const struct identity *id);

/* The identifier tuple of number I (in order), which is no database's: returns how many
 * identifications it has. */
size_t identities_tuple(const struct identities *ids, uint32_t i, struct hpc_id ret[BUILD_MAX_IDS]);

#endif
