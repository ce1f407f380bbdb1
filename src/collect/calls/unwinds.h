/* SPDX-License-Identifier: BSD-2-Clause */
/* The unwind tables of all images that are met on stacks, in memory that the walker reads
 * (unwind/memory.h): built when the walker asks for one, given up when they were not used for the
 * longest time.
 *
 * The walker knows a file by (inode, device, generation); here it gets a number, for good, which
 * frames carry (FRAME_IMAGE_SHIFT).  Files share one table when it is made from the same bytes in
 * each: that is known by a hash when it has been built, whatever build-id they state.  A table that
 * cannot be built is not tried again: its image gets an empty one, so that the walker goes by frame
 * pointers and asks no more. */
#ifndef COLLECT_CALLS_UNWINDS_H
#define COLLECT_CALLS_UNWINDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "collect/bpf/record.h"
#include "machine/extents.h"
#include "machine/images.h"
#include "machine/maps.h"
#include "unwind/build.h"
#include "unwind/memory.h"
#include "unwind/walk_state.h"

/* Builds the table of the ELF file open at FD, which stays open.  The collector is given one such
 * function, so that it knows no ELF.  Errors as unwind_build; -EAGAIN: somebody else builds it, and
 * it is to be asked for again after unwinds_load_again. */
typedef int unwind_load_fn(int fd, struct unwind_table *ret, struct err *err);

struct unwinds_stats {
	uint64_t n_built, n_failed; /* builds */
	uint64_t build_ns;	    /* in all */
	uint64_t n_evicted;	    /* tables given up to make room */
	uint64_t n_no_room;	    /* requests put off: all memory was in use */
	uint64_t n_unknown;	    /* requests for files nobody could find */
	uint64_t n_not_numbered;    /* requests for more files than there are numbers or keys */
	uint64_t n_rules_lost;	    /* rows that found all rules taken: no unwinding there */
	uint64_t n_bytes, most_bytes, limit_bytes; /* of tables: now, at most, may be */
	uint32_t n_tables, n_images, n_rules;	   /* now */
};

enum table_state {
	TABLE_ABSENT,  /* not built yet, or evicted */
	TABLE_WAITING, /* built, waits until memory is given back */
	TABLE_READY,
	TABLE_FAILED,
	TABLE_JOINED, /* made from the bytes of another, which has its images now */
};

struct shared_table {
	enum table_state state;
	bool pinned;   /* never evicted */
	uint32_t code; /* in struct images: what it is made of */
	bool has_key;  /* it was built once: */
	uint8_t key[UNWIND_KEY_BYTES];
	uint32_t at, n;	    /* READY: its words; n also when WAITING */
	uint32_t retry_at;  /* ABSENT: not before the clock says so */
	bool wanted;	    /* ABSENT: unwinds_build_next is to build it */
	bool queued;	    /* it is in `queue` */
	bool asked;	    /* wanted, but its loader is at it: unwinds_load_again */
	uint32_t wanted_by; /* somebody who maps it */
	uint64_t first_off;
	uint32_t n_blocks;
	struct unwind_interpreter interpreter;
	struct unwind_table built; /* WAITING */
	VEC(uint32_t) numbers;	   /* of the images that use it */
};

/* Words that nobody refers to any more, but a walk under way may still read. */
struct retired {
	struct extent words;
	uint32_t since; /* the clock */
};

/* A process that may have HotSpot: see unwinds_runtimes.c. */
struct runtime_process {
	uint64_t task; /* as a log's slot has it, without its thread */
	uint64_t bias; /* of the code of its libjvm.so */
	uint32_t tgid;
	uint32_t number;   /* of that image; 0: it has none mapped */
	uint32_t slot;	   /* of its key; INDEX_NONE: none yet */
	uint32_t asked_at; /* the clock */
	uint32_t n_asked;
};

