/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel side of the bpf engine as user space sees it: the loaded program, its log and its
 * spill table.  Drained only through shared memory: a BPF map system call would silence the
 * samplers of its CPU while it runs (docs/design/collector.md). */
#ifndef COLLECT_LOG_H
#define COLLECT_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/wr.h"
#include "collect/bpf/record.h"
#include "unwind/memory.h"

struct log;
struct kernel_types;

struct log_opts {
	uint32_t n_events; /* 1 .. LOG_MAX_EVENTS */
	uint32_t n_cpus;   /* possible CPUs */
	uint32_t n_slots;  /* per CPU, a power of two */
	uint32_t n_spill;  /* per CPU, a power of two */
	uint64_t pidns_dev,
		pidns_ino; /* this process's pid namespace, 0 when it is the initial one */
	bool times;	   /* slots hold the time of their sample */
	uint64_t number;   /* it samples from log_go_live on; 0: from the start */
	int live_fd;	   /* with NUMBER: which of several logs samples (log_make_live) */
	bool watch;	   /* samples of processes that are watched (log_watch) count, no others */
	/* Call paths; all zero without. */
	bool chains;
	uint32_t n_chain_words; /* per CPU, a power of two >= 4 * CHAIN_MAX_FRAMES */
	size_t n_unwind_words;	/* for all tables together, of 4 bytes */
	uint32_t n_image_keys;	/* a power of two */
	uint32_t n_copy_chunks; /* per CPU, a power of two; 0: no stacks are copied */
	uint32_t n_exit_chunks; /* of each walk of exits, a power of two */
	bool map_tables;	/* all of them, for walks in this process; else in pieces */
	bool check_walks;	/* does each walk that takes frames over again, without */
	bool go_labels;		/* are those of goroutines read */
	uint64_t script_seed;	/* a secret of this recording */
	const struct kernel_types *types; /* NULL: libbpf reads all of the kernel's */
};

/* What kernel_types_key and kernel_types_make say of this log's programs. */
uint64_t log_types_key(void);
int log_types_make(struct wr *ret, struct err *err);

/* Loads the program and maps its arrays.  Needs CAP_BPF and CAP_PERFMON, or root.  The message says
 * what the kernel or the verifier objected to. */
int log_open(const struct log_opts *opts, struct log **ret, struct err *err);
void log_close(struct log *l);

/* Makes the array that says which of several logs samples: none of them yet.  Returns its
 * descriptor. */
int log_make_live(struct err *err);

/* Returns the number of the log that samples, as the array LIVE_FD says; 0: none does. */
uint64_t log_get_live(int live_fd);

/* Makes L the log that samples from now on, in place of the one that did: in one step, on all
 * CPUs.  A log without a number samples already. */
void log_go_live(struct log *l);

/* Time of log_go_live, CLOCK_MONOTONIC; 0: never called, or nobody said. */
uint64_t log_live_ns(const struct log *l);

/* Watches PID, of the initial pid namespace, from its next exec on, and every process that it or
 * its children start from then on.  Only with opts.watch; at most LOG_MAX_WATCHED live at once, and
 * log_unwatched counts those that were one too many. */
int log_watch(struct log *l, uint32_t pid, struct err *err);
uint64_t log_unwatched(const struct log *l);

/* Number of EVENT's samples in processes that are not watched; idle CPUs have none. */
uint64_t log_others(const struct log *l, uint32_t event);

/* Runs the program at each overflow of the perf event PERF_FD, which stays the caller's; samples
 * are numbered EVENT (below n_events).  Ends with log_close or when the fd is closed. */
int log_attach(struct log *l, int perf_fd, unsigned event, struct err *err);

/* Calls FN for every process that exists, in no particular order. */
int log_each_task(struct log *l, void (*fn)(void *ctx, const struct task_record *t), void *ctx,
		  struct err *err);

/* Gives FN the functions of the programs that take samples and watch, as bpf_programs.h says: they
 * run in the kernel, so samples fall into them. */
void log_each_program(const struct log *l,
		      void (*fn)(void *ctx, uint64_t start, uint64_t end, const char *name),
		      void *ctx);

/* Descriptors of the log's arrays and links, for pinning them (pinned.h).  They stay the log's. */
struct log_fds {
	int slots, cpus, spill;
	int live;				  /* -1 without a number */
	int chain_words, chain_cpus, slot_chains; /* -1 without call paths */
	const int *links;
	size_t n_links; /* 0 before Linux 5.15 */
};
struct log_fds log_fds(const struct log *l);

/* Opens a log of which only the arrays SLOTS, CPUS and SPILL are left; the descriptors stay the
 * caller's.  It can be read, and its tails set.  -EBADMSG: they are not the arrays of a log. */
