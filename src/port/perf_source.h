/* SPDX-License-Identifier: BSD-2-Clause */
/* One file of records, read from front to back a chunk at a time: descriptions are taken, what is
 * compressed is decompressed, and the kernel's records are put in the queue. */
#ifndef PORT_PERF_SOURCE_H
#define PORT_PERF_SOURCE_H

#include "port/perf_pipe.h"
#include "port/perf_queue.h"
#include "port/perf_stream.h"

/* Records in a row of chunks; see perf_source.c. */
struct perf_lane {
	struct perf_chunk *chunk;
	size_t from, to; /* what was not read yet */
	uint64_t off;	 /* in the file, of what is at `from` */
};

/* What all files of a recording share. */
struct perf_reading {
	struct perfdata *pd;
	struct perf_handler *h;
	struct perf_stream_stats *stats;
	struct perf_queue queue;
	bool ordered;		/* records tell their time */
	struct perf_pipe *pipe; /* to whom records go once there are many; NULL: they stay here */
	uint64_t n_delivered;
	bool refused; /* the handler did not take a record; its error tells which */
};

struct perf_source {
	struct perf_reading *reading;
	int fd; /* borrowed; the next byte is the first record's */
	struct perf_lane file, inflated;
	struct perfdata_inflate *inflate;
	uint64_t left;	 /* bytes that are still to be read; UINT64_MAX: to the end */
	uint64_t newest; /* time of the latest record so far */
	bool ended;
	struct { /* bytes in the file that follow a record */
		uint64_t n, done;
		struct perfdata_record record;
	} payload;
	VEC(uint8_t) tracing; /* the payload of TRACING_DATA, as far as it came */
};

/* The queue's put: hands the record at P to the handler. */
int perf_reading_deliver(void *reading, const uint8_t *p, uint64_t off, struct err *err);

/* Records begin at OFF of the file and have N bytes, or with UINT64_MAX go to its end. */
void perf_source_init(struct perf_source *s, struct perf_reading *r, int fd, uint64_t off,
		      uint64_t n);
void perf_source_release(struct perf_source *s);

/* Reads on, at most a chunk, and sets S->ended at the end.  -ENODATA: it ends too early. */
int perf_source_step(struct perf_source *s, struct err *err);

#endif
