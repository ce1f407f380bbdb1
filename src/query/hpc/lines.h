/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace lines of an HPCToolkit database.  Where a part of the time begins is found by binary
 * search; what lies outside is not read. */
#ifndef QUERY_HPC_LINES_H
#define QUERY_HPC_LINES_H

#include "query/hpc/query.h"
#include "query/rows/thread_lines.h"

/* Fills RET with the lines of Q's threads that have points, as the file has them.  Errors: -ENOENT
 * when the database has no traces or a range ends before it begins, -EINVAL for pids and tids,
 * -EBADMSG for a damaged file. */
int hpc_lines_find(struct thread_lines *ret, const struct hpc_query *q,
		   const struct thread_line_opts *o, struct err *err);

#endif
