/* SPDX-License-Identifier: BSD-2-Clause */
/* dwell-mpi.so: how the processes of `mpirun -n N dwell hpc` talk (src/hpc/ranks.h).  The only file
 * that knows MPI.  MPI counts in int, so what is larger goes in pieces. */
#include <errno.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hpc/ranks.h"

enum {
	TAG = 1,
	PIECE = 1 << 30,
	SHORT = 64,	       /* bytes of what others are waited for with */
	LOOKS = 100,	       /* before a wait sleeps, */
	SLEEP_NS = 10000,      /* first so long, */
	SLEEP_MAX_NS = 200000, /* then longer */
};

static unsigned rank, size;

static int ranks_mpi_result(int rc)
{
	return rc == MPI_SUCCESS ? 0 : -EIO;
}

static int ranks_mpi_start(unsigned *ret_rank, unsigned *ret_size, unsigned *ret_n_here)
{
	int level, r, n, here;
	MPI_Comm machine;

	if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS ||
	    level < MPI_THREAD_SERIALIZED)
		return -EIO;
	MPI_Comm_rank(MPI_COMM_WORLD, &r);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, r, MPI_INFO_NULL, &machine);
	MPI_Comm_size(machine, &here);
	MPI_Comm_free(&machine);
	*ret_rank = rank = (unsigned)r;
	*ret_size = size = (unsigned)n;
	*ret_n_here = (unsigned)here;
	return 0;
}

static int piece(size_t n)
{
	return n < PIECE ? (int)n : PIECE;
}

/* Waits for what another process may not have begun.  MPI itself keeps looking, and so keeps a CPU
 * from the threads that work. */
static int wait_for(MPI_Request *r)
{
	struct timespec t = {.tv_nsec = SLEEP_NS};
	int done = 0;

	for (unsigned n = 0;; n++) {
		int rc = MPI_Test(r, &done, MPI_STATUS_IGNORE);

		if (rc != MPI_SUCCESS || done)
			return rc;
		if (n < LOOKS)
			continue;
		nanosleep(&t, NULL);
		if (t.tv_nsec < SLEEP_MAX_NS)
			t.tv_nsec *= 2;
	}
}

static int receive_short(unsigned from, void *bytes, int n)
{
	MPI_Request r;
	int rc = MPI_Irecv(bytes, n, MPI_BYTE, (int)from, TAG, MPI_COMM_WORLD, &r);

	return ranks_mpi_result(rc == MPI_SUCCESS ? wait_for(&r) : rc);
}

static int send_bytes(unsigned to, const void *bytes, size_t n)
{
	const char *at = bytes;
	int rc = MPI_SUCCESS;

	for (int k; n && rc == MPI_SUCCESS; n -= (size_t)k, at += k) {
		k = piece(n);
		rc = MPI_Send(at, k, MPI_BYTE, (int)to, TAG, MPI_COMM_WORLD);
	}
	return ranks_mpi_result(rc);
}

static int receive_bytes(unsigned from, void *bytes, size_t n)
{
	char *at = bytes;
	int rc = MPI_SUCCESS;

	if (n && n <= SHORT)
		return receive_short(from, bytes, (int)n);
	for (int k; n && rc == MPI_SUCCESS; n -= (size_t)k, at += k) {
		k = piece(n);
		rc = MPI_Recv(at, k, MPI_BYTE, (int)from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	return ranks_mpi_result(rc);
}

static int broadcast(unsigned from, void *bytes, size_t n)
{
	char *at = bytes;
	int rc = MPI_SUCCESS;

	for (int k; n && rc == MPI_SUCCESS; n -= (size_t)k, at += k) {
		k = piece(n);
		rc = MPI_Bcast(at, k, MPI_BYTE, (int)from, MPI_COMM_WORLD);
	}
	return ranks_mpi_result(rc);
}

/* In step K each sends to the K-th behind it and gets from the K-th before it. */
static int exchange(void *const *out, const size_t *n_out, void *in, const size_t *n_in)
{
	for (unsigned k = 0; k < size; k++) {
		unsigned to = (rank + k) % size, from = (rank + size - k) % size;
		size_t n = n_out[to], left = n_in[from];
		const char *source = out[to];
		char *target = in;

		for (unsigned i = 0; i < from; i++)
			target += n_in[i];
		if (k == 0) {
			if (n)
				memcpy(target, source, n);
			continue;
		}
		while (n || left) {
			int some = piece(n), more = piece(left);

			if (MPI_Sendrecv(source, some, MPI_BYTE, n ? (int)to : MPI_PROC_NULL, TAG,
					 target, more, MPI_BYTE, left ? (int)from : MPI_PROC_NULL,
					 TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS)
				return -EIO;
			source += some;
			target += more;
			n -= (size_t)some;
			left -= (size_t)more;
		}
	}
	return 0;
}

static int ranks_mpi_sum(uint64_t *v, size_t n)
{
	int rc = MPI_SUCCESS;
	MPI_Request r;

	if (n * sizeof(*v) <= SHORT) {
		rc = MPI_Iallreduce(MPI_IN_PLACE, v, (int)n, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD,
				    &r);
		return ranks_mpi_result(rc == MPI_SUCCESS ? wait_for(&r) : rc);
	}
	for (int k; n && rc == MPI_SUCCESS; n -= (size_t)k, v += k) {
		k = piece(n * sizeof(*v)) / (int)sizeof(*v);
		rc = MPI_Allreduce(MPI_IN_PLACE, v, k, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
	}
	return ranks_mpi_result(rc);
}

static void ranks_mpi_finish(void)
{
	MPI_Finalize();
}

static void __attribute__((noreturn)) abort_all(int status)
{
	MPI_Abort(MPI_COMM_WORLD, status);
	_Exit(status);
}

__attribute__((visibility("default"))) extern const struct ranks_ops dwell_ranks;
const struct ranks_ops dwell_ranks = {
	.start = ranks_mpi_start,
	.send = send_bytes,
	.receive = receive_bytes,
	.broadcast = broadcast,
	.exchange = exchange,
	.sum = ranks_mpi_sum,
	.finish = ranks_mpi_finish,
	.abort = abort_all,
};
