/* SPDX-License-Identifier: BSD-2-Clause */
/* What call paths add to a collector: the chains that the log sends, the tables its walker asks
 * for, and when in a cycle each has its turn.
 *
 * In a cycle (collector.h) chains are taken out of their rings after the logs' heads were noted and
 * before the sideband is drained, so that the sideband is never older than a chain; they become
 * contexts once it is applied.  Requests for tables are served whenever they come. */
#ifndef COLLECT_CALLS_CALL_PATHS_H
#define COLLECT_CALLS_CALL_PATHS_H

#include "collect/calls/chains.h"
#include "collect/calls/copies.h"
#include "collect/log.h"
#include "collect/calls/ring_stacks.h"
#include "collect/calls/unwinds.h"

/* How callers are found. */
enum call_graph {
	CALLS_NONE,
	CALLS_AUTO,  /* unwind tables: of stacks by bpf; without it CALLS_DWARF */
	CALLS_FP,    /* frame pointers only, each caller of user code marked as guessed */
	CALLS_DWARF, /* unwind tables */
};

#define CALL_PATHS_TABLE_BYTES (32u << 20) /* unless told otherwise */

/* What a CPU's copies of stacks take, and how much is copied a second, unless told otherwise; of
 * all CPUs together never more than CALL_PATHS_ALL_COPIES. */
#define CALL_PATHS_COPY_BYTES (4u << 20)
#define CALL_PATHS_ALL_COPIES (32u << 20)

struct call_paths {
	enum call_graph mode;
	struct chains chains;	/* mode other than CALLS_NONE */
	struct unwinds unwinds; /* has_unwinds */
	bool has_unwinds;
	struct log *log;     /* borrowed; NULL: none */
	VEC(uint64_t) words; /* chains taken out of the log and not yet learnt */
	int (*answer_fd)(void);
	uint64_t (*take_answers)(void);
	uint64_t n_answers; /* that came, when tables were last loaded again */
	bool has_copies;
	struct copies copies; /* has_copies */
	bool copies_wait;     /* the kernel side said so, or some were left */
	bool served;	      /* something changed by the requests being served */
	bool has_ring;
	struct ring_stacks ring;    /* has_ring */
	struct unwind_memory *heap; /* of tables where there is no log; NULL: none */
	uint32_t heap_clock;
};

/* What is needed for tables: both from who knows ELF. */
struct call_paths_tables {
	unwind_load_fn *load;	  /* may say -EAGAIN: see take_answers */
	unwind_load_fn *load_now; /* for walks in this process; NULL: load, which says no -EAGAIN */
	/* When ANSWER_FD() polls readable TAKE_ANSWERS is called, which tells how many answers came
	 * ever; tables that were -EAGAIN are loaded again when these have become more.  NULL: none
	 * is. */
	int (*answer_fd)(void);
	uint64_t (*take_answers)(void);
	const struct unwind_table *vdso; /* NULL: none; only during call_paths_use_log */
	size_t n_bytes;			 /* that tables may take; 0: CALL_PATHS_TABLE_BYTES */
	size_t n_copy_bytes;		 /* a CPU's copies of stacks; 0: CALL_PATHS_COPY_BYTES */
	bool no_copies;			 /* a path without a table is truncated */
	bool check_walks;		 /* log_opts.check_walks */
	bool go_labels;			 /* log_opts.go_labels */
};

/* P, PROCS, IMAGES and KERNEL stay the caller's, until call_paths_release. */
void call_paths_init(struct call_paths *cp, enum call_graph mode, struct profile *p,
		     struct procs *procs, struct images *images, struct kernel_map *kernel);
void call_paths_release(struct call_paths *cp);

/* Asks for what a log needs besides, in O, whose n_cpus is set. */
void call_paths_log_opts(const struct call_paths *cp, const struct call_paths_tables *t,
			 struct log_opts *o);

/* Takes chains from L, opened with that, and publishes tables in its memory. */
void call_paths_use_log(struct call_paths *cp, struct log *l, const struct call_paths_tables *t);

/* Prepares for samples that come through rings. */
void call_paths_use_rings(struct call_paths *cp, const struct call_paths_tables *t);

/* Sets in A, an event whose samples come through rings of RING_BYTES, what they have to carry. */
void call_paths_event(const struct call_paths *cp, size_t ring_bytes, struct perf_event_attr *a);

/* Whether samples that come through rings carry copies of stacks. */
bool call_paths_copies_in_rings(const struct call_paths *cp);

/* How many times larger rings have to be than without: samples with copies of stacks are large. */
size_t call_paths_ring_factor(const struct call_paths *cp);

/* The hash of the callers of SAMPLE, which came through a ring and is of process PROC, for
 * log_sample.chain. */
uint64_t call_paths_of_record(struct call_paths *cp, const struct perf_record *sample,
			      uint32_t proc);

/* A descriptor that polls readable when a table is asked for; -1: none. */
int call_paths_request_fd(const struct call_paths *cp);

/* Takes the requests there are, and queues the tables; false when nothing came of any of them. */
bool call_paths_serve(struct call_paths *cp);

/* Whether requests are left whose files the sideband did not tell of yet; looks for them again. */
bool call_paths_asked(const struct call_paths *cp);
bool call_paths_serve_again(struct call_paths *cp);

/* Polls readable when call_paths_take_answers is to be called; -1: none. */
int call_paths_answer_fd(const struct call_paths *cp);

/* Takes what others have loaded, for call_paths_build to go on with. */
void call_paths_take_answers(struct call_paths *cp);

/* Builds one of the queued tables; false when there is none. */
bool call_paths_build(struct call_paths *cp);

/* Walks copies of stacks that wait for tables (copies.h), after the sideband was applied; with
 * FORCE as far as they can be.  Those taken at UNTIL_NS, up to which it was applied, or later are
 * left alone.  Returns how many wait. */
size_t call_paths_walk_copies(struct call_paths *cp, uint64_t until_ns, bool force);

/* Copies that were walked, of them those that ended for want of a table after all, and stacks that
 * were not copied for want of room. */
struct call_paths_copies {
	uint64_t n_walked, n_given_up, n_refused;
};
struct call_paths_copies call_paths_count_copies(const struct call_paths *cp);

/* Whether copies wait that could be walked now: the ring fills, or a table came for some. */
bool call_paths_copies_wait(const struct call_paths *cp);

/* The steps of a cycle, as above. */
void call_paths_fetch(struct call_paths *cp);
void call_paths_learn(struct call_paths *cp);
void call_paths_end_cycle(struct call_paths *cp);

#endif
