/* SPDX-License-Identifier: BSD-2-Clause */
/* What of a tree is shown, and in what order: from the root down, from the sampled procedures up to
 * their callers, or each procedure once. */
#ifndef QUERY_ROWS_TREE_ROWS_H
#define QUERY_ROWS_TREE_ROWS_H

#include "base/str.h"
#include "query/rows/columns.h"
#include "query/samples/tree.h"

struct source;

struct tree_child {
	node_id node;
	scope_id scope;
};
typedef VEC(struct tree_child) tree_children;

/* A part of the whole. */
struct tree_share {
	const char *key, *text; /* as data has it; what people are told, behind a percentage */
	const double *n;	/* one number per column; NULL: none */
	size_t n_told;		/* data have those of the first columns */
};

/* Where rows come from: a tree that is all there, or one that is opened row by row.
 * Embed it to add what OPEN and the others need. */
struct tree_source {
	struct columns columns;
	struct scopes *scopes; /* OPEN may add some */
	enum scope_kind level; /* of rows below owners */
	unsigned n_owner_levels;
	/* All nodes in preorder, as in struct tree; NULL for a source that is opened row by row,
	 * which is good for TREE_DOWN only. */
	const node_id *parent, *end;
	const scope_id *scope;

	/* Adds the amounts of node N to the two, one number per column; INCLUSIVE may be NULL. */
	void (*amounts)(struct tree_source *s, node_id n, double *inclusive, double *exclusive);

	/* Appends what is below N, the root being node 0, to RET; for sources opened row by row. */
	int (*open)(struct tree_source *s, node_id n, tree_children *ret, struct err *err);

	/* What an image is called and its kind (NULL: not known), and
	 * whether SC is the kernel's. */
	const char *(*image_name)(struct tree_source *s, image_id image);
	const char *(*image_kind)(struct tree_source *s, image_id image);
	bool (*is_kernel)(struct tree_source *s, const struct scope *sc);

	/* Whether node N is a row where each procedure is one; NULL: all are. */
	bool (*is_listed)(struct tree_source *s, node_id n);

	/* Appends what the contexts of N are known by, for data; NULL: they have no names. */
	void (*contexts)(struct tree_source *s, node_id n, struct str *ret);

	/* Frees S and what it is made of. */
	void (*close)(struct tree_source *s);

	struct source *source;	       /* it is of; NULL: none */
	VEC(struct tree_share) shares; /* of the whole, what is said of them above the rows */
	VEC(image_id) images;	       /* of nodes that have no names, worth a note */
};

enum tree_form {
	TREE_DOWN,    /* below each row what it called */
	TREE_CALLERS, /* below each row who called it */
	TREE_FLAT,    /* each procedure once */
};

struct tree_rows_opts {
	enum tree_form form;
	bool by_inclusive;  /* what rows are sorted and hidden by; else exclusive */
	double least_pct;   /* rows with less, in percent of all, are hidden: 0 to 100 */
	uint32_t max_depth; /* levels shown; 0: all */
	bool no_small_sums; /* below another row, hidden rows that have less together than
			     * least_pct leave no row behind */
};

#define TREE_ROW_NONE UINT32_MAX

struct tree_row {
	uint32_t parent; /* its row; TREE_ROW_NONE at the top */
	uint32_t depth;	 /* 0 at the top */
	scope_id scope;
	uint32_t n_hidden; /* not 0: stands for that many rows, which are not here */
	bool only, last;   /* of its parent's rows */
	/* One per column.  A row counts each sample once, however often its procedure is on the
	 * path. INCLUSIVE is NULL for hidden rows whose samples may be the same ones. */
	const double *inclusive, *exclusive;
	node_id node; /* TREE_DOWN: the source's; else 0 */
};

struct tree_rows {
	VEC(struct tree_row) rows; /* each parent before its rows, those by falling count */
	struct arena arena;
};

/* Fills RET with the rows of S.  Marks at the top are never hidden.  Fails as opening does;
 * release RET even then. */
int tree_rows_init(struct tree_rows *ret, struct tree_source *s, const struct tree_rows_opts *o,
		   struct err *err);
void tree_rows_release(struct tree_rows *r);

#endif
