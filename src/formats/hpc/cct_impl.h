/* SPDX-License-Identifier: BSD-2-Clause */
/* What the two halves of hpc_cct_build share: cct_gather.c reads profile.db, cct_write.c writes. */
#ifndef FORMATS_HPC_CCT_IMPL_H
#define FORMATS_HPC_CCT_IMPL_H

#include <stdatomic.h>

#include "base/vec.h"
#include "formats/hpc/cct.h"
#include "formats/hpc/out.h"

enum { CCT_PROFILE_VAL = 10, CCT_PROFILE_IDX = 12 }; /* {Val} and {Idx} of profile.db */
enum { CCT_RUN = 8 };	 /* what stands before a run's values: profile, number of values */
enum { CCT_SHARE = 64 }; /* profiles that a thread counts at a time */

struct cct_range {
	uint32_t from, to; /* ctxIds [from, to) */
	uint64_t n_bytes;  /* of all runs */
};

struct cct_build {
	const struct hpc_profile_db *db;
	struct hpc_cct_options o;
	struct hpc_out out;
	uint32_t n_ctxs;
	unsigned n_threads;
	uint64_t *n_bytes; /* of the runs of each context */
	VEC(struct cct_range) ranges;
	uint64_t all_bytes, done_bytes;
	_Atomic uint32_t next_profile, next_range;
};

struct cct_worker {
	struct cct_build *b;
	pthread_t thread;
	uint64_t *per_ctx; /* while counting: bytes of runs; later: where the next run goes */
	uint8_t *runs;	   /* of the range, context by context */
	size_t cap_runs;
	uint8_t *ci;	       /* {CI} of the range; pValues is relative until the place is known */
	VEC(uint8_t) indices;  /* {Idx} of all blocks of the range */
	VEC(uint8_t) block;    /* blocks on their way to the file */
	uint64_t *next;	       /* by metricId: number of values; where the next goes */
	VEC(uint16_t) metrics; /* those a context has */
	uint64_t n_block_bytes; /* of the range */
	int rc;
	struct err err;
};

/* A thread that counts what profiles need for each context: WORKER is a struct cct_worker. */
void *cct_count(void *worker);

/* Gathers the values of range R in W's runs; per_ctx then says where each context's end. */
int cct_gather(struct cct_worker *w, const struct cct_range *r);

#endif
