/* SPDX-License-Identifier: BSD-2-Clause */
/* Who called a procedure in an HPCToolkit database, and what it called: neighbours.h for contexts
 * that carry values rather than samples. */
#ifndef QUERY_HPC_NEIGHBOURS_H
#define QUERY_HPC_NEIGHBOURS_H

#include "query/hpc/tree.h"
#include "query/samples/neighbours.h"

struct hpc_neighbours {
	/* The scopes that call it, or that it calls, by falling amount: what of the procedure's is
	 * theirs stands in `exclusive`.  "[root]": nobody called it; "[self]":
	 * it was there itself. */
	struct tree_rows rows;
	enum neighbour_kind kind;
	const char *procedure; /* its name; lives as long as the tree */
	image_id image;	       /* SCOPE_NO_IMAGE: none, or several procedures are called so */
	size_t n_procedures;
	double *inclusive, *exclusive; /* its own, one per column; all rows add up to `inclusive` */
};

/* Looks in T, of all contexts at level SCOPE_PROCEDURE (TREE_FLAT), for the procedures called NAME,
 * with or without arguments or image, in the images IMAGES names (none: all); several are taken as
 * one, and recursion is folded as in neighbours_find.  Inlined calls are calls.  -ENOENT when there
 * is none; -EINVAL when a column is no sum over threads.  Release RET in any case. */
int hpc_neighbours_find(struct hpc_tree *t, enum neighbour_kind kind, const char *name,
			const opt_list *images, struct hpc_neighbours *ret, struct err *err);
void hpc_neighbours_release(struct hpc_neighbours *n);

#endif
