/* SPDX-License-Identifier: BSD-2-Clause */
/* Time lines of threads as a reader asked for them: which threads, which part of the time, and how
 * dense each stretch of a line is. */
#ifndef QUERY_SAMPLES_THREADS_H
#define QUERY_SAMPLES_THREADS_H

#include "query/samples/query.h"

struct thread_opts {
	opt_list pids, tids; /* decimal, several joined by ','; none: all */
	bool has_from, has_to;
	uint64_t from_ns, to_ns; /* since the first thing known of any thread: [from, to) */
};

struct thread {
	const struct trace *trace;
	uint64_t start_ns, end_ns; /* in the range: when it was there, as far as is known */
	uint64_t n_points;	   /* of the query's events, in the range */
	size_t first, n;	   /* the trace's points in the range, all events */
};

struct threads {
	VEC(struct thread) threads; /* by pid, tid, start */
	uint64_t zero_ns;	    /* the first thing known of any thread */
	uint64_t from_ns, to_ns;    /* the range, since 1970 like zero_ns */
	uint64_t n_points;
	uint64_t n_dropped; /* points for which there was no room, of all threads */
};

/* Fills RET from the sorted traces of Q's profile: the threads whose owners Q wants, that OPTS name
 * and that were there during the range.  Errors: -EINVAL for a malformed number, -ENOENT for a
 * thread or process that has no line, or a range that ends before it begins. */
int threads_find(const struct query *q, const struct thread_opts *opts, struct threads *ret,
		 struct err *err);
void threads_release(struct threads *t);

/* Whether a point counts for Q: its event is one of those chosen. */
bool threads_wants(const struct query *q, const struct trace_point *point);

/* Counts T's points in N equal stretches of the range into RET; returns the largest. */
uint64_t threads_density(const struct query *q, const struct threads *all, const struct thread *t,
			 unsigned n, uint64_t *ret);

/* Where stretch I of N begins, since 1970; I == N: where the range ends. */
uint64_t threads_stretch(const struct threads *all, unsigned n, unsigned i);

/* Appends the call path of CTX, innermost first: "leaf < caller < ...", at most DEPTH frames (0:
 * all). */
void threads_path(struct query *q, ctx_id ctx, unsigned depth, struct str *ret);

#endif
