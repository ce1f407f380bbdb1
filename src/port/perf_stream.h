/* SPDX-License-Identifier: BSD-2-Clause */
/* The records of a perf.data file, decompressed and in order of time.
 *
 * The file is read once from front to back, as a pipe can be; only descriptions at the end of a
 * seekable file are fetched first.  perf writes what it found in each CPU's buffer one after
 * another and marks the end of each round: everything before the mark is older than anything
 * behind the next one.  So records wait for two marks and then go out sorted; what waits is
 * bounded by what perf's buffers hold, and where no mark comes by PERF_STREAM_MOST_BYTES. */
#ifndef PORT_PERF_STREAM_H
#define PORT_PERF_STREAM_H

#include "formats/perfdata.h"

#define PERF_STREAM_MOST_BYTES (512ull << 20)

struct perf_handler {
	/* A record of the kernel, its bytes at P: in order of time, those of the same time in the
	 * file's order.  An error ends the reading. */
	int (*record)(struct perf_handler *h, const struct perfdata_head *head, const uint8_t *p,
		      uint64_t off, struct err *err);
	/* A record of perf's own, at its place in the file; may be NULL. */
	int (*own)(struct perf_handler *h, const struct perfdata_head *head, const uint8_t *p,
		   uint64_t off, struct err *err);
	/* A piece of N bytes of what follows an AUXTRACE record, AT bytes from its beginning; may
	 * be NULL. */
	void (*aux)(struct perf_handler *h, const struct perfdata_record *auxtrace,
		    const uint8_t *piece, size_t n, uint64_t at);
	/* A section of the file's end, before any record; may be NULL. */
	int (*section)(struct perf_handler *h, uint32_t feature, const uint8_t *bytes, size_t n,
		       struct err *err);
	/* `record` may be called by another thread, while `own` is called for marks of rounds and
	 * compressed records; never at the same time as any other call. */
	bool may_be_apart;
	/* The record at P is handed to `record` soon, by the same thread; may be NULL. */
	void (*expect)(struct perf_handler *h, const uint8_t *p);
};

struct perf_stream_stats {
	uint64_t n_bytes;      /* of records, decompressed */
	uint64_t n_records;    /* of the kernel */
	uint64_t n_late;       /* those that came after younger ones had gone out */
	uint64_t n_unknown;    /* records of types that are not known */
	uint64_t most_waiting; /* bytes that waited, at most */
	bool begun;	       /* its header and events were read */
	bool forgivable;       /* the error is damage that can be passed over */
	bool message;	       /* perf's own messages are at its end */
	bool no_marks;	       /* there were too few marks: the order may be wrong */
};

/* Reads all records of the file open at FD, whose header PD gets; PATH is for finding files beside
 * it.  With DAMAGE what is damaged is passed over, and DAMAGE gets a line for each place and what
 * was done about it; else it is an error.  Release PD, also after a failure.  Messages name the
 * offset, not the file. */
int perf_stream_read(int fd, const char *path, struct perfdata *pd, struct perf_handler *h,
		     struct str *damage, struct perf_stream_stats *ret, struct err *err);

#endif
