/* SPDX-License-Identifier: BSD-2-Clause */
/* Images of one build-id.
 *
 * Two files with one build-id are two images.  A place that is known by build-id alone belongs to
 * one of them, and which it is cannot be told from the order in which they were seen: so this is
 * decided when everything is loaded, and never written to a database. */
#include "model/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static bool same_build_id(const struct image *a, const struct image *b)
{
	return a->kind == b->kind && !((a->flags | b->flags) & IMAGE_OFFSETS) &&
	       a->build_id.n_bytes && build_id_same(&a->build_id, &b->build_id);
}

/* Those of one build-id side by side, the one without a digest first. */
typedef VEC(const struct image *) sorted_images;

static int by_build_id(const void *a, const void *b)
{
	const struct image *x = *(const struct image *const *)a;
	const struct image *y = *(const struct image *const *)b;
	int d = (x->kind > y->kind) - (x->kind < y->kind);

	if (!d)
		d = x->build_id.n_bytes - y->build_id.n_bytes;
	if (!d)
		d = memcmp(x->build_id.bytes, y->build_id.bytes, x->build_id.n_bytes);
	return d ? d : memcmp(x->digest, y->digest, IMAGE_DIGEST_BYTES);
}

typedef void group_fn(void *ctx, const struct image *const *images, size_t n);

/* Calls FN for each build-id that several images have. */
static void each_group(const struct profile *p, group_fn *fn, void *ctx)
{
	sorted_images all = {0};

	vec_each (im, &p->images)
		if (im->build_id.n_bytes && !(im->flags & IMAGE_OFFSETS))
			vec_push(&all, im);
	vec_sort(&all, by_build_id);
	for (size_t i = 0, end; i < all.n; i = end) {
		end = i + 1;
		while (end < all.n && same_build_id(all.v[i], all.v[end]))
			end++;
		if (end - i > 1)
			fn(ctx, all.v + i, end - i);
	}
	vec_release(&all);
}

struct shared {
	group_fn *fn;
	void *ctx;
};

static void pass_shared(void *ctx, const struct image *const *images, size_t n)
{
	const struct shared *s = ctx;

	if (n - !image_digest_known(images[0]->digest) > 1)
		s->fn(s->ctx, images, n);
}

void profile_each_shared(const struct profile *p, group_fn *fn, void *ctx)
{
	struct shared s = {fn, ctx};

	each_group(p, pass_shared, &s);
}

bool profile_shares_build_id(const struct profile *p, const struct image *im)
{
	const uint8_t *seen = image_digest_known(im->digest) ? im->digest : NULL;

	vec_each (other, &p->images) {
		if (!same_build_id(other, im) || !image_digest_known(other->digest))
			continue;
		if (seen && !image_digest_same(other->digest, seen))
			return true;
		seen = other->digest;
	}
	return false;
}

struct join {
	const struct profile *p;
	image_id *to;
	bool any;
};

static void join_two(void *ctx, const struct image *const *images, size_t n)
{
	const struct image *first = ((struct join *)ctx)->p->images.v;
	struct join *j = ctx;

	if (n != 2 || image_digest_known(images[0]->digest))
		return;
	j->to[images[0] - first] = (image_id)(images[1] - first);
	j->any = true;
}

void profile_join_images(struct profile *p)
{
	struct join j = {.p = p, .to = xcalloc(p->images.n + 1, sizeof(*j.to))};

	for (image_id i = 0; i < p->images.n; i++)
		j.to[i] = i;
	each_group(p, join_two, &j);
	if (j.any)
		vec_each (pl, &p->places)
			pl->image = j.to[pl->image];
	free(j.to);
}
