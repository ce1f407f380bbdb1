/* SPDX-License-Identifier: BSD-2-Clause */
/* Merging: one segment for several, as far as their times need not be told apart (edges.h). */
#ifndef STORE_MERGE_H
#define STORE_MERGE_H

#include "store/commit.h"

/* Writes a segment for each run of S's segments that has several, and P (NULL: nothing) as one or
 * as part of the last run; NEW names what there is then.  VOID_JOURNAL: P holds the journal.  With
 * LAST nothing will come any more: all is pruned, as far as S prunes.  After a failure nothing new
 * is left. */
int commit_merge(struct store *s, const struct profile *p, bool last, bool void_journal,
		 struct manifest *new, struct err *err);

#endif
