/* SPDX-License-Identifier: BSD-2-Clause */
/* Hands records from the thread that reads, decompresses and orders them to another, which decodes
 * and counts them, in the same order.  Without such a thread everything would be the same. */
#ifndef PORT_PERF_PIPE_H
#define PORT_PERF_PIPE_H

#include "port/perf_queue.h"

struct perf_pipe;

/* Starts the thread, which calls PUT for each record, and EXPECT for most of them some records
 * before; NULL when there is no CPU for it.  Q, whose chunks the records lie in, is the reader's
 * alone. */
struct perf_pipe *perf_pipe_new(struct perf_queue *q,
				int (*put)(void *ctx, const uint8_t *p, uint64_t off,
					   struct err *err),
				void (*expect)(void *ctx, const uint8_t *p), void *ctx);

/* Waits for what is under way and ends the thread; P may be NULL. */
void perf_pipe_free(struct perf_pipe *p);

/* Hands over the record at BYTES, which lies in a chunk of Q.  An error is that of an earlier
 * record; nothing behind such a one is put. */
int perf_pipe_add(struct perf_pipe *p, const uint8_t *bytes, uint64_t off, struct err *err);

/* Waits until all was put: until the next call of perf_pipe_add nothing is.  Errors as above. */
int perf_pipe_wait(struct perf_pipe *p, struct err *err);

#endif
