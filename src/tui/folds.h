/* SPDX-License-Identifier: BSD-2-Clause */
/* Which rows of a tree are open.
 *
 * A row is known by its path: names from the top down, hashed.  So it stays as it is when the next
 * second's tree has other rows around it.  Rows that nobody opened or closed are open while they
 * have at least FOLDS_OPEN_PCT of the whole. */
#ifndef TUI_FOLDS_H
#define TUI_FOLDS_H

#include "base/hash.h"
#include "base/vec.h"
#include "query/rows/tree_rows.h"

#define FOLDS_OPEN_PCT 10.0

struct fold_state {
	uint64_t id;
	bool open;
};

struct folds {
	VEC(struct fold_state) states; /* of rows that somebody opened or closed */
	struct index index;
	bool all_open, all_closed; /* but for those */
};

void folds_release(struct folds *f);

/* Forgets single rows; all are open, or closed, from now on. */
void folds_set_all(struct folds *f, bool open);
void folds_set(struct folds *f, uint64_t id, bool open);
bool folds_is_open(const struct folds *f, uint64_t id, double pct);

/* The rows of a tree that are shown: all above them are open. */
struct shown_rows {
	struct tree_rows rows; /* numbers borrowed from the tree's rows */
	VEC(uint64_t) ids;     /* by row */
	VEC(bool) folded;      /* by row: it has rows below it, which are not shown */
	VEC(bool) can_fold;    /* by row: it has rows below it */
};

/* Fills RET from ALL, rows of T by falling count; release RET before ALL. */
void shown_rows_find(struct shown_rows *ret, const struct folds *f, const struct tree_rows *all,
		     struct tree_source *t);
void shown_rows_release(struct shown_rows *s);

#endif
