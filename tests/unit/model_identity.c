/* SPDX-License-Identifier: BSD-2-Clause */
/* What is known by build-id alone joins the one content that has it, and no other. */
#include <string.h>

#include "model/profile.h"
#include "t.h"

static image_id add(struct profile *p, uint8_t id, uint8_t digest, enum image_kind kind,
		    uint32_t flags)
{
	struct image im = {.kind = kind, .flags = flags, .path = "/bin/x"};

	im.build_id.n_bytes = 20;
	memset(im.build_id.bytes, id, 20);
	memset(im.digest, digest, sizeof(im.digest));
	return profile_intern_image(p, &im);
}

/* The image that a place in each of N images has after joining. */
static void joined(struct profile *p, image_id *images, size_t n)
{
	place_id places[8];

	for (size_t i = 0; i < n; i++)
		places[i] = profile_intern_place(p, images[i], 0x10 + i, 0);
	profile_join_images(p);
	for (size_t i = 0; i < n; i++)
		images[i] = p->places.v[places[i]].image;
}

TEST(one_content_takes_what_is_known_by_build_id)
{
	struct profile p;
	image_id im[2];

	profile_init(&p);
	im[0] = add(&p, 7, 0, IMAGE_FILE, 0);
	im[1] = add(&p, 7, 1, IMAGE_FILE, 0);
	EXPECT(im[0] != im[1]);
	joined(&p, im, 2);
	EXPECT_EQ(im[0], im[1]);
	EXPECT(image_digest_known(p.images.v[im[0]].digest));
	profile_release(&p);
}

TEST(two_contents_leave_it_apart)
{
	struct profile p;
	image_id im[3];

	profile_init(&p);
	im[0] = add(&p, 7, 0, IMAGE_FILE, 0);
	im[1] = add(&p, 7, 1, IMAGE_FILE, 0);
	im[2] = add(&p, 7, 2, IMAGE_FILE, 0);
	joined(&p, im, 3);
	EXPECT(im[0] != im[1] && im[1] != im[2] && im[0] != im[2]);
	EXPECT(profile_shares_build_id(&p, &p.images.v[im[1]]));
	profile_release(&p);
}

TEST(others_are_left_alone)
{
	struct profile p;
	image_id im[5], was[5];

	profile_init(&p);
	im[0] = add(&p, 7, 0, IMAGE_FILE, 0);
	im[1] = add(&p, 8, 1, IMAGE_FILE, 0); /* another build-id */
	im[2] = add(&p, 7, 1, IMAGE_VDSO, 0); /* another kind */
	im[3] = add(&p, 9, 1, IMAGE_FILE, 0);
	im[4] = add(&p, 9, 0, IMAGE_FILE, IMAGE_OFFSETS); /* file offsets are no addresses */
	memcpy(was, im, sizeof(im));
	joined(&p, im, 5);
	EXPECT(memcmp(was, im, sizeof(im)) == 0);
	profile_release(&p);
}
