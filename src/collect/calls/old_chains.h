/* SPDX-License-Identifier: BSD-2-Clause */
/* Call paths that outlive their recorder: what is pinned of them beside a log, and how the next one
 * reads it.
 *
 * The hashes beside the slots and the rings of chains are the programs' own memory.  A chain is in
 * its ring long after it was read, until newer ones are written over it: the programs send it again
 * when they have forgotten that they did, which is about when that happens.  Its frames are numbers
 * of images and offsets; which files the numbers stand for the recorder writes into one more array,
 * as build-ids. */
#ifndef COLLECT_CALLS_OLD_CHAINS_H
#define COLLECT_CALLS_OLD_CHAINS_H

#include "machine/images.h"
#include "collect/log.h"

/* The arrays, by the names they are pinned under. */
enum { OLD_WORDS, OLD_CPUS, OLD_HASHES, OLD_IMAGES, N_OLD_ARRAYS };
extern const char *const old_chain_arrays[N_OLD_ARRAYS];

/* --- the recorder's side --- */

struct image_id_slot {
	uint8_t n_bytes; /* 0: this number is nobody's */
	uint8_t bytes[23];
};

/* What numbers stand for; all zero is none. */
struct image_ids {
	int fd; /* of the array, when there is V */
	struct image_id_slot *v;
	uint32_t n;	  /* written so far */
	uint32_t n_taken; /* of struct images, when these were written */
};

/* A failure costs nothing but callers' names after a death. */
void image_ids_open(struct image_ids *ids);
void image_ids_close(struct image_ids *ids);

/* Writes down the numbers that were given since the last time. */
void image_ids_note(struct image_ids *ids, const struct images *im);

/* --- the next one's --- */

struct old_chains;

/* Those of LOG, from descriptors of the arrays, which stay the caller's.  -EBADMSG when they are
 * not what belongs to that log. */
int old_chains_open(const int fds[N_OLD_ARRAYS], const struct log *log, struct old_chains **ret,
		    struct err *err);
void old_chains_close(struct old_chains *o);

/* The hash beside sample number AT of CPU's log. */
uint64_t old_chains_hash(const struct old_chains *o, uint32_t cpu, uint64_t at);

/* Calls FN for each chain that is still there of the N hashes WANTED, which are sorted here; a
 * chain may come more than once. */
void old_chains_each(struct old_chains *o, uint64_t *wanted, size_t n,
		     void (*fn)(void *ctx, const struct log_chain *c), void *ctx);

/* The build-id of image NUMBER; false when that is not known. */
bool old_chains_image(const struct old_chains *o, uint32_t number, struct build_id *ret);

#endif
