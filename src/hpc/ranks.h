/* SPDX-License-Identifier: BSD-2-Clause */
/* The processes that build one database together: `mpirun -n N dwell hpc`.
 *
 * MPI is a module of its own, dwell-mpi.so, which is loaded when the environment says that there
 * are several processes: libmpi takes its time to load, is not there on most machines, and is
 * another one on each cluster, where only this module is to be built anew. */
#ifndef HPC_RANKS_H
#define HPC_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "hpc/write/out.h"

/* What the module does; all return 0, or -EIO.  Only one is in progress at a time. */
struct ranks_ops {
	/* Which of how many processes this is, and how many of them are on this machine. */
	int (*start)(unsigned *ret_rank, unsigned *ret_size, unsigned *ret_n_here);
	int (*send)(unsigned to, const void *bytes, size_t n);
	int (*receive)(unsigned from, void *bytes, size_t n);
	int (*broadcast)(unsigned from, void *bytes, size_t n); /* to all */
	/* Sends OUT[I] of N_OUT[I] bytes to each process I, gets N_IN[I] bytes from it, one behind
	 * the other, to IN. */
	int (*exchange)(void *const *out, const size_t *n_out, void *in, const size_t *n_in);
	int (*sum)(uint64_t *v, size_t n); /* of all, to all */
	void (*finish)(void);
	void (*abort)(int status) __attribute__((noreturn)); /* ends all processes */
};

/* The module's only symbol, a struct ranks_ops. */
#define RANKS_SYMBOL "dwell_ranks"

struct ranks {
	const struct ranks_ops *ops; /* NULL: this process is alone, and all else is 0 and 1 */
	unsigned rank, size, n_here;
	struct hpc_share share;
};

/* Joins the others that the environment speaks of, if it does.  -ENOENT when there are some but no
 * module, -EIO when MPI does not start. */
int ranks_join(struct ranks *r, struct err *err);

/* Leaves them in peace; all do. */
void ranks_leave(struct ranks *r);

/* How many processes the environment says there are: OpenMPI's, MPICH's and Slurm's. */
unsigned ranks_announced(void);

/* Sends a buffer with its size, and gets one in fresh memory. */
int ranks_send(const struct ranks *r, unsigned to, const void *bytes, size_t n, struct err *err);
int ranks_receive(const struct ranks *r, unsigned from, void **ret, size_t *ret_n, struct err *err);

/* Gives all what *BYTES are in process FROM: in the others *BYTES is fresh memory. */
int ranks_broadcast(const struct ranks *r, unsigned from, void **bytes, size_t *n, struct err *err);

/* Each process's OUT[I] goes to process I; what comes is in fresh memory. */
int ranks_exchange(const struct ranks *r, void *const *out, const size_t *n_out, void **ret,
		   size_t *ret_n, struct err *err);

/* Sets V[0..N) to the sums over all. */
int ranks_sum(const struct ranks *r, uint64_t *v, size_t n, struct err *err);

#endif
