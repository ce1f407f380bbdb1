/* SPDX-License-Identifier: BSD-2-Clause */
/* Copies of stacks that the kernel side could not walk to their end, for want of a table
 * (bpf/record.h): walked on here once the table is there, to the very chain that the kernel side
 * would have made.
 *
 * A copy stays in the log's ring until then, and is zeroed when it was walked.  Its sample waits
 * meanwhile (chains_awaits).  Nothing of it is stored anywhere but the frames that it led to. */
#ifndef COLLECT_CALLS_COPIES_H
#define COLLECT_CALLS_COPIES_H

#include "collect/calls/chains.h"
#include "collect/calls/unwinds.h"

/* A copy is not kept for longer: what has no table by then is truncated. */
#define COPIES_KEPT_NS (3ull * 1000000000)

/* What its process mapped, for a copy that waits for a table. */
struct waiting_copy {
	uint64_t hash;
	struct maps *maps;
};

/* Tables are looked at through pieces, of which so many are mapped. */
#define COPIES_PIECES 16

/* What the walk of a thread that ended, or began another program, led to: for the samples that are
 * taken when its memory is gone. */
struct walked_end {
	uint64_t hash; /* of its copy; 0: none */
	enum chain_cause cause;
	uint32_t n_frames;
	bool has_raw; /* a frame is an address in its process */
	uint64_t *frames;
};

struct copies {
	struct log *log; /* borrowed, as all here */
	struct chains *chains;
	struct unwinds *unwinds;
	VEC(struct waiting_copy) waiting;
	struct word_piece {
		uint32_t *words; /* NULL: not mapped */
		uint32_t at, n;
	} pieces[COPIES_PIECES];
	struct walked_end ends[EXIT_PATHS]; /* the newest ones */
	uint32_t n_ends;		    /* ever */
	uint64_t walked[CHAIN_MAX_FRAMES], frames[CHAIN_MAX_FRAMES];
	uint64_t n_walked, n_given_up; /* copies, ever */
};

void copies_init(struct copies *c, struct log *log, struct chains *chains, struct unwinds *unwinds);
void copies_release(struct copies *c);

/* Walks the copies there are, each when the tables it needs are there; asks for those that are not.
 * The sideband must have been applied up to UNTIL_NS (CLOCK_MONOTONIC): copies taken later are left
 * alone, for their process may not be known yet.  With FORCE the others are walked as far as they
 * can be.  Returns how many of these wait. */
size_t copies_walk(struct copies *c, uint64_t until_ns, bool force);

#endif
