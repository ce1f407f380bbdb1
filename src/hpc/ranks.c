/* SPDX-License-Identifier: BSD-2-Clause */
/* See ranks.h. */
#include "hpc/ranks.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "build_config.h"

#define MODULE "dwell-mpi.so"

static unsigned number_in(const char *name)
{
	const char *text = getenv(name);
	uint64_t n;

	return text && str_parse_u64(text, 10, &n) >= 0 && n < INT32_MAX ? (unsigned)n : 0;
}

unsigned ranks_announced(void)
{
	/* mpirun(1) of OpenMPI; the process managers' protocol of MPICH and Intel MPI; srun(1). */
	static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
					    "SLURM_STEP_NUM_TASKS"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (number_in(names[i]))
			return number_in(names[i]);
	return 1;
}

/* The module beside the program, as it is built, else where it is installed. */
static void *ranks_load(struct err *err)
{
	char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	_mem_ char *beside = NULL;
	void *module = NULL;

	if (n > 0) {
		exe[n] = '\0';
		beside = xasprintf("%.*s%s", (int)(str_basename(exe) - exe), exe, MODULE);
		module = access(beside, R_OK) == 0 ? dlopen(beside, RTLD_NOW | RTLD_GLOBAL) : NULL;
	}
	if (!module)
		module = dlopen(DWELL_LIBDIR "/" MODULE, RTLD_NOW | RTLD_GLOBAL);
	if (!module)
		err_set(err, -ENOENT,
			"there are %u processes, but dwell was built without MPI (%s): %s",
			ranks_announced(), MODULE, dlerror());
	return module;
}

static int send_turn(void *user, unsigned to, uint64_t turn, const uint64_t place[2])
{
	const struct ranks *r = user;
	const uint64_t token[3] = {turn, place[0], place[1]};

	return r->ops->send(to, token, sizeof(token));
}

static int receive_turn(void *user, unsigned from, uint64_t turn, uint64_t place[2])
{
	const struct ranks *r = user;
	uint64_t token[3];
	int rc = r->ops->receive(from, token, sizeof(token));

	if (rc >= 0 && token[0] != turn)
		rc = -EIO;
	place[0] = token[1];
	place[1] = token[2];
	return rc;
}

static int hpc_ranks_sum(void *user, uint64_t *v, size_t n)
{
	return ((const struct ranks *)user)->ops->sum(v, n);
}

int ranks_join(struct ranks *r, struct err *err)
{
	void *module;

	*r = (struct ranks){.size = 1, .n_here = 1};
	if (ranks_announced() < 2)
		return 0;
	module = ranks_load(err);
	if (!module)
		return -ENOENT;
	r->ops = dlsym(module, RANKS_SYMBOL);
	if (!r->ops || r->ops->start(&r->rank, &r->size, &r->n_here)) {
		r->ops = NULL;
		return err_set(err, -EIO, "MPI does not start");
	}
	/* Each would build all of it, in one place. */
	if (r->size != ranks_announced())
		return err_set(err, -EIO, "there are %u processes, but MPI knows of %u of them",
			       ranks_announced(), r->size);
	r->share = (struct hpc_share){r->rank, r->size, send_turn, receive_turn, hpc_ranks_sum, r};
	return 0;
}

void ranks_leave(struct ranks *r)
{
	if (r->ops)
		r->ops->finish();
	r->ops = NULL;
}

static int failed(int rc, struct err *err)
{
	return rc < 0 ? err_set(err, rc, "another process cannot be reached") : 0;
}

int ranks_send(const struct ranks *r, unsigned to, const void *bytes, size_t n, struct err *err)
{
	const uint64_t size = n;
	int rc = r->ops->send(to, &size, sizeof(size));

	return failed(rc < 0 ? rc : r->ops->send(to, bytes, n), err);
}

int ranks_receive(const struct ranks *r, unsigned from, void **ret, size_t *ret_n, struct err *err)
{
	uint64_t n = 0;
	void *bytes;
	int rc = r->ops->receive(from, &n, sizeof(n));

	if (rc < 0)
		return failed(rc, err);
	bytes = xmalloc(n + 1);
	rc = r->ops->receive(from, bytes, n);
	if (rc < 0) {
		free(bytes);
		return failed(rc, err);
	}
	*ret = bytes;
	*ret_n = n;
	return 0;
}

int ranks_broadcast(const struct ranks *r, unsigned from, void **bytes, size_t *n, struct err *err)
{
	uint64_t size = *n;
	int rc = r->ops->broadcast(from, &size, sizeof(size));

	if (rc >= 0 && r->rank != from) {
		*bytes = xmalloc(size + 1);
		*n = size;
	}
	return failed(rc < 0 ? rc : r->ops->broadcast(from, *bytes, size), err);
}

int ranks_exchange(const struct ranks *r, void *const *out, const size_t *n_out, void **ret,
		   size_t *ret_n, struct err *err)
{
	const size_t each = sizeof(size_t);
	_mem_ size_t *n_in = xcalloc(r->size, each), *sizes = xcalloc(r->size, each);
	_mem_ void **announce = xcalloc(r->size, sizeof(*announce));
	size_t n = 0;
	void *in;
	int rc;

	for (unsigned i = 0; i < r->size; i++) {
		announce[i] = (void *)&n_out[i];
		sizes[i] = each;
	}
	rc = r->ops->exchange(announce, sizes, n_in, sizes);
	if (rc < 0)
		return failed(rc, err);
	for (unsigned i = 0; i < r->size; i++)
		n += n_in[i];
	in = xmalloc(n + 1);
	rc = r->ops->exchange(out, n_out, in, n_in);
	if (rc < 0) {
		free(in);
		return failed(rc, err);
	}
	*ret = in;
	*ret_n = n;
	return 0;
}

int ranks_sum(const struct ranks *r, uint64_t *v, size_t n, struct err *err)
{
	return failed(r->ops->sum(v, n), err);
}
