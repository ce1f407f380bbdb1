/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples into counts: none lost, none invented, each where it belongs. */
#include "collect/fold.h"

#include <errno.h>

#include "t.h"

#define PID    4194000u /* no such process, so that /proc tells nothing */
#define PAGE   0x1000ull
#define CODE   0x400000ull
#define KERNEL 0xffffffff81000000ull

static struct {
	struct profile profile;
	struct images images;
	struct procs procs;
	struct kernel_map kernel;
	struct fold fold;
	event_id events[2];
} w;

static int no_file(int fd, struct image_layout *ret, struct err *err)
{
	return -EBADMSG;
}

static void map(uint32_t pid, uint64_t start, uint64_t n_bytes, const struct build_id *id,
		const char *path)
{
	struct record r = {.kind = RECORD_MMAP,
			   .pid = pid,
			   .tid = pid,
			   .addr = start,
			   .n_bytes = n_bytes,
			   .off = PAGE,
			   .name = path,
			   .time_ns = UINT64_MAX / 2};

	if (id)
		r.build_id = *id;
	procs_apply(&w.procs, &r);
}

static void begin(enum owner_split split)
{
	profile_init(&w.profile);
	images_init(&w.images, &w.profile, no_file, NULL);
	procs_init(&w.procs, &w.profile, &w.images, 1);
	w.procs.split = split;
	kernel_map_init(&w.kernel, &w.profile);
	for (unsigned i = 0; i < 2; i++)
		w.events[i] = profile_intern_event(
			&w.profile,
			&(struct event){.name = profile_intern_str(&w.profile, i ? "one" : "zero"),
					.period = 1});
	fold_init(&w.fold, &w.profile, &w.procs, &w.images, &w.kernel, w.events);
	kernel_map_add(&w.kernel,
		       &(struct kernel_range){.start = KERNEL,
					      .end = KERNEL + 100 * PAGE,
					      .svma = KERNEL,
					      .image = {.kind = IMAGE_KERNEL, .path = "[kernel]"}});
	procs_add_task(&w.procs,
		       &(struct task_record){.tgid = PID, .comm = "prog", .n_threads = 1});
	map(PID, CODE, 100 * PAGE, NULL, "/nonexistent/prog");
}

static void end(void)
{
	fold_release(&w.fold);
	kernel_map_release(&w.kernel);
	procs_release(&w.procs);
	images_release(&w.images);
	profile_check(&w.profile);
	profile_release(&w.profile);
}

static void add(uint64_t ip, uint32_t pid, uint32_t tid, uint32_t event, unsigned n)
{
	while (n--)
		fold_add(&w.fold,
			 &(struct log_sample){.ip = ip, .tgid = pid, .tid = tid, .event = event});
}

/* Samples of the event at that stated address of the image of that path. */
static uint64_t count_at(const char *path, uint64_t svma, event_id event)
{
	uint64_t n = 0;

	vec_each (v, &w.profile.values) {
		const struct place *place = profile_leaf(&w.profile, v->ctx);

		if (place->svma == svma && v->event == event &&
		    strcmp(w.profile.images.v[place->image].path, path) == 0)
			n += v->count;
	}
	return n;
}

TEST(each_where_it_belongs)
{
	begin(OWNER_GROUP);
	add(CODE + 5, PID, PID, 0, 3);
	add(CODE + 5, PID, PID + 1, 1, 2); /* another thread, another event */
	add(KERNEL + 8, PID, PID, 0, 4);
	fold_flush(&w.fold);
	add(CODE + 5, PID, PID, 0, 10);
	fold_flush(&w.fold);
	fold_flush(&w.fold);
	/* A file that could not be read: file offsets stand for addresses. */
	EXPECT_EQ(count_at("/nonexistent/prog", PAGE + 5, w.events[0]), 13);
	EXPECT_EQ(count_at("/nonexistent/prog", PAGE + 5, w.events[1]), 2);
	EXPECT_EQ(count_at("[kernel]", KERNEL + 8, w.events[0]), 4);
	EXPECT_EQ(w.fold.n_samples[0], 17);
	EXPECT_EQ(w.fold.n_samples[1], 2);
	EXPECT_EQ(w.fold.n_unknown, 0);
	EXPECT_EQ(w.profile.values.n, 3);
	end();
}

