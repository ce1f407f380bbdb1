/* SPDX-License-Identifier: BSD-2-Clause */
/* Who knows what code is that no file describes.
 *
 * Whatever address of a sample or of a call path lies in a mapped file is a place of that file's
 * image.  For every other address the sources are asked, the one added last first, until one knows
 * it: readers of what JIT compilers tell, and at the end the process's nameless memory
 * (procs.c). */
#ifndef MACHINE_FRAME_SOURCE_H
#define MACHINE_FRAME_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/profile.h"

struct procs;
struct mapping;

/* An address, and when: after the sideband was applied up to the sample's cycle, and at the time
 * procs tells. */
struct frame_query {
	struct procs *procs;
	uint32_t proc; /* number in procs */
	uint64_t avma;
	const struct mapping *map; /* the executable mapping it lies in; NULL: none */
	uint64_t time_ns;	   /* about when, CLOCK_MONOTONIC */
};

struct source_place {
	image_id image;
	uint64_t svma;
};

/* A source; whoever makes one embeds this in what else it needs and keeps it until the procs it was
 * added to are released. */
struct frame_source {
	/* Says where Q's frame is, in the profile of Q's procs; false when this source does not
	 * know.  (image, svma) must mean the same code for ever: names are given to it later.  A
	 * source that will answer otherwise than it did for an earlier time adds to n_changes of
	 * the procs: call paths are kept with the answers that were given for them. */
	bool (*find)(struct frame_source *s, const struct frame_query *q, struct source_place *ret);
	struct frame_source *next; /* set by frame_source_add */
};

/* Registers S: it is asked before all sources that were added earlier. */
void frame_source_add(struct procs *ps, struct frame_source *s);

/* Asks the sources for address AVMA of process PROC, in its mapping MAP (NULL: in none). */
bool frame_source_find(struct procs *ps, uint32_t proc, uint64_t avma, const struct mapping *map,
		       struct source_place *ret);

#endif
