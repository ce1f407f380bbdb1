/* SPDX-License-Identifier: BSD-2-Clause */
/* See pruned.h.  Profiles without the mark, nearly all, cost a look at their images. */
#include "query/samples/pruned.h"

#include <stdlib.h>

#include "model/prune.h"

void query_count_pruned(struct query *q)
{
	const struct profile *p = q->profile;
	bool *marked = prune_marked(p);
	uint64_t *sums;

	if (!marked)
		return;
	sums = xcalloc(q->n_cols + 1, sizeof(*sums));
	vec_each (v, &p->values)
		if (marked[v->ctx])
			query_add_value(q, v, sums);
	for (unsigned c = 0; c < q->n_cols; c++)
		q->cols[c].n_pruned = sums[c];
	free(sums);
	free(marked);
}
