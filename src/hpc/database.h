/* SPDX-License-Identifier: BSD-2-Clause */
/* HPCToolkit databases as inputs of a new one.
 *
 * Their contexts become nodes of the common tree, their metrics meet others of the same names.
 * Values are taken over as they are, in all scopes: they are not added up anew, since the contexts
 * that HPCToolkit leaves out of meta.db have values too, and a floating-point sum in another order
 * is another number.  Contexts without a place in the tree keep their values and get ids behind all
 * others.  Statistics over threads are made anew. */
#ifndef HPC_DATABASE_H
#define HPC_DATABASE_H

#include "formats/hpc/trace.h"
#include "hpc/contexts.h"
#include "hpc/identity.h"
#include "hpc/metrics.h"
#include "query/hpc/db.h"
#include "hpc/write/profile.h"

/* What a metric of the database in one scope is in the new one. */
struct database_prop {
	uint32_t metric; /* HPC_NONE: the database does not describe it */
	unsigned scope;
};

struct database {
	struct hpc_db db;
	uint32_t number;     /* of the input */
	uint32_t *ctxs;	     /* by its ctxId: the node, HPC_NONE; once numbered the new ctxId */
	uint32_t n_ctxs;     /* the largest ctxId + 1 */
	uint32_t n_unlisted; /* contexts that are not in its meta.db */
	struct database_prop *props; /* by its propMetricId */
	uint16_t *prop_ids; /* the same once numbered: the new propMetricId, or DATABASE_NO_PROP */
	uint32_t n_props;
	bool is_straight; /* once numbered: its order of ctxIds and metrics is the new one's too */
	uint8_t kinds[256]; /* by its kinds: HPCToolkit's, or HPC_N_ID_KINDS */
	uint64_t n_ids;	    /* that its profiles may have in the new database */
};

#define DATABASE_NO_PROP  UINT16_MAX
#define DATABASE_LEFT_OUT (UINT16_MAX - 1) /* the metric lost this scope */

/* What a database adds to. */
struct database_target {
	struct contexts *contexts;
	struct build_metrics *metrics;
	struct identities *identities;
};

/* Opens input NUMBER, a database at PATH, and adds to T what it has; RET must be closed.  Errors as
 * hpc_db_open; -E2BIG for too many scopes or metrics. */
int database_open(struct database *ret, const char *path, uint32_t number,
		  const struct database_target *t, struct err *err);
/* Opens input NUMBER, a database at PATH, and adds nothing.  For a process that is told the common
 * numbers of its things.  Close RET; errors as hpc_db_open. */
int database_open_only(struct database *ret, const char *path, uint32_t number, struct err *err);
void database_close(struct database *d);

/* Nodes went to NUMBER (contexts_finish), metrics to METRIC (build_metrics_finish); the first
 * context without a place in the tree gets FIRST_UNLISTED. */
void database_number(struct database *d, const uint32_t *number, const uint32_t *metric,
		     uint32_t first_unlisted, const struct build_metrics *ms);

/* A thread's work space. */
struct database_reader {
	VEC(struct hpc_id) ids;
	struct ctx_entry *entries, *scratch;
	size_t n_entries;
	VEC(struct hpc_value) values;
};

void database_reader_release(struct database_reader *r);

/* The tuple of profile INDEX: R's ids. */
int database_tuple(const struct database *d, uint32_t index, struct database_reader *r,
		   struct err *err);
/* The tuple that number I of IDS, a profile of D, has in the new database. */
int database_new_tuple(const struct database *d, const struct identities *ids, uint32_t i,
		       struct database_reader *r, struct err *err);

/* Adds the values of profile INDEX to BLOCK, which is empty.  -EBADMSG for what is no number or
 * whose context or metric is unknown. */
int database_values(const struct database *d, uint32_t index, struct database_reader *r,
		    struct hpc_profile_block *block, struct err *err);

/* The line of profile INDEX in fresh memory; none when it has none. */
int database_line(const struct database *d, uint32_t index, struct hpc_trace_elem **ret,
		  size_t *ret_n, struct err *err);

#endif
