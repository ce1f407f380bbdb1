/* SPDX-License-Identifier: BSD-2-Clause */
/* Who ran and what was mapped, as the records of a perf.data file tell it: threads with their
 * names, processes with their mappings, the kernel and its modules.
 *
 * It is perf's own view, so that what perf shows of a file is what is found here: names belong to
 * threads, a process is there from the first record that names it, and what it maps is what its
 * records said last (Linux, tools/perf/util/machine.c). */
#ifndef PORT_PERF_WORLD_H
#define PORT_PERF_WORLD_H

#include "machine/images.h"
#include "machine/kernel_map.h"
#include "machine/maps.h"
#include "machine/procs.h"
#include "formats/perfdata.h"
#include "port/perf_jit.h"

struct perf_proc {
	uint32_t pid;
	uint32_t n_threads; /* that are known and have not ended */
	uint64_t n_ended;   /* when it did, in the count of those that did; 0: it lives */
	struct maps *maps;
	uint64_t version; /* of its mappings: no two processes' or times' are equal */
	string_id exe;
	bool has_exe;
	image_id anon; /* when has_anon: its nameless code */
	bool has_anon;
	uint64_t begin_ns;   /* when it was forked; 0: before the recording */
	uint32_t dump;	     /* the jitdump it mapped, number in files + 1; 0: none */
	bool asked_jit;	     /* for what is told of its generated code: */
	uint32_t jit;	     /* number in jits + 1; 0: nothing */
	uint32_t n_replaced; /* of it, in this version */
};

struct perf_thread {
	uint32_t pid, tid;
	uint32_t proc; /* number in procs */
	bool ended;
	bool has_comm, has_owner;
	string_id comm;
	/* The owner last asked for: */
	owner_id owner;
	uint64_t owner_cgroup;
};

/* A distinct mapped file, opened when there is something to place in it. */
struct perf_file {
	struct image_ref ref; /* its path is in the profile's strings */
	string_id path;
	uint32_t code; /* number in images + 1; 0: not opened yet */
};

struct perf_place_slot { /* an address that was looked up */
	uint64_t version, ip;
	place_id place;
	image_id image; /* the place's */
};

#define PERF_WORLD_PLACE_BITS 17
#define PERF_WORLD_N_PLACES   (1u << PERF_WORLD_PLACE_BITS)

#define PERF_WORLD_N_THREAD_SLOTS 1024u

/* An access to memory whose data's place and sums are not in the profile yet. */
struct perf_pending {
	struct access a;
	struct place data;
	uint64_t hash; /* of DATA, then of A */
};

#define PERF_WORLD_N_PENDING 32

/* A vector of facts that was looked up. */
struct perf_vector_slot {
	struct vector vector;
	vector_id id;
	bool used;
};

#define PERF_WORLD_N_VECTORS 64

/* Whose jumps are counted, in these versions of the mappings. */
struct perf_branch_who {
	uint64_t version, kernel_version;
	owner_id owner;
	event_id event;
};

/* A jump that was looked up, and what of it is not in the profile yet.  It is a line of the CPU's
 * cache, aligned. */
struct perf_branch_slot {
	uint64_t from, to;
	uint32_t to_bytes; /* so far what is mapped at TO goes on */
	uint32_t who;	   /* number in branch_whos + 1; 0: the slot is free */
	uint32_t branch;   /* number in the profile + 1; 0: not counted yet */
	uint32_t count, n_predicted, n_mispredicted, n_cycles, n_newest, n_oldest, n_again;
	uint64_t cycles;
};

/* Why a branch of a branch stack cannot be. */
enum perf_odd_branch {
	PERF_ODD_NONE,
	PERF_ODD_NOWHERE,  /* it is from or to where nothing is mapped */
	PERF_ODD_BACKWARD, /* the next one begins before it ends */
	PERF_ODD_HOLE,	   /* the code between it and the next one is not all mapped */
	PERF_N_ODD_BRANCHES
};

