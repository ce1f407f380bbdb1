/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses outside of files: who is asked, and what becomes of an answer that changes. */
#include "machine/frame_source.h"

#include <errno.h>

#include "collect/calls/chains.h"
#include "collect/fold.h"
#include "t.h"

#define PID  4194001u /* no such process, so that /proc tells nothing */
#define PAGE 0x1000ull
#define CODE 0x400000ull
#define ANON 0x7f0000000000ull

/* Knows the addresses [start, end), of code that is number `version` there. */
struct test_source {
	struct frame_source source;
	uint64_t start, end, version;
	image_id image;
	unsigned n_asked;
	struct frame_query last;
};

static struct {
	struct profile profile;
	struct images images;
	struct procs procs;
	struct kernel_map kernel;
	struct chains chains;
	struct fold fold;
	event_id event;
} w;

static bool find(struct frame_source *s, const struct frame_query *q, struct source_place *ret)
{
	struct test_source *t = (struct test_source *)s;

	t->n_asked++;
	t->last = *q;
	if (q->avma < t->start || q->avma >= t->end)
		return false;
	*ret = (struct source_place){t->image, q->avma + (t->version << 48)};
	return true;
}

static struct test_source test_source(const char *name, uint64_t start, uint64_t end)
{
	return (struct test_source){
		.source = {.find = find},
		.start = start,
		.end = end,
		.image = profile_intern_image(&w.profile,
					      &(struct image){.kind = IMAGE_JIT, .path = name}),
	};
}

static int no_file(int fd, struct image_layout *ret, struct err *err)
{
	return -EBADMSG;
}

static void tell(const struct perf_record *r)
{
	struct perf_record copy = *r;

	copy.pid = copy.pid ? copy.pid : PID;
	copy.tid = copy.tid ? copy.tid : copy.pid;
	copy.time_ns = UINT64_MAX / 2;
	procs_apply(&w.procs, &copy);
}

static void map(uint64_t start, const char *path)
{
	tell(&(struct perf_record){
		.kind = RECORD_MMAP, .addr = start, .n_bytes = PAGE, .name = path});
}

static void begin(void)
{
	profile_init(&w.profile);
	images_init(&w.images, &w.profile, no_file, NULL);
	procs_init(&w.procs, &w.profile, &w.images, 1);
	kernel_map_init(&w.kernel, &w.profile);
	w.event = profile_intern_event(
		&w.profile,
		&(struct event){.name = profile_intern_str(&w.profile, "e"), .period = 1});
	chains_init(&w.chains, &w.profile, &w.procs, &w.images, &w.kernel);
	fold_init(&w.fold, &w.profile, &w.procs, &w.images, &w.kernel, &w.event);
	w.fold.chains = &w.chains;
	procs_add_task(&w.procs,
		       &(struct task_record){.tgid = PID, .comm = "prog", .n_threads = 1});
	map(CODE, "/nonexistent/prog");
	map(ANON, "//anon");
}

static void end(void)
{
	fold_release(&w.fold);
	chains_release(&w.chains);
	kernel_map_release(&w.kernel);
	procs_release(&w.procs);
	images_release(&w.images);
	profile_check(&w.profile);
	profile_release(&w.profile);
}

static const char *find_path(uint64_t avma)
{
	uint32_t proc = procs_current(&w.procs, PID);
	struct source_place place;

	return frame_source_find(&w.procs, proc, avma, procs_find_mapping(&w.procs, proc, avma),
				 &place)
		       ? w.profile.images.v[place.image].path
		       : "";
}

TEST(the_last_one_added_is_asked_first)
{
	struct test_source a, b;

	begin();
	a = test_source("a", ANON, ANON + 32);
	b = test_source("b", ANON, ANON + 16);
	EXPECT_STR(find_path(ANON), "[anon] prog");
	frame_source_add(&w.procs, &a.source);
	frame_source_add(&w.procs, &b.source);
	w.procs.time_ns = 77;
	EXPECT_STR(find_path(ANON), "b");
	EXPECT_EQ(a.n_asked, 0);
	EXPECT_STR(find_path(ANON + 16), "a");
	EXPECT_STR(find_path(ANON + 32), "[anon] prog");
	EXPECT_EQ(a.n_asked, 2);
	EXPECT_EQ(b.n_asked, 3);
	EXPECT_EQ(b.last.avma, ANON + 32);
	EXPECT_EQ(b.last.time_ns, 77);
	EXPECT_EQ(b.last.map->start, ANON);
	end();
}

