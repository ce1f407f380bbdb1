/* SPDX-License-Identifier: BSD-2-Clause */
/* Code of procedures with samples, kept while their files are open (resolve/keep.h). */
#ifndef DAEMON_KEEP_CODE_H
#define DAEMON_KEEP_CODE_H

#include "machine/images.h"
#include "model/sampled.h"
#include "resolve/keep.h"

/* What a child was asked and has not answered. */
struct keep_asked {
	size_t code;	    /* its number among the codes */
	kept_ranges ranges; /* what was wanted then */
	bool bare;	    /* its lines were too much for the first child: the code alone */
	size_t n;	    /* so many of them are in the question */
};

/* What is known of a place. */
struct keep_place {
	bool is_done; /* its code is kept, or cannot be */
	bool is_met, has_samples;
};

struct keep_code {
	VEC(struct keep_place) places; /* by place */
	VEC(struct keep_asked) asked;
	VEC(bool) walked;      /* by context: its callers were noted */
	VEC(place_id) open;    /* noted, and not done */
	VEC(uint64_t) came_ns; /* by code: when it was asked last, CLOCK_MONOTONIC; 0: never */
	VEC(uint64_t) little;  /* by code: samples it had when too few were of what is to be kept */
	bool has_notes;	       /* keep_code_note was called */
	uint64_t again_ns;     /* a file is not asked again before so long */
};

/* Notes the places of P that have samples since its values were reset, and their callers. */
void keep_code_note(struct keep_code *k, const struct profile *p);

/* Appends the noted places that are not done, of IMAGES' files that may be asked now, by image and
 * address. */
void keep_code_open(struct keep_code *k, const struct profile *p, const struct images *images,
		    sampled_places *ret);

/* Keeps what is not yet kept of IMAGES' code at PLACES, all with samples in P, in IMAGES_DIR, of
 * those codes whose symbols are there: HAS_SYMBOLS, by code.  Returns of how many files it is not
 * done: a child reads them, and a later call keeps what it answers. */
size_t keep_code(struct keep_code *k, const struct profile *p, const sampled_places *places,
		 const struct images *images, const bool *has_symbols, const char *images_dir);

void keep_code_release(struct keep_code *k);

#endif
