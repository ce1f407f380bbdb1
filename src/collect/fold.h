/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples into counts.
 *
 * A sample's process and mapping are found at once, while they are what they were; what they name,
 * (code, offset, owner, event), is counted in a table.  Samples come in runs of one process, so the
 * last process and mapping are tried first; the table's slots are fetched ahead, a batch at a time.
 * Only a flush gives the table's keys their places and values in the profile, each key once.  With
 * call paths the context of the callers is part of the key. */
#ifndef COLLECT_FOLD_H
#define COLLECT_FOLD_H

#include <stdint.h>

#include "collect/calls/chains.h"
#include "machine/kernel_map.h"
#include "collect/log.h"
#include "machine/procs.h"
#include "collect/tracer.h"
#include "model/fact.h"

#define FOLD_BATCH 32

/* Where a sample was and whose. */
struct fold_key {
	uint64_t at;   /* file offset, or run-time address */
	uint32_t code; /* see fold.c */
	uint32_t owner;
	uint32_t event;	 /* event + 1; 0: a free slot */
	uint32_t caller; /* context of its callers; 0: none, or flat */
};

/* A sample whose callers are walked later (chains_awaits): its place is known already. */
struct late_sample {
	struct log_sample sample;
	struct fold_key key;
};

struct fold {
	struct profile *profile;
	struct procs *procs;
	struct images *images;
	struct kernel_map *kernel;
	struct chains *chains;	 /* NULL: without call paths */
	struct tracer *tracer;	 /* NULL: without time lines */
	const event_id *events;	 /* by the log's event number */
	struct fold_slot *slots; /* open addressing, a power of two */
	uint32_t n_slots, n_used;
	uint32_t values_epoch;	/* of the profile, when slots' values were looked up */
	VEC(uint32_t) counting; /* slots that counted since the last flush */
	struct {		/* samples on their way into the table */
		struct fold_key key;
		uint32_t slot;
	} batch[FOLD_BATCH];
	unsigned n_batch;
	VEC(struct late_sample) late; /* whose callers are awaited */
	bool forgot;		      /* nothing was counted since fold_forget: a program's
		      * loading moves code often */
	struct {		      /* the last sample's process and mapping, when `known` */
		bool known;
		uint32_t tgid, tid, generation, proc;
		owner_id owner;
		struct mapping map; /* empty: none yet */
	} last;
	uint64_t n_samples[LOG_MAX_EVENTS]; /* folded so far, by event number */
	uint64_t n_unknown;
};

void fold_init(struct fold *f, struct profile *p, struct procs *procs, struct images *images,
	       struct kernel_map *kernel, const event_id *events);
void fold_release(struct fold *f);

/* Counts one sample.  The sideband must have been applied up to its time.  One whose callers are
 * still awaited is counted by a later fold_take_late. */
void fold_add(struct fold *f, const struct log_sample *s);

/* Counts the samples whose callers have come since. */
void fold_take_late(struct fold *f);

/* Counts one sample that carries FACTS about its instruction.  It is placed and counted at once:
 * there are too many different ones for the table. */
void fold_add_facts(struct fold *f, const struct log_sample *s, const struct sample_facts *facts);

/* To be called before processes or mappings change: the last one need not be what it was. */
void fold_pause(struct fold *f);

/* To be called before kernel code moves: settles what was counted by its addresses. */
void fold_forget(struct fold *f);

/* Adds everything counted since the last flush to the profile. */
void fold_flush(struct fold *f);

/* To be called before places move: settles all and forgets where it went. */
void fold_forget_places(struct fold *f);

/* Adds COUNT samples of a spill slot, whose process is not known. */
void fold_add_spilled(struct fold *f, const struct spill_slot *s);

#endif