TEST(what_nobody_knows_is_named_so)
{
	begin(OWNER_GROUP);
	add(CODE + 100 * PAGE, PID, PID, 0, 2); /* right behind the mapping */
	add(CODE + 5, PID + 1, PID + 1, 0, 3);	/* no such process */
	add(KERNEL - 1, PID, PID, 0, 4);	/* no such kernel code */
	fold_flush(&w.fold);
	EXPECT_EQ(w.fold.n_unknown, 9);
	EXPECT_EQ(w.fold.n_samples[0], 9);
	EXPECT_EQ(count_at("[unknown]", CODE + 100 * PAGE, w.events[0]), 2);
	EXPECT_EQ(count_at("[unknown]", CODE + 5, w.events[0]), 3);
	EXPECT_EQ(count_at("[unknown]", KERNEL - 1, w.events[0]), 4);
	vec_each (v, &w.profile.values)
		if (profile_leaf(&w.profile, v->ctx)->svma == CODE + 5)
			EXPECT_EQ(v->owner, 0);
	end();
}

TEST(threads_are_kept_apart_when_asked)
{
	begin(OWNER_TID);
	add(CODE + 5, PID, PID, 0, 3);
	add(CODE + 5, PID, PID + 1, 0, 4);
	fold_flush(&w.fold);
	REQUIRE(w.profile.values.n == 2);
	EXPECT(w.profile.values.v[0].owner != w.profile.values.v[1].owner);
	EXPECT_EQ(w.profile.values.v[0].count + w.profile.values.v[1].count, 7);
	end();
}

/* More distinct addresses than the table holds, in random order, with a naive count beside. */
TEST(counts_are_conserved_when_the_table_overflows)
{
	enum { N = 100 * 0x1000 };
	static uint32_t naive[N];
	struct t_rng rng = {.s = 17};
	uint64_t total = 0, found = 0;

	memset(naive, 0, sizeof(naive));
	begin(OWNER_GROUP);
	for (unsigned i = 0; i < 60000; i++) {
		/* Half of them in a hot spot, half anywhere. */
		uint32_t at = (uint32_t)t_below(&rng, i % 2 ? 50 : N);

		add(CODE + at, PID, PID, 0, 1);
		naive[at]++;
		total++;
	}
	EXPECT(w.fold.n_samples[0] > 0); /* the table was emptied on the way */
	fold_flush(&w.fold);
	EXPECT_EQ(w.fold.n_samples[0], total);
	EXPECT_EQ(profile_n_samples(&w.profile, w.events[0]), total);
	vec_each (v, &w.profile.values) {
		uint64_t at = profile_leaf(&w.profile, v->ctx)->svma - PAGE;

		REQUIRE(at < N);
		EXPECT_EQ(v->count, naive[at]);
		found++;
	}
	for (unsigned i = 0; i < N; i++)
		found -= naive[i] > 0;
	EXPECT_EQ(found, 0);
	end();
}

TEST(spilled_samples_are_found_by_build_id)
{
	struct build_id id = {.n_bytes = BUILD_ID_MAX, .bytes = {9, 8, 7}};
	struct spill_slot s = {.event_used = 1 + 1, .off = 0x234, .count = 5};

	begin(OWNER_GROUP);
	map(PID, CODE + 200 * PAGE, PAGE, &id, "/nonexistent/lib");
	memcpy(s.build_id, id.bytes, sizeof(s.build_id));
	fold_add_spilled(&w.fold, &s);
	EXPECT_EQ(count_at("/nonexistent/lib", 0x234, w.events[1]), 5);

	s = (struct spill_slot){.event_used = 1, .off = KERNEL + 4, .count = 6};
	fold_add_spilled(&w.fold, &s);
	EXPECT_EQ(count_at("[kernel]", KERNEL + 4, w.events[0]), 6);
	EXPECT_EQ(w.fold.n_unknown, 0);

	s.off = 0x1234; /* a user address of nobody knows whom */
	fold_add_spilled(&w.fold, &s);
	EXPECT_EQ(w.fold.n_unknown, 6);
	EXPECT_EQ(w.fold.n_samples[0], 12);
	EXPECT_EQ(w.fold.n_samples[1], 5);
	end();
}
