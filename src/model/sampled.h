/* SPDX-License-Identifier: BSD-2-Clause */
/* Where samples were taken, other than on the way there. */
#ifndef MODEL_SAMPLED_H
#define MODEL_SAMPLED_H

#include "model/profile.h"

/* A sampled place. */
struct sampled_place {
	image_id image;
	place_id place;
	uint64_t svma;
};
typedef VEC(struct sampled_place) sampled_places;

/* Appends the places of P that have values of their own (also those that were reset), by image and
 * address, each once. */
void sampled_places_of(const struct profile *p, sampled_places *ret);

#endif
