/* SPDX-License-Identifier: BSD-2-Clause */
/* The time lines of threads on their way to trace.db. */
#ifndef HPC_TIMELINES_H
#define HPC_TIMELINES_H

#include "formats/hpc/trace.h"
#include "hpc/identity.h"
#include "hpc/propagate.h"
#include "query/samples/query.h"

/* A thread at a time in a node of the contexts; HPC_NONE: it did not run, or had ended.  Once
 * numbered the node is a ctxId, and HPC_ROOT_CTX means that. */
struct timeline_point {
	uint64_t time_ns;
	uint32_t node;
};

struct timeline {
	uint32_t identity; /* in the identities; once numbered the profile, from 0 */
	VEC(struct timeline_point) points;
};

struct timelines {
	VEC(struct timeline) v;
	VEC(uint32_t) of; /* by identity: its line + 1, 0 none */
};

void timelines_release(struct timelines *t);

/* Takes over the lines of Q's profile, as far as they are wanted.  NODES says by context where its
 * samples are, IDENTITY by trace whose line it is (HPC_NONE: nobody's). */
void timelines_add(struct timelines *t, const struct query *q, const uint32_t *nodes,
		   const uint32_t *identity);

/* NUMBER is where each node went (contexts_finish), PROFILE where each identity did. */
void timelines_number(struct timelines *t, const uint32_t *number, const uint32_t *profile);

/* Adds points to the line of IDENTITY. */
void timelines_add_points(struct timelines *t, uint32_t identity,
			  const struct timeline_point *points, size_t n);

/* How timelines_save goes about it. */
struct timelines_target {
	int dirfd;
	enum hpc_layout layout;
	uint32_t n_profiles;
	const struct ctx_tree *in; /* a thread in an instruction is in what is around it; or NULL */
	/* The line of profile I (from 0) when it is not one of these, in fresh memory. */
	int (*other)(void *user, uint32_t i, struct hpc_trace_elem **ret, size_t *ret_n,
		     struct err *err);
	void *user;
};

/* Writes trace.db out of numbered lines: a line for each profile, those without points empty.  What
 * is at one time is there once; two zeros never follow each other. */
int timelines_save(struct timelines *t, const struct timelines_target *to, struct err *err);

#endif
