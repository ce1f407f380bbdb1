/* SPDX-License-Identifier: BSD-2-Clause */
/* A tree of samples as a source of rows. */
#ifndef QUERY_SAMPLES_TREE_SOURCE_H
#define QUERY_SAMPLES_TREE_SOURCE_H

#include "query/rows/tree_rows.h"
#include "query/samples/tree.h"

/* Makes the tree of Q's samples that O wants and a source of its rows in *RET, to be closed with
 * tree_source_close.  COLUMNS are borrowed and begin with those of Q.  Errors: those of tree_init,
 * and of owner_key_check for O's owners. */
int tree_source_open(struct tree_source **ret, struct query *q, const struct columns *columns,
		     const struct tree_opts *o, struct err *err);

/* The tree of S, which tree_source_open made. */
struct tree *tree_source_tree(struct tree_source *s);

#endif
