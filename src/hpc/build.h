/* SPDX-License-Identifier: BSD-2-Clause */
/* Building an HPCToolkit database out of profiles and other such databases.
 *
 *     build_init(&b, &opts);
 *     for each input:
 *             build_begin(&b, &p);
 *             input_open_into(&in, &select, &b.sink, &err);     or values are in P anyway
 *             build_add(&b, in.resolver, in.path, &select, &err);
 *     or      build_add_database(&b, path, &err);
 *     build_save(&b, &err);
 *     build_release(&b);
 *
 * Inputs are added one after the other and not needed afterwards: their contexts become nodes of
 * one tree, their values records, their events metrics, their threads profiles.  Saving propagates
 * one profile after the other in as many threads as asked for.  Databases stay open and give their
 * values then.  Memory is that of the distinct
 * contexts, a few words for each profile, and a fixed buffer for each thread; the files do not
 * depend on the number of threads. */
#ifndef HPC_BUILD_H
#define HPC_BUILD_H

#include "hpc/contexts.h"
#include "hpc/database.h"
#include "hpc/directory.h"
#include "hpc/identity.h"
#include "hpc/metrics.h"
#include "hpc/ranks.h"
#include "hpc/records.h"
#include "hpc/timelines.h"
#include "query/samples/query.h"

struct build_opts {
	const struct new_dir *dir; /* where the files go */
	enum hpc_layout layout;
	const char *title; /* NULL: the command that was recorded, else the first input's name */
	bool no_sources;
	const char *const *rules; /* where source files lie (base/path_rules.h); borrowed */
	size_t n_rules;
	bool no_traces;
	unsigned variants;   /* of hpc_metrics_yaml_variant: shown beside sums */
	bool instructions;   /* meta.db lists them; in the page layout it always does */
	unsigned n_threads;  /* 0: 1 */
	size_t buffer_bytes; /* of records; 0: what records.h says */
	/* Told what is being done and how far it is, by one thread at a time; a negative value ends
	 * the build, which returns it.  NULL: not called. */
	int (*progress)(void *user, const char *what, uint64_t done, uint64_t all);
	void *user;
	/* The processes that build it together, NULL: one.  Each adds what is its own of all
	 * inputs, which all have in the same order, and all save. */
	struct ranks *ranks;
};

/* One input, as far as it is still needed. */
struct build_input {
	uint32_t *nodes; /* by context of its profile: the node, HPC_NONE; a ctxId once numbered */
	size_t n_nodes;
	struct build_event *events; /* by event */
	size_t n_events;
};

/* What came through the sink, of the input that is being added. */
struct build_incoming {
	struct profile *profile; /* NULL: none is being added */
	uint32_t first_group;	 /* of the input's owners */
	VEC(bool) used;		 /* by context: has samples */
	VEC(bool) own;		 /* by context: has samples that are taken */
	VEC(bool) owners;	 /* by owner: has samples */
	VEC(uint64_t) n_samples; /* by event */
	unsigned part, n_parts;	 /* only owners of this part are taken, of so many */
	int rc;			 /* the first failure */
	struct err err;
};

/* What an input says of itself. */
struct build_text {
	uint32_t number; /* of the input */
	char *title, *text;
};

/* What a database has to give, beside what is in tables. */
struct build_extent {
	uint32_t number; /* of the input */
	uint32_t n_unlisted;
	uint64_t n_ids;
};

struct build {
	struct build_opts opts;
	struct contexts contexts;
	struct build_metrics metrics;
	struct identities identities;
	VEC(uint32_t) identity_of; /* by group of records, which is an owner of an input */
	struct records records;
	struct timelines timelines;
	VEC(struct build_input) inputs; /* those that are no databases */
	VEC(struct database *) databases;
	VEC(struct build_text) texts;
	VEC(struct build_extent) extents;
	uint32_t n_inputs; /* of both kinds */
	bool has_traces;
	struct value_sink sink; /* of the input that is being added */
	struct build_incoming incoming;
	/* when saved: */
	uint32_t n_copied;
	uint64_t n_values; /* in profile.db, without the summary */
};

void build_init(struct build *b, const struct build_opts *opts);
void build_release(struct build *b);

/* Begins to add an input whose profile is P: values may be put to B's sink from now on, which are
 * all wanted.  Those of idle tasks are left in P, whose symbols say which of them count. */
void build_begin(struct build *b, struct profile *p);

/* Takes only part number PART of N_PARTS of the input that is being added.  Other processes take
 * the rest. */
void build_take_part(struct build *b, unsigned part, unsigned n_parts);

/* The next input is another process's.  A database (PATH, else NULL) is opened nevertheless. */
int build_skip(struct build *b, const char *database, struct err *err);

/* Whether meta.db lists the contexts of instructions. */
bool build_lists_instructions(const struct build *b);

/* Which process adds the contexts of database number INPUT; with fewer inputs than processes, a
 * recording is shared by this one and others. */
unsigned build_owner(const struct build *b, uint32_t input);

/* R, of a thread that is number PROFILE, with everything under its final number. */
struct hpc_record build_numbered(const struct build *b, const struct hpc_record *r,
				 uint32_t profile);

void build_texts_release(struct build *b);

/* Adds the rest, of P's values what SELECT wants; R names its places, PATH is what it was opened
 * from.  P's values may repeat a key.  -ENOENT for what SELECT names and P has not; -E2BIG; errors
 * of a temporary file. */
int build_add(struct build *b, struct resolver *r, const char *path, const struct select *select,
	      struct err *err);

/* Adds the database in directory PATH, whole.  Errors of database_open. */
int build_add_database(struct build *b, const char *path, struct err *err);

/* Writes the files.  -ENODATA when there are no samples. */
int build_save(struct build *b, struct err *err);

#endif
