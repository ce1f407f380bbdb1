/* SPDX-License-Identifier: BSD-2-Clause */
/* What calling contexts of an HPCToolkit database are in each of its threads. */
#ifndef QUERY_HPC_THREADS_H
#define QUERY_HPC_THREADS_H

#include "query/hpc/query.h"

struct hpc_thread_row {
	uint32_t profile;
	const double *inclusive, *exclusive; /* one number per column */
};

struct hpc_threads {
	VEC(struct hpc_thread_row) rows;	   /* by profile, until sorted */
	struct hpc_moments *inclusive, *exclusive; /* by column, over the rows */
	double *amounts;
};

/* Finds what the contexts IDS, N together, are in each chosen thread that has anything of them: one
 * piece of cct.db for each context and metric. */
int hpc_threads_find(struct hpc_threads *t, struct hpc_query *q, const uint32_t *ids, size_t n,
		     struct err *err);

/* Sorts the rows by falling inclusive number of Q's sort column. */
void hpc_threads_sort(struct hpc_threads *t, const struct hpc_query *q);
void hpc_threads_release(struct hpc_threads *t);

/* Parses contexts as rows of data have them, "12+15".  -EINVAL when malformed. */
typedef VEC(uint32_t) ctx_list;
int hpc_parse_contexts(const char *text, ctx_list *ret, struct err *err);

#endif