struct perf_world {
	struct profile *profile;
	const struct perfdata *pd;
	enum owner_split split;
	string_id label;
	struct images images;
	struct kernel_map kernel;
	struct perf_jits jits; /* who wants them sets `wanted` and what follows */
	uint64_t now_ns;       /* in the samples' clock */
	uint64_t kernel_version;
	VEC(struct perf_proc) procs;
	VEC(struct perf_thread) threads;
	VEC(struct {
		uint64_t id;
		string_id path;
	})
	cgroups;
	VEC(struct perf_file) files; /* what the processes' mappings mean by `code` */
	/* Processes that ended, in a ring: what is left of their samples comes soon. */
	uint32_t *gone;
	size_t n_gone;
	/* By hash of a thread's number: its number in threads + 1, or another's; 0: none. */
	uint32_t thread_slots[PERF_WORLD_N_THREAD_SLOTS];
	struct index proc_ix, thread_ix, cgroup_ix, build_id_ix, file_ix;
	/* Pages of the kernel's memory that lie in no image, in order of appearance. */
	VEC(uint64_t) kernel_pages;
	struct index kernel_page_ix;
	uint64_t kernel_pages_from;
	size_t n_build_ids; /* in build_id_ix */
	uint64_t n_versions;
	struct perf_place_slot *places;
	struct perf_pending pending[PERF_WORLD_N_PENDING]; /* perf_access.h */
	unsigned n_pending;
	size_t most_loose; /* so many accesses are not looked for among those before */
	struct perf_vector_slot vectors[PERF_WORLD_N_VECTORS];
	/* Branch stacks (perf_branch.h): what was wrong, and the branches behind it. */
	uint64_t n_odd_branches[PERF_N_ODD_BRANCHES], n_older_branches;
	struct perf_branch_slot *branch_slots; /* NULL: no branch was seen */
	VEC(struct perf_branch_who) branch_whos;
	struct index branch_who_ix;
	uint32_t branch_who;  /* number of the one last asked for */
	bool chosen_branches; /* stacks have some kinds of jumps only */
	uint64_t n_unknown;   /* addresses nobody could attribute, once each time */
};

/* W keeps all of these; FIND_FILE as of struct images. */
void perf_world_init(struct perf_world *w, struct profile *p, const struct perfdata *pd,
		     enum owner_split split,
		     int (*find_file)(void *ctx, const struct image_ref *ref, const char *path),
		     void *find_ctx, image_probe_fn *probe);
void perf_world_release(struct perf_world *w);

/* Applies a record that tells of threads, mappings or the kernel; others change nothing. */
void perf_world_apply(struct perf_world *w, const struct perfdata_record *r);

/* Tells that thread TID is soon asked for the place of IP, in mode PERFDATA_MODE_*: what both look
 * at is loaded meanwhile.  It changes nothing. */
void perf_world_expect(const struct perf_world *w, uint32_t tid, unsigned mode, uint64_t ip);

/* The thread TID of process PID, added when it is not there.  Good until the next call. */
struct perf_thread *perf_world_thread(struct perf_world *w, uint32_t pid, uint32_t tid);

/* The thread TID, of whatever process; NULL when no record named it, or it ended. */
struct perf_thread *perf_world_find_thread(struct perf_world *w, uint32_t tid);

/* Whose samples those of T in cgroup CGROUP (0: not told) are. */
owner_id perf_world_owner(struct perf_world *w, struct perf_thread *t, uint64_t cgroup);

/* Places asked for process number PROC from now on are those of TIME (0: not told). */
void perf_world_at(struct perf_world *w, uint32_t proc, uint64_t time);

/* The place of address IP, in mode PERFDATA_MODE_*, of process number PROC. */
place_id perf_world_place(struct perf_world *w, uint32_t proc, unsigned mode, uint64_t ip,
			  uint32_t flags);

/* As perf_world_place without flags.  *RET_IMAGE is the image that the place lies in. */
place_id perf_world_place_in(struct perf_world *w, uint32_t proc, unsigned mode, uint64_t ip,
			     image_id *ret_image);

/* What M, a process's mapping, is of, as a number in W's images. */
uint32_t perf_world_code(struct perf_world *w, const struct mapping *m);

/* The build-id the file tells for PATH; NULL: none. */
const struct build_id *perf_world_build_id(struct perf_world *w, const char *path);

#endif
