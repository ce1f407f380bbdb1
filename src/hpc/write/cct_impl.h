/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of hpc_cct_build share: cct_gather.c reads profile.db, cct_parts.c has its values
 * in a file between, cct.c writes. */
#ifndef HPC_WRITE_CCT_IMPL_H
#define HPC_WRITE_CCT_IMPL_H

#include <stdatomic.h>

#include "base/vec.h"
#include "hpc/write/cct.h"
#include "hpc/write/out.h"

enum { CCT_PROFILE_VAL = 10, CCT_PROFILE_IDX = 12 }; /* {Val} and {Idx} of profile.db */
enum { CCT_RUN = 8 };	 /* what stands before a run's values: profile, number of values */
enum { CCT_SHARE = 64 }; /* profiles that a thread counts at a time */

struct cct_range {
	uint32_t from, to; /* ctxIds [from, to) */
	uint64_t n_bytes;  /* of all runs */
};

/* Values of some contexts that one thread has met, on their way to the file between. */
struct cct_chunk {
	uint64_t at;
	uint32_t n;
};

struct cct_part {
	uint8_t *bytes; /* of the next chunk, */
	uint32_t n;	/* so many by now */
	VEC(struct cct_chunk) chunks;
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
	uint64_t range_bytes;	    /* of the runs of a range */
	struct cct_worker *workers; /* n_threads */
	unsigned n_parts;	    /* 0: there is no file between */
	unsigned part_shift;	    /* number of a context's part: its ctxId >> part_shift */
	int parts_fd;
	_Atomic uint64_t parts_end;
	_Atomic uint32_t next_profile, next_range;
};

struct cct_worker {
	struct cct_build *b;
	pthread_t thread;
	struct cct_part *parts;
	uint32_t *
		reached; /* by profile: how many of its contexts its ranges have seen; NULL: none */
	uint32_t n_expected;	   /* contexts of the range in a profile */
	uint8_t *entries, *values; /* what is read of a profile */
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

/* Copies N values; nearly always some few. */
static inline void cct_copy_values(uint8_t *to, const uint8_t *from, uint64_t n)
{
	if (n > 16) {
		memcpy(to, from, CCT_PROFILE_VAL * n);
		return;
	}
	for (; n; n--, to += CCT_PROFILE_VAL, from += CCT_PROFILE_VAL)
		memcpy(to, from, CCT_PROFILE_VAL);
}

/* The file is not what it was when its contexts were counted. */
int cct_changed(struct cct_worker *w);

/* Puts the N (> 0) values that a profile has in context CTXID to its place among the runs of range
 * R. */
static inline int cct_put_run(struct cct_worker *w, const struct cct_range *r, uint32_t profile,
			      uint32_t ctxId, const uint8_t *values, uint64_t n)
{
	uint64_t *at = &w->per_ctx[ctxId], size = CCT_RUN + CCT_PROFILE_VAL * n;
	uint8_t *run = w->runs + *at;

	if (ctxId < r->from || *at > r->n_bytes || size > r->n_bytes - *at)
		return cct_changed(w);
	hpc_put32(run, profile);
	hpc_put32(run + 4, (uint32_t)n);
	cct_copy_values(run + CCT_RUN, values, n);
	*at += size;
	return 0;
}

/* What W needs besides B. */
void cct_worker_init(struct cct_worker *w, struct cct_build *b);
void cct_worker_release(struct cct_worker *w);

/* A thread that counts what profiles need for each context: WORKER is a struct cct_worker. */
void *cct_count(void *worker);

/* Gathers the values of range R in W's runs; per_ctx then says where each context's end. */
int cct_gather(struct cct_worker *w, const struct cct_range *r);

/* Makes values go through a temporary file in directory DIRFD: N_BYTES of runs in ranges of
 * RANGE_BYTES. */
int cct_parts_open(struct cct_build *b, int dirfd, uint64_t n_bytes, uint64_t range_bytes,
		   struct err *err);
void cct_parts_close(struct cct_build *b, struct cct_worker *workers);

/* Adds the N values of a profile's context; a thread's profiles come in order.  When it is done it
 * flushes. */
int cct_parts_add(struct cct_worker *w, uint32_t profile, uint32_t ctxId, const uint8_t *values,
		  uint32_t n);
int cct_parts_flush(struct cct_worker *w);

/* Copies what is in range R to the contexts' places. */
int cct_parts_gather(struct cct_worker *w, const struct cct_range *r);

#endif
