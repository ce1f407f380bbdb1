/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads over time as spans: what each thread did, and where.
 *
 *     source_thread_lines ---> time_lines_init ---> struct time_lines ---> time_lines_html
 *
 * Points say where a thread was at a moment; spans say how long.  Of a thread with period P (1 ms)
 *
 *     a sample at 5.0 ms              running 4.0 to 5.0, or from what came before
 *     blocked at 5.2, ready at 9.0    running 5.0 to 5.2 (shorter than P), blocked 5.2 to 9.0
 *     a sample at 12.0                ready 9.0 to 11.0, running 11.0 to 12.0
 *
 * A thread that was neither sampled nor blocked for more than P waited for a CPU, where waiting was
 * recorded; else nothing is known of that time, and there is no span. */
#ifndef QUERY_BOXES_TIME_LINES_H
#define QUERY_BOXES_TIME_LINES_H

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"
#include "query/boxes/picture_text.h"
#include "query/rows/thread_lines.h"

enum time_state {
	TIME_RUNNING,
	TIME_RUNNABLE,
	TIME_BLOCKED,
	N_TIME_STATES,
};

/* "running", "runnable", "blocked": as the data block has them. */
const char *time_state_name(enum time_state s);

struct time_span {
	uint64_t begin_ns, end_ns; /* since 1970 */
	enum time_state state;
	uint32_t node;	/* where it was; 0: not known */
	uint32_t waker; /* its thread's number + 1; 0: not known */
	uint32_t waker_node;
};

/* A place and its callers. */
struct time_node {
	uint32_t parent; /* 0: none */
	uint32_t name;
};

struct time_thread {
	const char *name; /* safe text */
	uint32_t pid, tid;
	uint64_t born_ns, ended_ns; /* since 1970; 0: not known */
	uint64_t in_state_ns[N_TIME_STATES];
	uint64_t n_dropped; /* points for which there was no room */
	size_t first, n;    /* of SPANS, in order of time */
};

struct time_lines {
	uint64_t from_ns, to_ns, zero_ns; /* since 1970 */
	uint64_t n_points, n_dropped;
	uint64_t least_ns; /* spans that are shorter were joined with their neighbours; 0: none */
	bool has_states;   /* waiting and blocking were recorded */
	bool by_process;   /* threads have pids */
	VEC(struct time_thread) threads; /* those that ran most first */
	VEC(struct time_span) spans;
	VEC(struct time_node) nodes; /* [0] is none */
	struct text_list names;
	struct arena arena;
};

#define TIME_SPANS 250000

/* A page that is larger has fewer spans. */
#define TIME_PAGE_BYTES 1500000

/* Makes spans of T's points, at most MAX_SPANS (0: TIME_SPANS): beyond that short ones are joined.
 * RET is to be released.  ALL: of all events, whatever T wants. */
void time_lines_init(struct time_lines *ret, struct thread_lines *t, bool all, size_t max_spans);
void time_lines_release(struct time_lines *l);

/* Appends what such a page has of L, for one that asks for it: view/trace_html.c tells its
 * layout. */
struct wr;
void time_lines_data(struct wr *out, const struct time_lines *l, const char *title,
		     const char *account);

/* Appends L as one HTML page that needs nothing else. */
void time_lines_html(struct str *out, const struct time_lines *l, const char *title,
		     const char *account);

#endif
