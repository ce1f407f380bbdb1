/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/keep_code.h"

#include "model/fresh.h"

#include "t.h"

#define HOUR_NS (3600ull * 1000000000)

/* A profile with one file, which has no symbols: nothing can be kept of its places. */
struct world {
	struct profile p;
	struct images images;
	struct keep_code k;
	image_id image;
};

static void world_init(struct world *w)
{
	*w = (struct world){0};
	profile_init(&w->p);
	profile_watch(&w->p);
	profile_intern_event(&w->p, &(struct event){.name = profile_intern_str(&w->p, "cycles")});
	w->image = profile_intern_image(&w->p,
					&(struct image){.kind = IMAGE_FILE, .path = "/usr/bin/x"});
	vec_push(&w->images.codes,
		 (struct mapped_code){
			 .kind = CODE_FILE, .image = w->image, .fd = 0, .sampled = true});
}

static void world_release(struct world *w)
{
	keep_code_release(&w->k);
	vec_release(&w->images.codes);
	profile_release(&w->p);
}

static ctx_id at(struct world *w, ctx_id parent, uint64_t svma)
{
	return profile_intern_ctx(&w->p, parent, profile_intern_place(&w->p, w->image, svma, 0));
}

/* A sample, and the flush that tells it. */
static void flush_sample(struct world *w, ctx_id ctx)
{
	profile_add_value(&w->p, &(struct value){.ctx = ctx, .count = 1});
	keep_code_note(&w->k, &w->p);
	profile_reset_values(&w->p);
}

/* How many places there are to ask about, now that they are asked about. */
static size_t n_asked(struct world *w)
{
	const bool has_symbols = true;
	sampled_places places = {0};
	size_t n;

	keep_code_open(&w->k, &w->p, &w->images, &places);
	n = places.n;
	EXPECT_EQ(keep_code(&w->k, &w->p, &places, &w->images, &has_symbols, "/nowhere"), 0);
	vec_release(&places);
	return n;
}

TEST(a_flush_asks_about_what_is_new)
{
	struct world w;
	ctx_id one, two;

	world_init(&w);
	one = at(&w, 0, 0x10);
	two = at(&w, one, 0x20);
	flush_sample(&w, one);
	EXPECT_EQ(n_asked(&w), 1);
	flush_sample(&w, one);
	EXPECT_EQ(n_asked(&w), 0);
	flush_sample(&w, two);
	EXPECT_EQ(n_asked(&w), 1);
	world_release(&w);
}

TEST(callers_are_asked_about_once)
{
	struct world w;
	sampled_places places = {0};
	ctx_id caller;

	world_init(&w);
	caller = at(&w, 0, 0x20);
	flush_sample(&w, at(&w, caller, 0x10));
	flush_sample(&w, at(&w, caller, 0x30));
	keep_code_open(&w.k, &w.p, &w.images, &places);
	REQUIRE(places.n == 3);
	EXPECT(!places.v[0].is_caller);
	EXPECT(places.v[1].is_caller);
	EXPECT_EQ(places.v[1].svma, 0x20);
	EXPECT(!places.v[2].is_caller);
	vec_release(&places);
	world_release(&w);
}

/* Flushes that come often collect what is new of a file; one that was asked for does not wait. */
TEST(a_file_is_not_asked_again_at_once)
{
	struct world w;

	world_init(&w);
	w.k.again_ns = HOUR_NS;
	flush_sample(&w, at(&w, 0, 0x10));
	EXPECT_EQ(n_asked(&w), 1);
	flush_sample(&w, at(&w, 0, 0x20));
	EXPECT_EQ(n_asked(&w), 0);
	flush_sample(&w, at(&w, 0, 0x30));
	EXPECT_EQ(n_asked(&w), 0);
	w.k.again_ns = 0;
	EXPECT_EQ(n_asked(&w), 2);
	EXPECT_EQ(n_asked(&w), 0);
	world_release(&w);
}