struct unwinds {
	struct unwind_memory mem;
	struct image_key *keys; /* n_keys, open addressing */
	uint32_t n_keys;
	struct images *images; /* borrowed */
	unwind_load_fn *load;
	struct extents free;
	VEC(struct retired) retired;
	VEC(struct shared_table) tables;
	VEC(uint32_t) queue;		 /* numbers of tables: all that are wanted are among them */
	uint32_t *table_of;		 /* by image number: number of its table + 1 */
	VEC(uint32_t) table_of_code;	 /* by code: number of its newest table + 1; 0 */
	VEC(uint32_t) number_of;	 /* by code: unwinds_number_of; 0: not asked for yet */
	struct index rule_ix;		 /* of mem.rules */
	uint32_t n_rules;		 /* of mem.rules, with rule 0 and TOO_COMPLEX_RULE */
	VEC(struct image_request) asked; /* of files not known yet */
	VEC(struct runtime_process) runtimes;
	bool changed; /* see unwinds_changed */
	struct unwinds_stats stats;
};

/* MEM and KEYS (N_KEYS of them, a power of two) stay the caller's, zeroed, until
 * unwinds_release. */
void unwinds_init(struct unwinds *u, const struct unwind_memory *mem, struct image_key *keys,
		  uint32_t n_keys, struct images *images, unwind_load_fn *load);
void unwinds_release(struct unwinds *u);

/* Publishes a copy of TABLE, the vdso's, under IMAGE_NUMBER_VDSO. */
void unwinds_add_vdso(struct unwinds *u, const struct unwind_table *table);

/* Gives the file that the walker asks for a number and queues its table.  A file that nobody knows
 * is kept for unwinds_serve_again.  False when nothing came of it: it may be asked for again and
 * again. */
bool unwinds_serve(struct unwinds *u, const struct image_request *r);

/* Takes a REQUEST_RUNTIME.  False when nothing came of it. */
bool unwinds_serve_runtime(struct unwinds *u, const struct image_request *r);

/* To be called when more of the sideband was applied: looks for the files that were not known.
 * Returns how many still are not. */
size_t unwinds_serve_again(struct unwinds *u);

/* Builds one of the tables that are queued, of the least code, so that few wait for a large one;
 * false when there is none. */
bool unwinds_build_next(struct unwinds *u);

/* Loads are tried again that were not ready (-EAGAIN). */
void unwinds_load_again(struct unwinds *u);

/* Gives code CODE a number, with the table of its like if there is one; 0 when numbers are used up.
 * For walks in user space, whose images have no key. */
uint32_t unwinds_number(struct unwinds *u, uint32_t code);

/* The number that CODE has, given now if it had none; 0: numbers are used up. */
uint32_t unwinds_number_of(struct unwinds *u, uint32_t code);

/* Tells the walker the number of CODE, whose file it has not met.  What it cannot be told of, it
 * asks for. */
void unwinds_tell(struct unwinds *u, uint32_t code);

/* What mapping M is to a walk: sets *RET, whose image is the number of its code. */
void unwinds_region(struct unwinds *u, const struct mapping *m, struct walk_region *ret);

/* Queues the table of image NUMBER, which process PID maps, unless it is there.  Says whether there
 * will be one. */
enum table_hope { TABLE_IS_THERE, TABLE_IS_COMING, TABLE_IS_NOT_COMING };
enum table_hope unwinds_ask(struct unwinds *u, uint32_t number, uint32_t pid);

/* Makes the table of image NUMBER be built if it is not there (any more).  Its file may be looked
 * for in what process PID sees. */
void unwinds_want(struct unwinds *u, uint32_t number, uint32_t pid);

/* To be called once a cycle, after the sideband was applied: the clock goes on, memory given up a
 * whole cycle ago is used again, and files still unknown are given up. */
void unwinds_tick(struct unwinds *u);

/* Were files numbered since the last call, so that the walker must look them up anew?  Tables come
 * and go without. */
bool unwinds_changed(struct unwinds *u);

struct unwinds_stats unwinds_stats(const struct unwinds *u);

/* Asserts every internal rule: no two tables overlap, what is published can be read with no index
 * out of bounds, no word is lost. */
void unwinds_check(const struct unwinds *u);

#endif
