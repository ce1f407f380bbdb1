/* SPDX-License-Identifier: BSD-2-Clause */
/* A tree as folded stacks, the lines that flamegraph.pl, speedscope and others read. */
#ifndef VIEW_FOLDED_H
#define VIEW_FOLDED_H

#include "base/str.h"
#include "query/source.h"

/* Appends a line for each path of T (query/rows/path_texts.h): its text, a blank and SCALE times
 * its amount as a whole number.  *RET_SUM is the sum of the numbers.  Errors: those of opening T's
 * rows. */
int folded_write(struct str *out, struct tree_source *t, double scale, uint64_t *ret_sum,
		 struct err *err);

#endif
