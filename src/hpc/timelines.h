/* SPDX-License-Identifier: BSD-2-Clause */
/* The time lines of threads on their way to trace.db. */
#ifndef HPC_TIMELINES_H
#define HPC_TIMELINES_H

#include "formats/hpc/trace.h"
#include "hpc/identity.h"
#include "query/query.h"

/* A thread at a time in a node of the contexts; HPC_NONE: it had ended. */
struct timeline_point {
	uint64_t time_ns;
	uint32_t node;
};

struct timeline {
	uint32_t identity; /* in the identities */
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

/* Writes trace.db in DIRFD: a line for each profile, those without points empty.  NUMBER is where
 * each node went (contexts_finish), PROFILE where each identity did, of which there are
 * N_PROFILES.  What is at one time is there once; two zeros never follow each other. */
int timelines_save(struct timelines *t, int dirfd, enum hpc_layout layout, const uint32_t *number,
		   const uint32_t *profile, uint32_t n_profiles, struct err *err);

#endif
