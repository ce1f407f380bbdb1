/* SPDX-License-Identifier: BSD-2-Clause */
/* Jitdumps and perf maps beside what perf recorded: which are believed, and what they name when. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"
#include "jitdumps.h"
#include "port/perf_world.h"
#include "resolve/elf_probe.h"
#include "t.h"

#define S      1000000000ull
#define SHARED 0x7f0000001000ull /* an address that two procedures have, one after another */

struct setup {
	struct profile p;
	struct perfdata pd;
	struct perfdata_event event;
	struct perf_world w;
	struct utsname host;
	char dir[40], cache[60];
	char *path; /* of a dump, or a map */
};

static int find_nothing(void *ctx, const struct image_ref *ref, const char *path)
{
	return -1;
}

static void begin(struct setup *s)
{
	*s = (struct setup){0};
	snprintf(s->dir, sizeof(s->dir), "/tmp/dwell-jit-XXXXXX");
	EXPECT(mkdtemp(s->dir) != NULL);
	snprintf(s->cache, sizeof(s->cache), "%s/cache", s->dir);
	uname(&s->host);
	s->pd.host = s->host.nodename;
	s->pd.events.v = &s->event;
	s->pd.events.n = 1;
	s->event.attr.flags = 1ull << PERFDATA_A_USE_CLOCKID;
	s->event.attr.clockid = CLOCK_MONOTONIC;
	profile_init(&s->p);
	perf_world_init(&s->w, &s->p, &s->pd, OWNER_PID, find_nothing, NULL, elf_probe);
	s->w.jits.wanted = true;
}

static void end(struct setup *s)
{
	char *command = xasprintf("rm -rf %s", s->dir);

	if (s->path)
		unlink(s->path);
	EXPECT_EQ(system(command), 0);
	free(command);
	free(s->path);
	perf_world_release(&s->w);
	profile_release(&s->p);
}

static void write_file(const char *path, const void *bytes, size_t n)
{
	FILE *f = fopen(path, "w");

	EXPECT(f && fwrite(bytes, 1, n, f) == n);
	if (f)
		fclose(f);
}

static void map_memory(struct setup *s, uint32_t pid, const char *path, const struct stat *st)
{
	struct perfdata_record r = {.head = {.type = PERFDATA_MMAP2, .misc = PERFDATA_MODE_USER}};

	r.mmap.pid = r.mmap.tid = pid;
	r.mmap.addr = path[1] == '/' ? 0x7f0000000000 : 0x600000;
	r.mmap.n_bytes = path[1] == '/' ? 1 << 20 : 4096;
	r.mmap.path = path;
	if (st) {
		r.mmap.maj = major(st->st_dev);
		r.mmap.min = minor(st->st_dev);
		r.mmap.ino = st->st_ino;
	}
	perf_world_apply(&s->w, &r);
}

static place_id place(struct setup *s, uint32_t pid, uint64_t time, uint64_t ip)
{
	uint32_t proc = perf_world_thread(&s->w, pid, pid)->proc;

	perf_world_at(&s->w, proc, time);
	return perf_world_place(&s->w, proc, PERFDATA_MODE_USER, ip, 0);
}

/* AT is in an image called IMAGE, and whoever reads what was saved finds it called NAME. */
static void expect_name(struct setup *s, place_id at, const char *image, const char *name)
{
	const struct resolver_opts o = {.cache_dir = s->cache, .no_save = true};
	const struct place *pl = &s->p.places.v[at];
	const struct image *im = &s->p.images.v[pl->image];
	struct resolver *r = resolver_new(&o);
	struct procedure found;

	EXPECT_STR(im->path, image);
	EXPECT_STR(resolver_find(r, im, pl->svma, &found) ? found.name : "?", name);
	resolver_free(r);
}

static void save(struct setup *s)
{
	const struct resolver_opts o = {.cache_dir = s->cache};
	struct resolver *r = resolver_new(&o);

	mkdir(s->cache, 0700);
	perf_jits_save(&s->w.jits, r);
	resolver_free(r);
}

