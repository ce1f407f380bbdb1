/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes on their way to a file descriptor: a writer appends to TEXT and calls out_stream_settle now
 * and then, so that a file of any size needs memory for a part of it only.
 *
 * Example: 3,000,000 lines of 80 bytes reach the descriptor in 230 writes of 1 MiB. */
#ifndef BASE_OUT_STREAM_H
#define BASE_OUT_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct out_stream {
	struct str text;  /* append here */
	int fd;		  /* -1: nothing is written, all stays in TEXT */
	uint64_t n_bytes; /* written to FD so far */
	int rc;		  /* of the first write that failed, a negative errno */
};

/* Writes TEXT to FD when it has grown to 1 MiB. */
void out_stream_settle(struct out_stream *o);

/* Writes what is left.  Returns 0, or the first negative errno of any write. */
int out_stream_finish(struct out_stream *o, struct err *err);

/* All bytes there are: those written and those in TEXT. */
uint64_t out_stream_size(const struct out_stream *o);

void out_stream_release(struct out_stream *o);

#endif
