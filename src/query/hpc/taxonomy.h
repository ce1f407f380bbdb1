/* SPDX-License-Identifier: BSD-2-Clause */
/* The metrics of a taxonomy (metrics/default.yaml, or one that somebody wrote) as columns: what a
 * viewer computes from the metrics of a database by formulas.
 *
 * A formula has a form for what is inclusive and one for what is exclusive, of the same metrics in
 * other scopes.  Rows have both numbers of each metric, so one expression serves, as in `--derive`;
 * metrics whose two forms differ in more than scopes, or use others than execution, function and
 * lex_aware, cannot be columns. */
#ifndef QUERY_HPC_TAXONOMY_H
#define QUERY_HPC_TAXONOMY_H

#include "formats/hpc/metrics_yaml.h"
#include "query/hpc/query.h"

struct hpc_taxonomy {
	struct hpc_metric_tree tree;
	bool is_there;
};

/* Reads the one in FILE, or with NULL the database's own, of which there may be none. */
int hpc_taxonomy_open(struct hpc_taxonomy *t, const struct hpc_db *db, const char *file,
		      struct err *err);
void hpc_taxonomy_close(struct hpc_taxonomy *t);

/* The metric called NAME (N bytes), HPC_NONE when there is none. */
uint32_t hpc_taxonomy_find(const struct hpc_taxonomy *t, const char *name, size_t n);

/* Adds the column of metric NODE over threads by STAT, which is a variant of that name, and hidden
 * ones of what it is made of; returns its number.  -ENOENT when it has no such variant or speaks of
 * what the database has not; -ENOTSUP for formulas that cannot be a column. */
int hpc_taxonomy_add(struct hpc_query *q, const struct hpc_taxonomy *t, uint32_t node,
		     enum hpc_stat stat, struct err *err);

#endif
