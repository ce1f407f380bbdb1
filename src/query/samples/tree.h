/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples as a calling context tree of scopes.
 *
 * The contexts of a profile are places; a tree's nodes are what people ask for: procedures, images,
 * lines or addresses, below whatever keys of owners are wanted first.  Contexts that differ in
 * nothing that is asked for are one node. */
#ifndef QUERY_SAMPLES_TREE_H
#define QUERY_SAMPLES_TREE_H

#include "query/samples/scopes.h"

typedef uint32_t node_id;

/* Nodes stand in preorder: those below node I are (I, end[I]), the children of I are I + 1, its
 * end, that one's end, and so on.  Node 0 is the root.  Columns are the query's; inclusive is what
 * HPCToolkit calls the scope "execution", exclusive is "function", or "point" in trees of lines and
 * addresses. */
struct tree {
	struct query *q;
	struct scopes scopes;
	enum scope_kind level;	 /* of the rows below owners */
	unsigned n_owner_levels; /* that many levels below the root are owners */
	node_id n;
	node_id *parent, *end;
	scope_id *scope;
	uint64_t *exclusive, *inclusive;   /* n_cols for each node */
	uint64_t *n_guessed, *n_truncated; /* by column: samples with guessed frames, with marks */
	uint64_t *n_ignored, *n_not_focus; /* by column: left out by the patterns */
};

struct tree_opts {
	struct scopes_opts scopes;
	enum owner_key owners[N_OWNER_KEYS]; /* the levels at the top */
	unsigned n_owners;
	bool unknown_owners;	 /* samples that say nothing of an owner are not refused */
	bool fold_recursion;	 /* a procedure that calls itself directly is one node */
	const image_ids *images; /* only samples taken in these; NULL: all */
};

/* Parses the value of --by: keys of owners and at most one of procedure, image, line, address, with
 * commas between, into OWNERS, N_OWNERS and SCOPES.LEVEL of RET.  The names perf has for them (sym,
 * dso, srcline) are understood. */
int tree_parse_by(const char *text, struct tree_opts *ret, struct err *err);

/* Makes the tree of Q's samples.  Q must outlive it.  Whether owners can be told apart at all is
 * for the caller to check (owner_key_check).  -EINVAL for a pattern that is no
 * regular expression. */
int tree_init(struct tree *t, struct query *q, const struct tree_opts *o, struct err *err);
void tree_release(struct tree *t);

static inline const struct scope *tree_scope(const struct tree *t, node_id n)
{
	return &t->scopes.scopes.v[t->scope[n]];
}

/* Counts of a node, one per column. */
static inline const uint64_t *tree_inclusive(const struct tree *t, node_id n)
{
	return t->inclusive + (size_t)n * t->q->n_cols;
}

static inline const uint64_t *tree_exclusive(const struct tree *t, node_id n)
{
	return t->exclusive + (size_t)n * t->q->n_cols;
}

#endif
