/* SPDX-License-Identifier: BSD-2-Clause */
/* Records that wait until all that are older have come. */
#ifndef PORT_PERF_QUEUE_H
#define PORT_PERF_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"

#define PERF_CHUNK_BYTES (1u << 20) /* and their alignment */
#define PERF_CHUNK_FIRST 64	    /* where a chunk's own bytes begin */

/* Bytes of records; the head of its memory. */
struct perf_chunk {
	uint32_t n_refs;
	struct perf_chunk *next; /* of those that are free */
};

/* All bytes of C, of which the first PERF_CHUNK_FIRST are its own. */
static inline uint8_t *perf_chunk_bytes(struct perf_chunk *c)
{
	return (uint8_t *)c;
}

struct perf_waiting {
	uint64_t time;
	const uint8_t *p;
	uint64_t off : 48, n : 16; /* in the file; bytes */
};

struct perf_queue {
	VEC(struct perf_waiting) v; /* in the order they came; what was sorted before is first */
	VEC(struct perf_waiting) spare;
	VEC(size_t) runs; /* where each ascending piece of v begins */
	uint64_t n_bytes, most_bytes;
	uint64_t newest;   /* the latest time so far */
	uint64_t before;   /* the latest time when the last round ended */
	uint64_t gone_out; /* the latest time that went out */
	uint64_t n_late;
	bool forced; /* it was too much to wait for rounds */
	struct perf_chunk *free;
	int (*put)(void *ctx, const uint8_t *p, uint64_t off, struct err *err);
	void *ctx;
};

void perf_queue_init(struct perf_queue *q,
		     int (*put)(void *ctx, const uint8_t *p, uint64_t off, struct err *err),
		     void *ctx);
void perf_queue_release(struct perf_queue *q);

/* A chunk with one reference. */
struct perf_chunk *perf_chunk_new(struct perf_queue *q);
void perf_chunk_unref(struct perf_queue *q, struct perf_chunk *c);

/* The one that P lies in. */
struct perf_chunk *perf_chunk_of(const uint8_t *p);

/* The record of N bytes at P, in C, waits until its time has come. */
int perf_queue_add(struct perf_queue *q, struct perf_chunk *c, uint64_t time, const uint8_t *p,
		   size_t n, uint64_t off, struct err *err);

/* A round ends: what is older than the end of the one before goes out. */
int perf_queue_round(struct perf_queue *q, struct err *err);

/* Everything up to LIMIT goes out. */
int perf_queue_flush(struct perf_queue *q, uint64_t limit, struct err *err);

/* All goes out. */
int perf_queue_end(struct perf_queue *q, struct err *err);

#endif