/* A dump by which SHARED is `first` from second 2 on, and `second` from second 30 on. */
static void write_dump(struct setup *s)
{
	struct wr w = {0};

	jd_header(&w);
	jd_time = 2 * S;
	jd_load(&w, SHARED, 64, "first");
	jd_load(&w, SHARED + 4096, 64, "steady");
	jd_time = 30 * S;
	jd_load(&w, SHARED, 64, "second");
	s->path = xasprintf("%s/jit-10.dump", s->dir);
	write_file(s->path, w.v, w.n);
	wr_release(&w);
}

TEST(dump_by_time)
{
	place_id first, second, before, steady[2];
	struct setup s;
	struct stat st;

	begin(&s);
	write_dump(&s);
	REQUIRE(stat(s.path, &st) == 0);
	map_memory(&s, 10, "/usr/bin/node", NULL);
	map_memory(&s, 10, "//anon", NULL);
	map_memory(&s, 10, s.path, &st);
	before = place(&s, 10, 1 * S, SHARED);
	first = place(&s, 10, 3 * S, SHARED);
	steady[0] = place(&s, 10, 3 * S, SHARED + 4096);
	/* More than ten seconds before it is replaced it is still the first. */
	EXPECT_EQ(place(&s, 10, 15 * S, SHARED), first);
	EXPECT_EQ(place(&s, 10, 30 * S - 1, SHARED), first);
	second = place(&s, 10, 30 * S, SHARED);
	steady[1] = place(&s, 10, 31 * S, SHARED + 4096);
	/* A time before is past. */
	EXPECT_EQ(place(&s, 10, 3 * S, SHARED), second);
	save(&s);
	expect_name(&s, before, "[jit] node", "first");
	expect_name(&s, first, "[jit] node", "first");
	expect_name(&s, second, "[jit] node", "second");
	expect_name(&s, steady[0], "[jit] node", "steady");
	EXPECT_EQ(steady[0], steady[1]);
	expect_name(&s, place(&s, 10, 31 * S, SHARED + 8192), "[jit] node", "?");
	end(&s);
}

/* A process that forks has the code of its parent; where the samples' clock is another one the last
 * code counts. */
TEST(dump_without_time)
{
	struct perfdata_record fork = {.head = {.type = PERFDATA_FORK}};
	place_id parent, child;
	struct setup s;
	struct stat st;

	begin(&s);
	s.event.attr.flags = 0;
	write_dump(&s);
	REQUIRE(stat(s.path, &st) == 0);
	map_memory(&s, 10, "/usr/bin/node", NULL);
	map_memory(&s, 10, "//anon", NULL);
	map_memory(&s, 10, s.path, &st);
	fork.task.pid = fork.task.tid = 11;
	fork.task.ppid = fork.task.ptid = 10;
	perf_world_apply(&s.w, &fork);
	parent = place(&s, 10, 3 * S, SHARED);
	child = place(&s, 11, 3 * S, SHARED);
	EXPECT_EQ(parent, child);
	save(&s);
	expect_name(&s, child, "[jit] node", "second");
	end(&s);
}

TEST(dump_that_is_another_file)
{
	struct setup s;
	struct stat st;

	begin(&s);
	write_dump(&s);
	REQUIRE(stat(s.path, &st) == 0);
	st.st_ino++;
	map_memory(&s, 10, "//anon", NULL);
	map_memory(&s, 10, s.path, &st);
	expect_name(&s, place(&s, 10, 3 * S, SHARED), "[anon] ", "?");
	/* A file with that inode that is no dump. */
	write_file(s.path, "0123456789012345678901234567890123456789", 40);
	st.st_ino--;
	map_memory(&s, 10, s.path, &st);
	expect_name(&s, place(&s, 10, 4 * S, SHARED), "[anon] ", "?");
	end(&s);
}

