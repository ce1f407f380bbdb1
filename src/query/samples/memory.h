/* SPDX-License-Identifier: BSD-2-Clause */
/* What memory the samples of a query accessed: by where the data came from, by object, by cache
 * line. */
#ifndef QUERY_SAMPLES_MEMORY_H
#define QUERY_SAMPLES_MEMORY_H

#include "query/samples/query.h"

/* The name of the row of accesses whose level or latency the hardware did not tell. */
#define MEMORY_UNTOLD "not told"

enum memory_by {
	MEMORY_LEVEL,	/* of the caches, or what else had the data */
	MEMORY_TLB,	/* where its address was translated */
	MEMORY_LATENCY, /* classes, each twice as long as the one before */
	MEMORY_OBJECT,	/* a variable, the stack, the heap, ... */
	MEMORY_PAGE,
	MEMORY_NODE,	  /* NUMA node of the memory, and of the CPU */
	MEMORY_PROCEDURE, /* that accessed it */
	MEMORY_LINE,	  /* of the caches */
	MEMORY_N_BYS
};

struct memory_opts {
	enum memory_by by;
	uint32_t line_bytes; /* a power of two */
	bool all_lines;	     /* also those that no two threads contend for */
	size_t n;	     /* rows kept */
};

struct memory_sums {
	uint64_t samples, loads, stores;
	uint64_t modified; /* another core's cache had the line, changed (HITM) */
	uint64_t remote;   /* from another node */
	uint64_t latency, n_latency;
};

struct memory_row {
	uint64_t key[2]; /* what its accesses have in common: key_of */
	const char *name;
	const char *image; /* of the object or procedure; NULL: none */
	uint64_t start;	   /* where object, page or line begins, in its image or memory */
	struct memory_sums sums;
	uint32_t pid; /* whose memory the page or line is; 0: shared, or the kernel's */
	uint32_t n_threads, n_writers; /* of a line: who accessed it, who wrote to it */
};

/* How one instruction accessed one offset of a line. */
struct memory_use {
	uint32_t row; /* of the line */
	uint32_t offset;
	place_id place;
	struct memory_sums sums;
	const char *procedure, *image, *file; /* NULL: not known */
	uint32_t line;			      /* of FILE */
};

struct memory {
	/* The most frequent first; lines with HITM come before others, latencies ascend. */
	VEC(struct memory_row) rows;
	VEC(struct memory_use) uses; /* of lines, by row, by offset, most frequent first */
	struct memory_sums all;	     /* of all accesses that Q wants */
	size_t n_left_out;	     /* rows beyond the most */
	uint64_t n_samples;	     /* of Q's events, with and without addresses */
	struct arena arena;
};

/* Tells whether Q's profile has accesses that Q wants. */
bool memory_is_told(const struct query *q);

/* Fills RET with the accesses of Q's profile that Q wants; memory_release it.  Q must outlive it.
 * A line is contended for when another core had changed it, or when several threads accessed it and
 * one of them wrote to it. */
void memory_gather(struct query *q, const struct memory_opts *o, struct memory *ret);
void memory_release(struct memory *m);

#endif
