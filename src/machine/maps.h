/* SPDX-License-Identifier: BSD-2-Clause */
/* What a process maps, shared by a parent and its children until one of them changes it. */
#ifndef MACHINE_MAPS_H
#define MACHINE_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct mapping {
	uint64_t start, end, off;
	uint32_t code; /* in struct images */
	bool shared;   /* others who map it see what is written */
};

struct maps {
	uint32_t n_refs;
	VEC(struct mapping) v; /* sorted by start, disjoint */
	size_t n_before;       /* room before v.v, part of its memory */
};

/* M may be NULL, which is no mappings, in all of these. */
void maps_unref(struct maps *m);
struct maps *maps_ref(struct maps *m);

/* Makes *MAPS the caller's own before it changes them. */
struct maps *maps_own(struct maps **maps);

/* Puts MAP in place of whatever it overlaps; what sticks out of it on either side stays. */
void maps_add(struct maps *m, const struct mapping *map);

/* The mapping that ends at START and goes on at END, its file's offsets as if it had never been
 * interrupted; or the one that START to END lies in the midst of.  NULL: there is none. */
const struct mapping *maps_around(const struct maps *m, uint64_t start, uint64_t end);

/* What AVMA is in; NULL: in nothing. */
const struct mapping *maps_find(const struct maps *m, uint64_t avma);

#endif
