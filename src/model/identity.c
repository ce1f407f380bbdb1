/* SPDX-License-Identifier: BSD-2-Clause */
/* Images of one build-id.
 *
 * Two files with one build-id are two images.  A place that is known by build-id alone belongs to
 * one of them, and which it is cannot be told from the order in which they were seen: so this is
 * decided when everything is loaded, and never written to a database. */
#include "model/profile.h"

#include <stdlib.h>

#include "base/alloc.h"

static bool same_build_id(const struct image *a, const struct image *b)
{
	return a->kind == b->kind && !((a->flags | b->flags) & IMAGE_OFFSETS) &&
	       a->build_id.n_bytes && build_id_same(&a->build_id, &b->build_id);
}

bool profile_shares_build_id(const struct profile *p, const struct image *im)
{
	vec_each (other, &p->images)
		if (same_build_id(other, im) && !image_digest_same(other->digest, im->digest))
			return true;
	return false;
}

/* The image that what is known of IM by build-id alone belongs to; IM's own number when there is
 * none, or more than one. */
static image_id find_only(const struct profile *p, image_id im)
{
	image_id only = im;

	for (image_id i = 0; i < p->images.n; i++) {
		if (i == im || !same_build_id(&p->images.v[i], &p->images.v[im]))
			continue;
		if (only != im)
			return im;
		only = i;
	}
	return only;
}

void profile_join_images(struct profile *p)
{
	image_id *joined = xcalloc(p->images.n + 1, sizeof(*joined));
	bool any = false;

	for (image_id i = 0; i < p->images.n; i++) {
		joined[i] = image_digest_known(p->images.v[i].digest) ? i : find_only(p, i);
		any |= joined[i] != i;
	}
	if (any)
		vec_each (pl, &p->places)
			pl->image = joined[pl->image];
	free(joined);
}
