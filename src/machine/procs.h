/* SPDX-License-Identifier: BSD-2-Clause */
/* Running processes: what they map, and who owns their samples.
 *
 * A process here is one life of a tgid between two execs, known by (tgid, generation): see
 * GENERATION in bpf/record.h.  A FORK starts a new life with its parent's mappings (shared until
 * either changes them); an exec starts a new one with none.  A life that ended stays findable for
 * one whole cycle, because samples of it may still be in the log. */
#ifndef MACHINE_PROCS_H
#define MACHINE_PROCS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/opts.h"
#include "collect/bpf/record.h"
#include "machine/exclude.h"
#include "machine/frame_source.h"
#include "machine/images.h"
#include "machine/maps.h"
#include "machine/perf_record.h"
#include "model/profile.h"

#define PROC_NONE UINT32_MAX

struct proc {
	uint32_t tgid;
	uint32_t generation;
	uint64_t since_ns; /* when a list told of it: older records are old news; 0: never */
	bool exact;	   /* generation's time is the kernel's, not that of the FORK record */
	bool any_exec;	   /* the number of execs is not known */
	bool exe_pending;  /* the next mapped file is the executable */
	enum { FACTS_UNKNOWN, FACTS_INHERITED, FACTS_READ } facts; /* uid and cgroup: from /proc */
	bool has_owner;
	uint32_t n_threads;
	uint32_t began; /* cycle in which it forked or executed */
	uint32_t ended; /* cycle in which it exited or was replaced; 0: lives */
	uint32_t older; /* next older life of this tgid, or next free element */
	uint32_t owner_flags;
	string_id comm, exe, cgroup;
	string_id label; /* 0: that of all */
	uint32_t uid;
	struct maps *maps;
	owner_id owner; /* when has_owner */
	image_id anon;	/* image of its nameless code, when has_anon */
	bool has_anon;
	uint32_t jit;	     /* its perf map, number in jits + 1, when has_anon; 0: none */
	uint32_t anon_cycle; /* cycle in which a perf map was last looked for */
	uint32_t read_cycle; /* in which its mappings were read anew, after records were lost */
	uint32_t dump;	     /* the jitdump it mapped, number in struct images + 1; 0: none */
};

/* Generated code of a process that writes a perf map. */
struct jit {
	image_id image;
	uint32_t pid;
	int fd; /* of the map, for when the process has ended; -1 when too many are open */
};

/* What keeps samples apart within a group. */
enum owner_split { OWNER_GROUP, OWNER_PID, OWNER_TID };

struct procs {
	struct profile *profile; /* borrowed */
	struct images *images;	 /* borrowed */
	enum owner_split split;
	string_id label;
	const struct exclusions *excluded; /* borrowed; NULL: none */
	const opt_list *by_pid;		   /* borrowed; programs whose processes are kept apart */
	VEC(struct proc) v;
	string_id *thread_names; /* by tid: 0 not known; with OWNER_TID only, 2^22 elements */
	uint32_t *newest;    /* by tgid: number in v + 1, 0 none; 2^22 elements, mostly untouched */
	uint32_t free;	     /* first free element, or PROC_NONE */
	uint32_t cycle;	     /* counts from 1 */
	bool has_labels;     /* a process was given one */
	bool lost;	     /* records were lost: a life may be missing */
	uint32_t lost_cycle; /* mappings read before it may be incomplete; 0: nothing lost */
	uint32_t n_rereads;  /* of this cycle */
	size_t most_mappings; /* that may be kept */
	size_t n_mappings;    /* kept, at most; counted in cycle n_recounted */
	uint32_t n_recounted;
	uint64_t n_left_out; /* mappings that there was no room for: samples there are unknown */
	/* Time of the samples being folded, CLOCK_MONOTONIC: exact where samples tell it, else the
	 * end of the cycle. */
	uint64_t time_ns;
	/* Counts changes after which a source may answer differently for an address. */
	uint32_t n_changes;
	uint64_t salt;
	VEC(struct jit) jits;	      /* code of perf maps that has samples */
	struct frame_source *sources; /* see frame_source.h */
	struct frame_source nameless; /* the last of them: procs_anon_image */
};

/* SALT makes the identities of generated code this recording's own: its start in wall time. */
void procs_init(struct procs *ps, struct profile *p, struct images *im, uint64_t salt);
void procs_release(struct procs *ps);

/* Makes room for the mappings that a machine of N_CPUS may have. */
void procs_expect_cpus(struct procs *ps, uint32_t n_cpus);

/* Adds a process from the kernel's own task list and reads its mappings from /proc.  Records from
 * before T->now_ns are then old news and change nothing. */
void procs_add_task(struct procs *ps, const struct task_record *t);

/* Adds every process in /proc, for kernels and users without the task iterator. */
void procs_scan(struct procs *ps);

/* Adds process TGID from /proc; false when it is not there. */
bool procs_scan_one(struct procs *ps, uint32_t tgid);

/* Applies one sideband record (mmap, comm, fork, exit). */
void procs_apply(struct procs *ps, const struct perf_record *r);

/* Ends a cycle: forgets the lives that ended before this one. */
void procs_end_cycle(struct procs *ps);

/* The life of TGID that GENERATION means, or PROC_NONE. */
uint32_t procs_find(struct procs *ps, uint32_t tgid, uint32_t generation);

/* Returns the life of TGID that GENERATION means, or PROC_NONE.  Asks /proc when nobody told of the
 * process: a record was lost, or the process started while the list was being read. */
uint32_t procs_look_up(struct procs *ps, uint32_t tgid, uint32_t generation);

/* The current life of TGID, or PROC_NONE. */
uint32_t procs_current(const struct procs *ps, uint32_t tgid);

/* Notes that records were lost.  From now on lives and mappings are looked for in /proc when
 * samples are in unknown ones. */
void procs_note_lost(struct procs *ps);

/* The mapping at AVMA in process PROC; NULL when no executable mapping is known there.  After
 * records were lost /proc is asked, once for each process and loss. */
const struct mapping *procs_find_mapping(struct procs *ps, uint32_t proc, uint64_t avma);

/* The owner of the samples of PROC (thread TID). */
owner_id procs_owner(struct procs *ps, uint32_t proc, uint32_t tid);

/* OWNER with LABELS, a text of the profile, as its label. */
owner_id procs_owner_labelled(const struct procs *ps, owner_id owner, string_id labels);

/* From now on samples of TGID, and of the processes it starts, have LABEL; false when there is no
 * such process. */
bool procs_set_label(struct procs *ps, uint32_t tgid, const char *label);

/* Gives the processes of PS the labels they have in FROM. */
void procs_take_labels(struct procs *ps, const struct procs *from);

/* The image of PROC's executable memory without a file: generated code when the process has a perf
 * map (/tmp/perf-PID.map), else "[anon] COMM". */
image_id procs_anon_image(struct procs *ps, uint32_t proc);

#endif
