/* SPDX-License-Identifier: BSD-2-Clause */
/* Time lines of threads: which threads, which part of the time, how dense each stretch of a line
 * is, and what a thread was in at each point. */
#ifndef QUERY_ROWS_THREAD_LINES_H
#define QUERY_ROWS_THREAD_LINES_H

#include "base/arena.h"
#include "base/err.h"
#include "base/opts.h"

struct source;

struct thread_line_opts {
	opt_list pids, tids; /* of samples: decimal, several joined by ','; none: all */
	bool has_from, has_to;
	uint64_t from_ns, to_ns; /* since the first thing known of any thread: [from, to) */
	bool points;		 /* points will be asked for */
	bool has_depth;
	uint32_t depth; /* of a point: see struct thread_line_point; 0: all */
};

struct thread_line {
	const char *name;	    /* "RANK 0 THREAD 1", or the command's */
	uint32_t pid, tid;	    /* of samples */
	uint32_t number;	    /* the trace's, the profile's */
	uint64_t born_ns, ended_ns; /* since 1970; 0: not known */
	uint64_t start_ns, end_ns;  /* in the range, as far as is known */
	uint64_t n_points;	    /* wanted, in the range */
	uint64_t n_dropped;	    /* points for which there was no room */
	uint64_t first, n;	    /* its points in the range, wanted or not */
	void *line;		    /* the source's */
};

struct thread_line_point {
	uint64_t time_ns;
	const char *event;     /* NULL: none is known */
	const char *procedure; /* the innermost, or the one at the depth that was asked for */
	const char *path;      /* "leaf < caller < ..." */
	uint32_t context, depth;
};

struct thread_lines;
struct thread_line_ops {
	uint64_t (*time)(const struct thread_line *l, uint64_t i);
	bool (*wants)(const struct thread_lines *t, const struct thread_line *l,
		      uint64_t i); /* or NULL */
	void (*point)(struct thread_lines *t, const struct thread_line *l, uint64_t i,
		      struct thread_line_point *ret);
	void (*release)(struct thread_lines *t);
};

struct thread_lines {
	const struct thread_line_ops *ops;
	struct source *source;
	VEC(struct thread_line) lines;
	bool by_process;  /* lines have pids; points have events, and paths cut at the depth */
	uint64_t zero_ns; /* the first thing known of any thread, since 1970 */
	uint64_t from_ns, to_ns; /* the range, since 1970: [from, to) */
	uint64_t n_points, n_dropped;
	uint32_t depth;
	void *kept; /* the source's */
	struct arena arena;
};

/* Where stretch I of N begins, since 1970; I == N: where the range ends. */
uint64_t thread_lines_stretch(const struct thread_lines *t, unsigned n, unsigned i);

/* Counts L's points in N equal stretches of the range into RET; returns the largest. */
uint64_t thread_lines_density(const struct thread_lines *t, const struct thread_line *l, unsigned n,
			      uint64_t *ret);

void thread_lines_release(struct thread_lines *t);

#endif
