/* SPDX-License-Identifier: BSD-2-Clause */
/* Time lines of sampled threads. */
#ifndef QUERY_SAMPLES_THREADS_H
#define QUERY_SAMPLES_THREADS_H

#include "query/rows/thread_lines.h"
#include "query/samples/query.h"

/* Fills RET from the sorted traces of Q's profile: the threads whose owners Q wants, that OPTS name
 * and that were there during the range, by pid, tid and start.  Errors: -EINVAL for a malformed
 * number, -ENOENT for a thread or process that has no line, a range that ends before it begins, or
 * where none were recorded. */
int threads_find(struct query *q, const struct thread_line_opts *opts, struct thread_lines *ret,
		 struct err *err);

#endif