/* As an interpreter's code objects are. */
TEST(an_address_in_no_mapping)
{
	const uint64_t frames[] = {0x5000, CODE + 1};
	struct test_source objects;
	const struct ctx *leaf;

	begin();
	objects = test_source("script", 0x5000, 0x6000);
	EXPECT_STR(find_path(0x5000), "");
	frame_source_add(&w.procs, &objects.source);
	EXPECT_STR(find_path(0x5000), "script");
	EXPECT(objects.last.map == NULL);
	chains_add(&w.chains,
		   &(struct log_chain){.hash = 1, .tgid = PID, .n_frames = 2, .frames = frames});
	leaf = &w.profile.ctxs.v[chains_count(&w.chains, 1, 0)];
	EXPECT_EQ(w.profile.places.v[leaf->place].image, objects.image);
	EXPECT_STR(
		w.profile.images.v[w.profile.places.v[w.profile.ctxs.v[leaf->parent].place].image]
			.path,
		"/nonexistent/prog");
	end();
}

TEST(files_are_not_asked_for)
{
	struct test_source all;

	begin();
	all = test_source("all", 0, UINT64_MAX);
	frame_source_add(&w.procs, &all.source);
	fold_add(&w.fold, &(struct log_sample){.ip = CODE, .tgid = PID});
	EXPECT_EQ(all.n_asked, 0);
	fold_add(&w.fold, &(struct log_sample){.ip = ANON, .tgid = PID});
	fold_add(&w.fold, &(struct log_sample){.ip = 0x10, .tgid = PID});
	EXPECT_EQ(all.n_asked, 2);
	EXPECT_EQ(w.fold.n_unknown, 0);
	end();
}

/* A chain is sent once; its samples go where its code is when they come. */
TEST(a_call_path_follows_what_a_source_says)
{
	const uint64_t frames[] = {ANON + 4, CODE + 1};
	struct test_source s;
	ctx_id first, second;

	begin();
	s = test_source("s", ANON, ANON + PAGE);
	frame_source_add(&w.procs, &s.source);
	chains_add(&w.chains,
		   &(struct log_chain){.hash = 1, .tgid = PID, .n_frames = 2, .frames = frames});
	first = chains_count(&w.chains, 1, 0);
	EXPECT_EQ(profile_leaf(&w.profile, first)->svma, ANON + 4);
	s.version = 3;
	EXPECT_EQ(chains_count(&w.chains, 1, 0), first);
	w.procs.n_changes++;
	second = chains_count(&w.chains, 1, 0);
	EXPECT_EQ(profile_leaf(&w.profile, second)->svma, ANON + 4 + (3ull << 48));
	EXPECT_EQ(w.profile.ctxs.v[first].parent, w.profile.ctxs.v[second].parent);
	/* Nobody knows any more what a process that is gone had there. */
	tell(&(struct perf_record){.kind = RECORD_EXIT, .ppid = 1});
	for (int i = 0; i < 3; i++)
		procs_end_cycle(&w.procs);
	s.version = 4;
	w.procs.n_changes++;
	EXPECT_EQ(chains_count(&w.chains, 1, 0), second);
	EXPECT_EQ(w.chains.changing.n, 0);
	end();
}

static const char *dump_of(uint32_t pid)
{
	const struct proc *p = &w.procs.v.v[procs_current(&w.procs, pid)];

	return p->dump ? profile_str(&w.profile, w.images.codes.v[p->dump - 1].path) : "";
}

TEST(who_mapped_which_dump)
{
	begin();
	EXPECT_STR(dump_of(PID), "");
	map(0x10000, "/tmp/jit-.dump");
	map(0x10000, "/tmp/jit-12.dump.old");
	map(0x10000, "/tmp/myjit-12.dump");
	map(0x10000, "/tmp/jit-12x.dump");
	EXPECT_STR(dump_of(PID), "");
	map(0x20000, "/tmp/jit-1234.dump (deleted)");
	EXPECT_STR(dump_of(PID), "/tmp/jit-1234.dump");
	/* A child runs its parent's code. */
	tell(&(struct perf_record){.kind = RECORD_FORK, .pid = PID + 1, .ppid = PID});
	EXPECT_STR(dump_of(PID + 1), "/tmp/jit-1234.dump");
	tell(&(struct perf_record){
		.kind = RECORD_COMM, .pid = PID + 1, .exec = true, .name = "new"});
	EXPECT_STR(dump_of(PID + 1), "");
	EXPECT_STR(dump_of(PID), "/tmp/jit-1234.dump");
	end();
}