static void write_map(struct setup *s, const char *dir, uint32_t pid)
{
	const char *text = "7f0000001000 40 old\n7f0000001000 40 hot\n7f0000002000 20 cold\n";

	s->path = xasprintf("%s/perf-%u.map", dir, pid);
	write_file(s->path, text, strlen(text));
}

TEST(map_below_symfs)
{
	place_id hot, cold;
	struct setup s;
	char dir[60];

	begin(&s);
	snprintf(dir, sizeof(dir), "%s/tmp", s.dir);
	REQUIRE(mkdir(dir, 0700) == 0);
	write_map(&s, dir, 10);
	s.w.jits.symfs = s.dir;
	s.pd.host = NULL;
	map_memory(&s, 10, "//anon", NULL);
	map_memory(&s, 11, "//anon", NULL);
	hot = place(&s, 10, 0, SHARED);
	cold = place(&s, 10, 0, SHARED + 4096 + 8);
	save(&s);
	expect_name(&s, hot, "[jit] ", "hot");
	expect_name(&s, cold, "[jit] ", "cold");
	/* The other process has none. */
	expect_name(&s, place(&s, 11, 0, SHARED), "[anon] ", "?");
	end(&s);
}

/* In /tmp a map is believed when it may be of this process; the pid is larger than any. */
TEST(map_of_this_machine)
{
	const uint32_t pid = 1u << 30 | (uint32_t)getpid();
	const struct perf_jit_query q = {.pid = pid, .name = "made-up"},
				    begun = {.pid = pid, .name = "made-up", .begin_ns = 100 * S};
	struct timespec old[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};
	char other[] = "another.host";
	struct setup s;
	struct stat st;
	uint64_t now;

	begin(&s);
	write_map(&s, "/tmp", pid);
	REQUIRE(stat(s.path, &st) == 0);
	now = (uint64_t)st.st_mtim.tv_sec * S;
	EXPECT_EQ(perf_jits_find(&s.w.jits, &q), 1);
	EXPECT_EQ(perf_jits_find(&s.w.jits, &q), 1);
	s.pd.host = other;
	EXPECT_EQ(perf_jits_find(&s.w.jits, &q), 0);
	s.pd.host = NULL;
	EXPECT_EQ(perf_jits_find(&s.w.jits, &q), 0);
	s.pd.host = s.host.nodename;
	/* A process that began long after the map was written. */
	s.pd.has_clock = true;
	s.pd.wall_ns = now;
	s.pd.clock_ns = 99 * S;
	EXPECT_EQ(perf_jits_find(&s.w.jits, &begun), 1);
	s.pd.clock_ns = 50 * S;
	EXPECT_EQ(perf_jits_find(&s.w.jits, &begun), 0);
	EXPECT_EQ(perf_jits_find(&s.w.jits, &q), 1);
	/* A recording that was over before the map was made. */
	s.w.jits.written_ns = now + 2 * S;
	EXPECT_EQ(perf_jits_find(&s.w.jits, &q), 1);
	s.w.jits.written_ns = now - 3 * S;
	EXPECT_EQ(perf_jits_find(&s.w.jits, &q), 0);
	s.w.jits.written_ns = 0;
	/* Somebody else's, and one from before the machine began to run. */
	EXPECT_EQ(chown(s.path, 12345, 12345), 0);
	EXPECT_EQ(perf_jits_find(&s.w.jits, &q), 0);
	EXPECT_EQ(chown(s.path, 0, 0), 0);
	utimensat(AT_FDCWD, s.path, old, 0);
	EXPECT_EQ(perf_jits_find(&s.w.jits, &q), 0);
	end(&s);
}

TEST(nothing_unless_wanted)
{
	struct setup s;

	begin(&s);
	s.w.jits.wanted = false;
	s.w.jits.symfs = s.dir;
	map_memory(&s, 10, "//anon", NULL);
	expect_name(&s, place(&s, 10, 0, SHARED), "[anon] ", "?");
	end(&s);
}
