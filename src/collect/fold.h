/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples into counts, in two steps.  Equal (process, event, address) are counted in a small table
 * first; most samples of a second hit addresses already seen in it.  At the end of the cycle each
 * distinct one is attributed: to its process, its mapping, and from there by one look-up in a cache
 * to the value it adds to.  Only what the cache does not know goes through the dictionaries. */
#ifndef COLLECT_FOLD_H
#define COLLECT_FOLD_H

#include <stdint.h>

#include "collect/kernel_map.h"
#include "collect/log.h"
#include "collect/procs.h"

struct fold {
	struct profile *profile;
	struct procs *procs;
	struct images *images;
	struct kernel_map *kernel;
	const event_id *events;  /* by the log's event number */
	struct fold_slot *slots; /* open addressing */
	uint32_t n_used;
	struct fold_known *known; /* the cache: open addressing, n_known_slots of them */
	uint32_t n_known_slots, n_known;
	uint32_t n_resets;        /* of the profile, when the cache was filled */
	image_id unknown;        /* image of addresses nobody could attribute, when has_unknown */
	bool has_unknown;
	uint64_t n_samples[LOG_MAX_EVENTS]; /* folded so far, by event number */
	uint64_t n_unknown;
};

void fold_init(struct fold *f, struct profile *p, struct procs *procs, struct images *images,
	       struct kernel_map *kernel, const event_id *events);
void fold_release(struct fold *f);

/* Counts one sample. */
void fold_add(struct fold *f, const struct log_sample *s);

/* Attributes everything counted since the last call and adds it to the profile.  The sideband must
 * have been applied up to the time of the newest sample. */
void fold_flush(struct fold *f);

/* Forgets what addresses meant: to be called when kernel code moved. */
void fold_forget(struct fold *f);

/* Adds COUNT samples of a spill slot, whose process is not known. */
void fold_add_spilled(struct fold *f, const struct spill_slot *s);

#endif
