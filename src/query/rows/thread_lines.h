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
	uint64_t n_ran;		    /* those of them that say it ran */
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

/* What a thread did in a stretch of its line, as far as its points tell. */
struct thread_stretch {
	uint64_t n_ran;	 /* points that say it ran */
	bool is_blocked; /* it did not run, and a block ended in it or is the next that is known */
	bool is_there;	 /* the thread was */
};

struct thread_lines;
struct thread_line_ops {
	uint64_t (*time)(const struct thread_line *l, uint64_t i);
	bool (*wants)(const struct thread_lines *t, const struct thread_line *l,
		      uint64_t i); /* or NULL */
	/* Whether point I is the end of a block; NULL: none is. */
	bool (*is_block)(const struct thread_lines *t, const struct thread_line *l, uint64_t i);
	void (*point)(struct thread_lines *t, const struct thread_line *l, uint64_t i,
		      struct thread_line_point *ret);
	/* The innermost procedure of a point's context, and the context of its caller, 0 for none.
	 * NULL: contexts are known by whole paths only. */
	const char *(*frame)(struct thread_lines *t, uint32_t context);
	uint32_t (*caller)(struct thread_lines *t, uint32_t context);
	void (*release)(struct thread_lines *t);
};

struct thread_lines {
	const struct thread_line_ops *ops;
	struct source *source;
	VEC(struct thread_line) lines;
	bool by_process;  /* lines have pids; points have events, and paths cut at the depth */
	bool has_no_date; /* times are of a clock that began nobody knows when, not since 1970 */
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

/* Tells what L did in N equal stretches of the range; returns the largest `n_ran`. */
uint64_t thread_lines_stretches(const struct thread_lines *t, const struct thread_line *l,
				unsigned n, struct thread_stretch *ret);

/* Puts the threads that ran most first, by their points in the range; then those with most points,
 * then by process and thread. */
void thread_lines_sort(struct thread_lines *t);

/* Where a point is: number I of LINE's. */
struct thread_line_at {
	uint64_t time_ns, i;
	const struct thread_line *line;
};
typedef VEC(struct thread_line_at) thread_line_points;

/* Adds to RET, which is empty, the points of all lines that are wanted, in order of time. */
void thread_lines_points(const struct thread_lines *t, thread_line_points *ret);

void thread_lines_release(struct thread_lines *t);

#endif