int log_open_arrays(int slots, int cpus, int spill, struct log **ret, struct err *err);

uint32_t log_n_cpus(const struct log *l);

struct log_sample {
	uint64_t ip; /* sign-extended: negative as int64_t means kernel */
	uint32_t event, tgid, tid, generation;
	uint64_t chain;	  /* hash of its callers, CHAIN_LOST, or 0 for none */
	uint64_t time_ns; /* CLOCK_MONOTONIC; 0: not asked for */
};

/* The number of samples that CPU's log has taken since the start: a snapshot to drain up to. */
uint64_t log_head(const struct log *l, uint32_t cpu);
uint64_t log_tail(const struct log *l, uint32_t cpu);
uint32_t log_n_slots(const struct log *l); /* of a CPU */

/* Decodes sample number AT, tail <= AT < head, of CPU. */
struct log_sample log_get(const struct log *l, uint32_t cpu, uint64_t at);

/* Gives the slots before sample number AT back to the kernel side. */
void log_set_tail(struct log *l, uint32_t cpu, uint64_t at);

/* The account of the log's events, for whoever takes it over: the time up to which it is stored,
 * CLOCK_MONOTONIC (0: nobody said), and which events count, a bit each. */
struct log_account {
	uint64_t time_ns;
	uint64_t counting;
};
void log_set_account(struct log *l, const struct log_account *a);
struct log_account log_get_account(const struct log *l);

/* Sums over CPUs of what the program counted for EVENT: reached = logged + spilled + dropped. */
struct log_counts {
	uint64_t reached, spilled, dropped;
};
struct log_counts log_counts(const struct log *l, unsigned event);

/* Whether any sample went into the spill table. */
bool log_any_spilled(const struct log *l);

/* Calls FN for each used slot of the spill table.  Exact only while no event is enabled. */
void log_each_spilled(const struct log *l, void (*fn)(void *ctx, const struct spill_slot *s),
		      void *ctx);

/* --- Call paths --- */

struct log_chain {
	uint64_t hash;
	uint32_t tgid, generation; /* whose addresses the raw frames are */
	enum chain_cause cause;
	uint32_t n_frames, n_kernel;
	const uint64_t *frames; /* innermost caller first; until the call returns */
	uint64_t labels;	/* of the goroutine, as FRAME_SCRIPT has a number; 0: none */
};

/* Calls FN for each chain sent since the last call, and gives their room back.  Call it after
 * noting log_head and before reading the samples up to it. */
void log_each_chain(struct log *l, void (*fn)(void *ctx, const struct log_chain *c), void *ctx);

/* Number of chains that found their ring full. */
uint64_t log_chains_lost(const struct log *l);

/* Counts of how frames of user stacks were found, and of what check_walks saw (bpf/record.h). */
struct log_walks {
	uint64_t n_walked, n_kept;
	uint64_t n_checked, n_differing;
};
struct log_walks log_walks(const struct log *l);

/* A ring of copies of stacks (bpf/record.h, "Copies of stacks"), mapped until log_close_copies. */
struct log_copies {
	struct copy_cpu *cpu;
	uint8_t *chunks; /* n_chunks of COPY_CHUNK_BYTES */
	uint32_t n_chunks;
};

/* The rings of copies: each CPU's, then those of walks that exits and execs begin. */
uint32_t log_n_copy_rings(const struct log *l);

/* False when ring I has none, or they cannot be had now. */
bool log_open_copies(const struct log *l, uint32_t i, struct log_copies *ret);
void log_close_copies(const struct log_copies *c);

/* Number of stacks that found no room. */
uint64_t log_copies_refused(const struct log *l);

/* The memory that holds the unwind tables, for whoever publishes them: the tables' words, the rules
 * (65,536), the images (FRAME_MAX_IMAGES + 1) and the clock.  All zero without call paths. */
struct unwind_memory log_unwind_memory(const struct log *l);

/* The table the programs find images in, and how many keys it has. */
struct image_key *log_image_keys(const struct log *l, uint32_t *ret_n);

/* Makes the programs forget the mappings they remember and look them up anew.  Call it after keys
 * or images changed. */
void log_images_changed(struct log *l);

/* A descriptor that polls readable when there are requests; -1 without call paths.  SCRIPT is given
 * what was told of interpreters' code (unwind/script_record.h), which is not checked. */
int log_request_fd(const struct log *l);
void log_each_request(struct log *l, void (*fn)(void *ctx, const struct image_request *r),
		      void (*script)(void *ctx, const uint8_t *bytes, size_t n), void *ctx);

/* Makes the programs tell again of code of interpreters that they told of. */
void log_scripts_forgotten(struct log *l);

#endif
