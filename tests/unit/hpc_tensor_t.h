/* SPDX-License-Identifier: BSD-2-Clause */
/* A small tensor of values (profile, context, metric), kept dense, to compare files with. */
#ifndef TESTS_UNIT_HPC_TENSOR_T_H
#define TESTS_UNIT_HPC_TENSOR_T_H

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/vec.h"
#include "formats/hpc/cct.h"
#include "hpc/write/profile.h"
#include "t.h"

struct tensor {
	uint32_t n_profiles; /* with the summary, number 0 */
	uint32_t n_ctxs;
	uint16_t n_metrics;
	uint16_t metric_step; /* metricId i stands for i * metric_step */
	double *v;
};

static inline double *tensor_at(const struct tensor *t, uint32_t p, uint32_t c, uint16_t m)
{
	return &t->v[((size_t)p * t->n_ctxs + c) * t->n_metrics + m];
}

static inline void tensor_init(struct tensor *t, uint32_t n_profiles, uint32_t n_ctxs,
			       uint16_t n_metrics)
{
	*t = (struct tensor){n_profiles, n_ctxs, n_metrics, 1, NULL};
	t->v = xcalloc((size_t)n_profiles * n_ctxs * n_metrics + 1, sizeof(double));
}

/* One of some tens of shapes: nothing at all, dense, very sparse, holes in every dimension. */
static inline void tensor_random(struct tensor *t, struct t_rng *r)
{
	uint64_t fill_pct = (uint64_t[]){0, 3, 30, 90}[t_below(r, 4)];

	tensor_init(t, 1 + (uint32_t)t_below(r, 20), 1 + (uint32_t)t_below(r, 40),
		    1 + (uint16_t)t_below(r, 7));
	t->metric_step = (uint16_t)(1 + t_below(r, 2) * 999);
	for (uint32_t p = 0; p < t->n_profiles; p++) {
		if (t_below(r, 5) == 0)
			continue;
		for (uint32_t c = 0; c < t->n_ctxs; c++)
			for (uint16_t m = 0; m < t->n_metrics; m++)
				if (c % 7 != 3 && t_below(r, 100) < fill_pct)
					*tensor_at(t, p, c, m) =
						((double)t_below(r, 1000) - 300) / 4;
	}
}

static inline void tensor_release(struct tensor *t)
{
	free(t->v);
}

static inline unsigned tensor_ids(uint32_t p, struct hpc_id ids[3])
{
	ids[0] = (struct hpc_id){HPC_ID_NODE, HPC_ID_IS_PHYSICAL, p / 4, 0xabcdef0000 + p / 4};
	ids[1] = (struct hpc_id){HPC_ID_RANK, 0, p, p};
	ids[2] = (struct hpc_id){HPC_ID_THREAD, 0, p % 4, p % 4};
	return p == 0 ? 0 : p % 3 + 1;
}

struct tensor_put {
	const struct tensor *t;
	struct hpc_profile_writer *w;
	_Atomic uint32_t next;
	_Atomic int rc;
};

static inline int tensor_put_one(struct tensor_put *x, uint32_t p, struct hpc_profile_block *b)
{
	struct hpc_id ids[3];
	unsigned n = tensor_ids(p, ids);

	hpc_profile_block_reset(b);
	for (uint32_t c = 0; c < x->t->n_ctxs; c++)
		for (uint16_t m = 0; m < x->t->n_metrics; m++)
			hpc_profile_block_add(b, c, (uint16_t)(m * x->t->metric_step),
					      *tensor_at(x->t, p, c, m));
	return hpc_profile_put(x->w, p, ids, n, b, NULL);
}

static inline void *tensor_put_some(void *arg)
{
	struct tensor_put *x = arg;
	struct hpc_profile_block b = {0};

	for (;;) {
		uint32_t k = atomic_fetch_add(&x->next, 1);
		int rc;

		if (k >= x->t->n_profiles)
			break;
		rc = tensor_put_one(x, (k + 1) % x->t->n_profiles, &b);
		if (rc)
			x->rc = rc;
	}
	hpc_profile_block_release(&b);
	return NULL;
}

/* Writes NAME in DIRFD by N_THREADS (at most 8) threads. */
static inline int tensor_write_profiles(const struct tensor *t, int dirfd, const char *name,
					enum hpc_layout layout, unsigned n_threads, struct err *err)
{
	struct tensor_put x = {.t = t};
	pthread_t threads[8];
	int rc;

	rc = hpc_profile_create(&x.w, dirfd, name, layout, t->n_profiles, 3 * t->n_profiles, err);
	if (rc)
		return rc;
	for (unsigned i = 1; i < n_threads; i++)
		pthread_create(&threads[i], NULL, tensor_put_some, &x);
	tensor_put_some(&x);
	for (unsigned i = 1; i < n_threads; i++)
		pthread_join(threads[i], NULL);
	rc = hpc_profile_finish(x.w, err);
	return x.rc ? x.rc : rc;
}

/* A directory for a test's files. */
struct tensor_dir {
	char path[32];
	int fd;
};

static inline bool tensor_dir_open(struct tensor_dir *d)
{
	strcpy(d->path, "/tmp/dwell-test-XXXXXX");
	d->fd = mkdtemp(d->path) ? open(d->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	return d->fd >= 0;
}

static inline void tensor_dir_close(struct tensor_dir *d)
{
	static const char *const names[] = {"profile.db",  "cct.db",  "trace.db", "meta.db",
					    "profile2.db", "cct2.db", "trace2.db"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlinkat(d->fd, names[i], 0);
	close(d->fd);
	rmdir(d->path);
}

/* The bytes of a file, for the test to free (an allocation of exactly that size). */
static inline uint8_t *tensor_load(const struct tensor_dir *d, const char *name, size_t *ret_n)
{
	struct file_map map;
	struct err err = {0};
	uint8_t *bytes;

	if (file_map_open(&map, d->fd, name, true, &err) < 0) {
		t_fail_("%s", err.msg);
		*ret_n = 0;
		return NULL;
	}
	bytes = xmemdup(map.bytes, map.n_bytes);
	*ret_n = map.n_bytes;
	file_map_close(&map);
	return bytes;
}

#endif
