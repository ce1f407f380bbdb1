/* SPDX-License-Identifier: BSD-2-Clause */
/* Building an HPCToolkit database out of profiles.
 *
 *     build_init(&b, &opts);
 *     build_add(&b, &input.profile, input.resolver, input.path, &select, &err);  for each input
 *     build_save(&b, &err);
 *     build_release(&b);
 *
 * Inputs are added one after the other and not needed afterwards: their contexts become nodes of
 * one tree, their values records, their events metrics, their threads profiles.  Saving propagates
 * one profile after the other in as many threads as asked for.  Memory is that of the distinct
 * contexts, a few words for each profile, and a fixed buffer for each thread; the files do not
 * depend on the number of threads. */
#ifndef HPC_BUILD_H
#define HPC_BUILD_H

#include "hpc/contexts.h"
#include "hpc/directory.h"
#include "hpc/identity.h"
#include "hpc/metrics.h"
#include "hpc/records.h"
#include "hpc/timelines.h"
#include "query/query.h"

struct build_opts {
	const struct new_dir *dir; /* where the files go */
	enum hpc_layout layout;
	const char *title; /* NULL: the command that was recorded, else the first input's name */
	bool no_sources;
	unsigned n_threads;  /* 0: 1 */
	size_t buffer_bytes; /* of records; 0: what records.h says */
	/* Told what is being done and how far it is, by one thread at a time; a negative value ends
	 * the build, which returns it.  NULL: not called. */
	int (*progress)(void *user, const char *what, uint64_t done, uint64_t all);
	void *user;
};

/* One input, as far as it is still needed. */
struct build_input {
	uint32_t *nodes; /* by context of its profile: the node, HPC_NONE; a ctxId once numbered */
	size_t n_nodes;
};

struct build {
	struct build_opts opts;
	struct contexts contexts;
	struct build_metrics metrics;
	struct identities identities;
	VEC(uint32_t) identity_of; /* by group of records */
	struct records records;
	struct timelines timelines;
	VEC(struct build_input) inputs;
	struct str description;
	char *title;
	bool has_traces;
	/* when saved: */
	uint32_t n_copied;
	uint64_t n_values; /* in profile.db, without the summary */
};

void build_init(struct build *b, const struct build_opts *opts);
void build_release(struct build *b);

/* Adds what SELECT wants of P; R names its places, PATH is what it was opened from.  P's values may
 * repeat a key.  -ENOENT for what SELECT names and P has not; -E2BIG; errors of a temporary
 * file. */
int build_add(struct build *b, const struct profile *p, struct resolver *r, const char *path,
	      const struct select *select, struct err *err);

/* Writes the files.  -ENODATA when there are no samples. */
int build_save(struct build *b, struct err *err);

#endif
