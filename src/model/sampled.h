/* SPDX-License-Identifier: BSD-2-Clause */
/* Where samples were taken, and on the way there: in callers. */
#ifndef MODEL_SAMPLED_H
#define MODEL_SAMPLED_H

#include "model/profile.h"

/* A place with samples, or one that called such a place. */
struct sampled_place {
	image_id image;
	place_id place;
	uint64_t svma;
	uint64_t n;	/* samples at it; of a caller, those of one of its paths */
	bool is_caller; /* without samples of its own */
};
typedef VEC(struct sampled_place) sampled_places;

/* Appends the places of P that have values (also those that were reset), and those of their call
 * paths, by image and address, each once. */
void sampled_places_of(const struct profile *p, sampled_places *ret);

/* By image and address. */
void sampled_places_sort(sampled_places *places);

#endif
