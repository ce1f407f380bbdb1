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
};

struct keep_code {
	VEC(bool) done; /* by place: its code is kept, or cannot be */
	VEC(struct keep_asked) asked;
};

/* Keeps what is not yet kept of IMAGES' code at PLACES, all with samples in P, in IMAGES_DIR, of
 * those codes whose symbols are there: HAS_SYMBOLS, by code.  Returns of how many files it is not
 * done: a child reads them, and a later call keeps what it answers. */
size_t keep_code(struct keep_code *k, const struct profile *p, const sampled_places *places,
		 const struct images *images, const bool *has_symbols, const char *images_dir);

void keep_code_release(struct keep_code *k);

#endif
