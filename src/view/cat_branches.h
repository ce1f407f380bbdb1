/* SPDX-License-Identifier: BSD-2-Clause */
/* Branches of sampled branch stacks as a table: from, to, how often, how often mispredicted. */
#ifndef VIEW_CAT_BRANCHES_H
#define VIEW_CAT_BRANCHES_H

#include "query/samples/query.h"
#include "query/select.h"
#include "view/emit.h"

/* Emits a row for each event, branch and target of the owners that Q wants, the most frequent
 * first; with IMAGES only branches in or to these.  Returns the number of rows. */
size_t cat_branches_emit(struct emit *e, struct query *q, const image_ids *images);

#endif
