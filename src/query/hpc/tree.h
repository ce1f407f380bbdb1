/* SPDX-License-Identifier: BSD-2-Clause */
/* Trees of an HPCToolkit database's contexts, as sources of rows (tree_rows.h).
 *
 * From the root down a tree is opened row by row: what is not shown is not read, so the first rows
 * of a database cost the same however large it is.  Everything else (callers, each procedure once,
 * patterns, rows of images and files) needs all contexts and goes over them once. */
#ifndef QUERY_HPC_TREE_H
#define QUERY_HPC_TREE_H

#include "query/hpc/query.h"
#include "query/hpc/scopes.h"

struct hpc_tree_opts {
	enum tree_form form;
	struct scopes_opts scopes; /* level: SCOPE_IMAGE to SCOPE_ADDRESS */
	bool fold_recursion;	   /* a procedure that calls itself directly is one node */
};

/* A context as a row needs it. */
struct hpc_spot {
	uint64_t pChildren, szChildren;
	uint32_t ctxId;
	uint32_t function; /* it is in, or is */
};

struct hpc_tree_node {
	scope_id scope;
	size_t first; /* of its spots */
	uint32_t n;
};

struct hpc_tree {
	struct tree_source source;
	struct hpc_query *q;
	struct hpc_tree_opts opts;
	const struct hpc_tree_opts *o; /* these */
	struct hpc_scopes scopes;
	VEC(struct hpc_tree_node) nodes; /* opened row by row: those that were seen */
	VEC(struct hpc_spot) spots;
	VEC(double) amounts;	     /* by node: inclusive, then exclusive ones */
	uint64_t n_decoded;	     /* contexts */
	VEC(struct hpc_spot) parted; /* being opened */
	VEC(uint32_t) group_of;	     /* by scope; all 0 between uses */
	/* of trees of all contexts, in preorder */
	node_id *parent, *end;
	scope_id *scope;
	double *left_out[2]; /* by column: by --ignore, by --focus */
};

/* Opens the tree of Q, which must outlive it, that O wants; tree_source_close closes its source.
 * -EINVAL for a pattern that is no regular expression, -EBADMSG for a damaged file.  Opening rows
 * may find damage later. */
int hpc_tree_open(struct hpc_tree **ret, struct hpc_query *q, const struct hpc_tree_opts *o,
		  struct err *err);

/* Makes T the tree of all contexts (tree_all.c); for hpc_tree_open. */
int hpc_tree_read_all(struct hpc_tree *t, struct err *err);

#endif
