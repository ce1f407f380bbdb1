/* SPDX-License-Identifier: BSD-2-Clause */
/* From chains of callers to contexts of the profile.
 *
 * A chain arrives once, with its frames, and is turned into the context of its callers at once,
 * while processes and mappings are what they were; from then on its hash stands for it.  A sample's
 * own context is a child of that: its place joins when the fold is flushed. */
#ifndef COLLECT_CALLS_CHAINS_H
#define COLLECT_CALLS_CHAINS_H

#include <stdint.h>

#include "machine/kernel_map.h"
#include "collect/log.h"
#include "machine/procs.h"
#include "collect/calls/scripts.h"

/* What a hash stands for. */
struct chain_slot {
	uint64_t hash; /* 0: a free slot */
	ctx_id ctx;
	string_id labels; /* of the goroutine; 0: none */
	uint8_t cause;	  /* enum chain_cause */
	bool guessed;	  /* one of its frames was */
	bool changes;	  /* its context may: it is in `changing` */
};

/* A frame with all that called it, and the context that is. */
struct known_frame {
	uint64_t frame;
	ctx_id ctx;
};

/* A chain of which only the hash is known: it is walked later (copies.h).  One sample has it. */
struct late_chain {
	struct chain_slot slot;
	bool is_here;
};

/* The number of an event that is not the log's: blocks (offcpu.h). */
#define CHAINS_BLOCKED LOG_MAX_EVENTS

/* How the call paths of one event's samples came out. */
struct chain_counts {
	uint64_t by_cause[CHAIN_N_CAUSES]; /* samples: their sum is all of them */
	uint64_t n_guessed;		   /* those with a frame that was guessed */
};

struct chains {
	struct profile *profile;
	struct procs *procs;
	struct images *images;
	struct kernel_map *kernel;
	struct chain_slot *slots; /* open addressing, a power of two */
	uint32_t n_slots, n_used;
	uint64_t n_frames; /* of the distinct chains together */
	/* Chains with frames that a source (frame_source.h) spoke for, with frames of their own. */
	VEC(struct log_chain) changing;
	VEC(struct late_chain) late; /* until their samples are counted */
	size_t n_awaited;	     /* of late: not here yet */
	uint32_t n_changes;	     /* of procs, when these were last looked up */
	bool asked;		     /* a source spoke since this was reset */
	/* The outer part of the chain learned last, outermost first, as far as it is of numbered
	 * images: most chains share much of it with the one before. */
	VEC(struct known_frame) last;
	enum chain_cause last_cause;
	place_id places[CHAIN_MAX_FRAMES]; /* of the chain being learned */
	ctx_id marks[CHAIN_N_CAUSES];
	struct scripts scripts;
	bool has_labels;		/* a chain had */
	uint64_t own[CHAIN_MAX_FRAMES]; /* the frames of a chain without those of a script */
	/* Where the numbers are another recorder's: the place of offset OFF of image NUMBER.  NULL:
	 * they are those of `images`. */
	place_id (*find_place)(void *ctx, uint32_t number, uint64_t off, uint32_t flags);
	void *find_ctx;
	struct chain_counts counts[LOG_MAX_EVENTS + 1]; /* the last: CHAINS_BLOCKED */
};

void chains_init(struct chains *c, struct profile *p, struct procs *procs, struct images *images,
		 struct kernel_map *kernel);
void chains_release(struct chains *c);

/* Learns CHAIN, unless its hash is known.  The sideband must have been applied up to its time. */
void chains_add(struct chains *c, const struct log_chain *chain);

/* Says that the chain HASH comes later, unless that is known. */
void chains_expect(struct chains *c, uint64_t hash);

/* Learns CHAIN, which was expected.  The sideband must have been applied up to its time. */
void chains_add_late(struct chains *c, const struct log_chain *chain);

/* Whether the chain HASH is still expected: its sample waits for it. */
bool chains_awaits(const struct chains *c, uint64_t hash);

/* Contexts moved: TO[I] is where context I went (profile_move_places). */
void chains_moved(struct chains *c, const ctx_id *to);

/* Says that HASH will be asked for in a moment. */
static inline void chains_prefetch(const struct chains *c, uint64_t hash)
{
	__builtin_prefetch(&c->slots[hash & (c->n_slots - 1)]);
}

bool chains_known(const struct chains *c, uint64_t hash);

/* The context of the callers that HASH (of a log_sample) stands for, of a sample of EVENT, which is
 * counted; 0 when it has none. */
ctx_id chains_count(struct chains *c, uint64_t hash, uint32_t event);

/* The labels of the goroutine that the sample of chain HASH was in, as a text of the profile; 0:
 * none.  To be asked before chains_count. */
string_id chains_labels(const struct chains *c, uint64_t hash);

/* The context of the callers of N samples of a spill slot of EVENT, which are counted. */
ctx_id chains_count_spilled(struct chains *c, uint32_t event, uint64_t n);

/* What CAUSE is called in "[truncated: ...]"; "complete" for CHAIN_COMPLETE. */
const char *chain_cause_name(enum chain_cause cause);

#endif
