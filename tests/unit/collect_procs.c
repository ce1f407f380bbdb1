/* SPDX-License-Identifier: BSD-2-Clause */
/* Who runs: lives of processes, built from records only.  The pids are too large to exist, so that
 * nothing is found out from /proc. */
#include "machine/procs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/bpf/record.h"
#include "procs_t.h"
#include "t.h"

#define PID  4194000u /* below LOG_PID_BITS, above any default kernel.pid_max */
#define PAGE 0x1000ull
#define CODE 0x400000ull

/* One unit of the generation's clock, a little over a millisecond. */
#define TICK (1ull << 20)

static void fork_at(uint32_t pid, uint32_t ppid, uint32_t tid, uint64_t time_ns)
{
	procs_apply(&w.procs, &(struct perf_record){.kind = RECORD_FORK,
						    .pid = pid,
						    .ppid = ppid,
						    .tid = tid,
						    .time_ns = time_ns,
						    .name = ""});
}

static void exit_at(uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	procs_apply(&w.procs, &(struct perf_record){.kind = RECORD_EXIT,
						    .pid = pid,
						    .tid = tid,
						    .time_ns = time_ns,
						    .name = ""});
}

static void comm_at(uint32_t pid, const char *name, bool exec, uint64_t time_ns)
{
	procs_apply(&w.procs, &(struct perf_record){.kind = RECORD_COMM,
						    .pid = pid,
						    .tid = pid,
						    .exec = exec,
						    .name = name,
						    .time_ns = time_ns});
}

static void map(uint32_t pid, uint64_t start, uint64_t n_bytes, uint64_t off, const char *path)
{
	procs_apply(&w.procs, &(struct perf_record){.kind = RECORD_MMAP,
						    .pid = pid,
						    .tid = pid,
						    .addr = start,
						    .n_bytes = n_bytes,
						    .off = off,
						    .name = path,
						    .ino = 1,
						    .time_ns = UINT64_MAX / 2});
}

/* A process the kernel's list told of. */
static void add_task(uint32_t pid, uint64_t start_ns, uint64_t exec_id)
{
	procs_add_task(&w.procs, &(struct task_record){.tgid = pid,
						       .start_ns = start_ns,
						       .exec_id = exec_id,
						       .comm = "task",
						       .n_threads = 1});
}

static const char *path_at(uint32_t proc, uint64_t avma)
{
	const struct mapping *m = procs_find_mapping(&w.procs, proc, avma);

	return m ? profile_str(&w.profile, w.images.codes.v[m->code].path) : "none";
}

TEST(fork_shares_mappings_until_one_side_changes_them)
{
	uint32_t parent, child;

	begin();
	add_task(PID, 0, 3);
	map(PID, CODE, PAGE, 0, "/nonexistent/parent");
	fork_at(PID + 1, PID, PID + 1, 10 * TICK);
	parent = procs_current(&w.procs, PID);
	child = procs_current(&w.procs, PID + 1);
	REQUIRE(parent != PROC_NONE && child != PROC_NONE);
	EXPECT(w.procs.v.v[parent].maps == w.procs.v.v[child].maps);
	EXPECT_STR(path_at(child, CODE + 5), "/nonexistent/parent");

	map(PID + 1, CODE, PAGE, 0, "/nonexistent/child");
	EXPECT(w.procs.v.v[parent].maps != w.procs.v.v[child].maps);
	EXPECT_STR(path_at(child, CODE + 5), "/nonexistent/child");
	EXPECT_STR(path_at(parent, CODE + 5), "/nonexistent/parent");

	fork_at(PID + 2, PID, PID + 2, 11 * TICK);
	map(PID, CODE + PAGE, PAGE, 0, "/nonexistent/late");
	EXPECT_STR(path_at(procs_current(&w.procs, PID), CODE + PAGE), "/nonexistent/late");
	EXPECT_STR(path_at(procs_current(&w.procs, PID + 2), CODE + PAGE), "none");
	EXPECT_STR(path_at(procs_current(&w.procs, PID + 2), CODE), "/nonexistent/parent");
	end();
}

/* This very process, which maps a page of its own program's file anew: unseen by records. */
static uint64_t map_unseen(void)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	void *p = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	EXPECT(fd >= 0 && p != MAP_FAILED);
	close(fd);
	return (uintptr_t)p;
}

TEST(mappings_are_read_anew_after_records_were_lost)
{
	uint32_t self;
	uint64_t unseen;

	begin();
	REQUIRE(procs_scan_one(&w.procs, (uint32_t)getpid()));
	self = procs_current(&w.procs, (uint32_t)getpid());
	unseen = map_unseen();
	EXPECT_STR(path_at(self, unseen), "none");
	procs_note_lost(&w.procs);
	EXPECT(strcmp(path_at(self, unseen), "none") != 0);
	/* Once for each loss, and only where nothing is known. */
	unseen = map_unseen();
	EXPECT_STR(path_at(self, unseen), "none");
	procs_end_cycle(&w.procs);
	EXPECT_STR(path_at(self, unseen), "none");
	procs_note_lost(&w.procs);
	EXPECT(strcmp(path_at(self, unseen), "none") != 0);
	end();
}

TEST(labels_stay_when_records_are_lost)
{
	const uint32_t self = (uint32_t)getpid();
	uint32_t child, i;

	begin();
	REQUIRE(procs_scan_one(&w.procs, self) && procs_set_label(&w.procs, self, "job"));
	child = (uint32_t)fork();
	if (child == 0)
		for (;;)
			pause();
	i = procs_look_up(&w.procs, child, 0); /* nobody told of it */
	EXPECT(i != PROC_NONE);
	EXPECT_STR(profile_str(&w.profile, w.procs.v.v[i].label), "job");
	procs_scan_one(&w.procs, self);
	EXPECT_STR(profile_str(&w.profile, w.procs.v.v[procs_current(&w.procs, self)].label),
		   "job");
	kill((pid_t)child, SIGKILL);
	waitpid((pid_t)child, NULL, 0);
	end();
}

TEST(another_program_that_has_the_pid_now_is_not_read)
{
	uint32_t self;

	begin();
	add_task((uint32_t)getpid(), 0, 1);
	self = procs_current(&w.procs, (uint32_t)getpid());
	maps_unref(w.procs.v.v[self].maps);
	w.procs.v.v[self].maps = NULL;
	map((uint32_t)getpid(), CODE, PAGE, 0, "/nonexistent/other");
	procs_note_lost(&w.procs);
	EXPECT_STR(path_at(self, map_unseen()), "none");
	EXPECT_STR(path_at(self, CODE), "/nonexistent/other");
	end();
}

TEST(only_so_many_mappings_are_kept)
{
	enum { N = 70000 };
	uint32_t self;

	begin();
	add_task(PID, 0, 3);
	for (uint64_t i = 0; i < N; i++)
		map(PID, CODE + i * 2 * PAGE, PAGE, 0, "/nonexistent/many");
	self = procs_current(&w.procs, PID);
	EXPECT_EQ(w.procs.v.v[self].maps->v.n + w.procs.n_left_out, N);
	EXPECT(w.procs.n_left_out > 0);
	/* There is a limit for all processes together: each of these has its mappings for
	 * itself. */
	for (uint32_t i = 1; i <= 20; i++) {
		fork_at(PID + i, PID, PID + i, 10 * TICK);
		map(PID + i, CODE, PAGE, PAGE, "/nonexistent/own");
	}
	procs_end_cycle(&w.procs);
	for (uint32_t i = 1; i <= 20; i++)
		map(PID + i, CODE, PAGE, 2 * PAGE, "/nonexistent/more");
	size_t n = 0;
	vec_each (p, &w.procs.v)
		n += p->maps && p->maps->n_refs == 1 ? p->maps->v.n : 0;
	EXPECT(n < (1u << 19) + 70000);
	end();
}

TEST(exec_forgets_the_mappings_and_is_another_life)
{
	uint32_t before, after;

	begin();
	add_task(PID, 5 * TICK, 3);
	map(PID, CODE, PAGE, 0, "/nonexistent/old");
	comm_at(PID, "new", true, 9 * TICK);
	EXPECT_STR(path_at(procs_current(&w.procs, PID), CODE), "none");
	map(PID, CODE, PAGE, 0, "/nonexistent/new");

	before = procs_find(&w.procs, PID, GENERATION(5 * TICK, 3));
	after = procs_find(&w.procs, PID, GENERATION(5 * TICK, 4));
	REQUIRE(before != PROC_NONE && after != PROC_NONE);
	EXPECT_STR(path_at(before, CODE), "/nonexistent/old");
	EXPECT_STR(path_at(after, CODE), "/nonexistent/new");
	EXPECT_STR(profile_str(&w.profile, w.procs.v.v[after].exe), "/nonexistent/new");
	EXPECT_STR(profile_str(&w.profile, w.procs.v.v[after].comm), "new");
	EXPECT_EQ(procs_find(&w.procs, PID, GENERATION(5 * TICK, 5)), PROC_NONE);
	end();
}

TEST(exec_counts_wrap_at_256)
{
	begin();
	add_task(PID, 0, 254);
	comm_at(PID, "a", true, TICK);
	comm_at(PID, "b", true, 2 * TICK);
	EXPECT_STR(profile_str(&w.profile,
			       w.procs.v.v[procs_find(&w.procs, PID, GENERATION(0, 256))].comm),
		   "b");
	end();
}

/* One pid with one number of execs occurs twice within a cycle: only the start differs. */
TEST(a_reused_pid_is_another_process)
{
	uint32_t a, b;

	begin();
	add_task(PID, 0, 3);
	fork_at(PID + 1, PID, PID + 1, 100 * TICK);
	comm_at(PID + 1, "a", true, 101 * TICK);
	map(PID + 1, CODE, PAGE, 0, "/nonexistent/a");
	exit_at(PID + 1, PID + 1, 110 * TICK);
	fork_at(PID + 1, PID, PID + 1, 130 * TICK);
	comm_at(PID + 1, "b", true, 131 * TICK);
	map(PID + 1, CODE, PAGE, 0, "/nonexistent/b");

	/* The kernel's start time is a little before the FORK record's. */
	a = procs_find(&w.procs, PID + 1, GENERATION(100 * TICK - 300000, 4));
	b = procs_find(&w.procs, PID + 1, GENERATION(130 * TICK - 300000, 4));
	REQUIRE(a != PROC_NONE && b != PROC_NONE);
	EXPECT_STR(path_at(a, CODE), "/nonexistent/a");
	EXPECT_STR(path_at(b, CODE), "/nonexistent/b");
	end();
}

TEST(ended_lives_stay_for_one_whole_cycle)
{
	const uint32_t generation = GENERATION(50 * TICK, 3);

	begin();
	add_task(PID, 0, 3);
	fork_at(PID + 1, PID, PID + 1, 50 * TICK);
	exit_at(PID + 1, PID + 1, 60 * TICK);
	EXPECT(procs_find(&w.procs, PID + 1, generation) != PROC_NONE);
	procs_end_cycle(&w.procs);
	EXPECT(procs_find(&w.procs, PID + 1, generation) != PROC_NONE);
	procs_end_cycle(&w.procs);
	EXPECT_EQ(procs_find(&w.procs, PID + 1, generation), PROC_NONE);
	EXPECT_EQ(procs_current(&w.procs, PID + 1), PROC_NONE);
	EXPECT(procs_find(&w.procs, PID, GENERATION(0, 3)) != PROC_NONE);
	end();
}

TEST(a_process_lives_until_its_last_thread_ends)
{
	begin();
	add_task(PID, 0, 3);
	fork_at(PID, PID, PID + 1, TICK);
	fork_at(PID, PID, PID + 2, TICK);
	exit_at(PID, PID, 2 * TICK); /* the leader may go first */
	exit_at(PID, PID + 2, 3 * TICK);
	for (unsigned i = 0; i < 3; i++)
		procs_end_cycle(&w.procs);
	EXPECT(procs_find(&w.procs, PID, GENERATION(0, 3)) != PROC_NONE);
	exit_at(PID, PID + 1, 4 * TICK);
	procs_end_cycle(&w.procs);
	procs_end_cycle(&w.procs);
	EXPECT_EQ(procs_find(&w.procs, PID, GENERATION(0, 3)), PROC_NONE);
	end();
}

/* The list of processes is read after the rings began to fill: what a ring says of a process up to
 * the moment it was read has already been seen. */
TEST(records_older_than_what_the_list_said_change_nothing)
{
	uint32_t i;

	begin();
	add_task(PID, 0, 4);
	i = procs_current(&w.procs, PID);
	w.procs.v.v[i].since_ns = 100 * TICK;
	comm_at(PID, "seen", true, 90 * TICK);
	fork_at(PID, PID, PID + 1, 91 * TICK);
	exit_at(PID, PID + 1, 92 * TICK);
	exit_at(PID, PID + 2, 93 * TICK);
	EXPECT_EQ(procs_current(&w.procs, PID), i);
	EXPECT_EQ(procs_find(&w.procs, PID, GENERATION(0, 4)), i);
	EXPECT_EQ(w.procs.v.v[i].ended, 0);
	EXPECT_EQ(w.procs.v.v[i].n_threads, 1);
	comm_at(PID, "later", true, 101 * TICK);
	EXPECT(procs_find(&w.procs, PID, GENERATION(0, 5)) != PROC_NONE);
	/* A child begun since then is told of by its own records. */
	fork_at(PID + 1, PID, PID + 1, 102 * TICK);
	exit_at(PID + 1, PID + 1, 103 * TICK);
	EXPECT(w.procs.v.v[procs_current(&w.procs, PID + 1)].ended);
	end();
}

TEST(a_new_name_is_a_new_owner)
{
	owner_id first, second;
	uint32_t i;

	begin();
	add_task(PID, 0, 3);
	i = procs_current(&w.procs, PID);
	first = procs_owner(&w.procs, i, PID);
	EXPECT_EQ(procs_owner(&w.procs, i, PID), first);
	comm_at(PID, "renamed", false, TICK);
	second = procs_owner(&w.procs, i, PID);
	EXPECT(second != first);
	EXPECT_STR(profile_str(&w.profile, w.profile.owners.v[second].comm), "renamed");
	/* A thread's name is not its process's. */
	procs_apply(&w.procs, &(struct perf_record){.kind = RECORD_COMM,
						    .pid = PID,
						    .tid = PID + 1,
						    .name = "worker",
						    .time_ns = 2 * TICK});
	EXPECT_EQ(procs_owner(&w.procs, i, PID), second);
	end();
}

static const char *name_of(uint32_t tid)
{
	owner_id o = procs_owner(&w.procs, procs_current(&w.procs, PID), tid);

	return profile_str(&w.profile, w.profile.owners.v[o].thread_name);
}

TEST(threads_have_names)
{
	begin();
	w.procs.split = OWNER_TID;
	add_task(PID, 0, 3);
	comm_at(PID, "main", false, TICK);
	fork_at(PID, PID, PID + 1, TICK);
	procs_apply(&w.procs, &(struct perf_record){.kind = RECORD_COMM,
						    .pid = PID,
						    .tid = PID + 1,
						    .name = "worker",
						    .time_ns = 2 * TICK});
	fork_at(PID, PID, PID + 2, 2 * TICK);
	EXPECT_STR(name_of(PID), "");
	EXPECT_STR(name_of(PID + 1), "worker");
	EXPECT_STR(name_of(PID + 2), ""); /* that of its process */
	exit_at(PID, PID + 1, 3 * TICK);
	EXPECT_STR(name_of(PID + 1), "worker"); /* its last samples come behind its end */
	fork_at(PID, PID, PID + 1, 4 * TICK);	/* another thread of the same number */
	EXPECT_STR(name_of(PID + 1), "");
	comm_at(PID, "other", false, 5 * TICK); /* the main thread alone */
	EXPECT_STR(name_of(PID), "");
	EXPECT_STR(name_of(PID + 2), "main");
	end();
}

TEST(owners_are_kept_apart_as_asked)
{
	uint32_t i, k;

	begin();
	add_task(PID, 0, 3);
	add_task(PID + 1, 0, 3);
	i = procs_current(&w.procs, PID);
	k = procs_current(&w.procs, PID + 1);
	EXPECT_EQ(procs_owner(&w.procs, i, 1), procs_owner(&w.procs, k, 1));
	end();

	begin();
	w.procs.split = OWNER_PID;
	add_task(PID, 0, 3);
	add_task(PID + 1, 0, 3);
	i = procs_current(&w.procs, PID);
	k = procs_current(&w.procs, PID + 1);
	EXPECT(procs_owner(&w.procs, i, 1) != procs_owner(&w.procs, k, 1));
	EXPECT_EQ(procs_owner(&w.procs, i, 1), procs_owner(&w.procs, i, 2));
	end();

	begin();
	w.procs.split = OWNER_TID;
	add_task(PID, 0, 3);
	i = procs_current(&w.procs, PID);
	EXPECT(procs_owner(&w.procs, i, 1) != procs_owner(&w.procs, i, 2));
	EXPECT_EQ(procs_owner(&w.procs, i, 1), procs_owner(&w.procs, i, 1));
	end();
}

TEST(anonymous_code_is_named_after_its_process)
{
	image_id im;

	begin();
	add_task(PID, 0, 3);
	map(PID, CODE, PAGE, 0, "//anon");
	im = procs_anon_image(&w.procs, procs_current(&w.procs, PID));
	EXPECT_EQ(w.profile.images.v[im].kind, IMAGE_ANON);
	EXPECT_STR(w.profile.images.v[im].path, "[anon] task");
	end();
}

static uint64_t off_at(uint32_t proc, uint64_t avma)
{
	const struct mapping *m = procs_find_mapping(&w.procs, proc, avma);

	return m ? m->off + (avma - m->start) : UINT64_MAX;
}

/* `node --use-largepages=on` copies its text to nameless memory at the same addresses. */
TEST(moved_text_is_its_files)
{
	uint32_t p;

	begin();
	add_task(PID, 0, 3);
	p = procs_current(&w.procs, PID);
	/* As it happens: from the midst of the file's mapping. */
	map(PID, CODE, 8 * PAGE, PAGE, "/bin/node");
	map(PID, CODE + 2 * PAGE, 4 * PAGE, 0, "//anon");
	EXPECT_STR(path_at(p, CODE + 3 * PAGE), "/bin/node");
	EXPECT_EQ(off_at(p, CODE + 3 * PAGE), 4 * PAGE);
	/* As /proc tells it, upwards. */
	map(PID, 2 * CODE, 2 * PAGE, PAGE, "/bin/node");
	map(PID, 2 * CODE + 2 * PAGE, 4 * PAGE, 0, "");
	EXPECT_STR(path_at(p, 2 * CODE + 3 * PAGE), "");
	map(PID, 2 * CODE + 6 * PAGE, 2 * PAGE, 7 * PAGE, "/bin/node");
	EXPECT_STR(path_at(p, 2 * CODE + 3 * PAGE), "/bin/node");
	EXPECT_EQ(off_at(p, 2 * CODE + 3 * PAGE), 4 * PAGE);
	/* Beside a file, between two files, and between parts that do not belong together. */
	map(PID, 3 * CODE, 2 * PAGE, 0, "//anon");
	map(PID, 3 * CODE + 2 * PAGE, PAGE, 0, "/bin/node");
	map(PID, 3 * CODE + 3 * PAGE, PAGE, 0, "//anon");
	map(PID, 3 * CODE + 4 * PAGE, PAGE, 5 * PAGE, "/bin/node");
	map(PID, 3 * CODE + 5 * PAGE, PAGE, 0, "//anon");
	map(PID, 3 * CODE + 6 * PAGE, PAGE, 7 * PAGE, "/lib/x.so");
	for (uint64_t page = 1; page < 6; page += 2)
		EXPECT_STR(path_at(p, 3 * CODE + page * PAGE), "");
	end();
}

TEST(records_that_cannot_be_are_ignored)
{
	begin();
	fork_at(UINT32_MAX, PID, 1, 1);
	exit_at(UINT32_MAX, 1, 1);
	comm_at(1u << 22, "x", true, 1);
	map(PID, CODE, PAGE, 0, "/nonexistent/of-nobody");
	add_task(PID, 0, 3);
	map(PID, CODE, 0, 0, "/nonexistent/empty");
	map(PID, CODE, UINT64_MAX, 0, "/nonexistent/wraps");
	map(PID, 0xffffffffff600000ull, PAGE, 0, "[vsyscall]");
	EXPECT_STR(path_at(procs_current(&w.procs, PID), CODE), "none");
	exit_at(PID, PID, 2);
	exit_at(PID, PID, 3);
	end();
}

/* Mappings against a model that remembers what each page holds. */

#define N_PAGES 48

TEST(the_latest_mapping_wins_everywhere)
{
	struct t_rng rng = {.s = 5};

	for (unsigned n = t_cases(200); n; n--) {
		unsigned owner[N_PAGES] = {0};
		uint64_t off[N_PAGES] = {0};
		uint32_t proc;

		begin();
		add_task(PID, 0, 3);
		proc = procs_current(&w.procs, PID);
		for (unsigned k = 1, n_maps = 1 + (unsigned)t_below(&rng, 12); k <= n_maps; k++) {
			unsigned first = (unsigned)t_below(&rng, N_PAGES);
			unsigned last = first + 1 + (unsigned)t_below(&rng, N_PAGES - first);
			uint64_t at = t_below(&rng, 100) * PAGE;
			char path[40];

			snprintf(path, sizeof(path), "/nonexistent/%u", k);
			map(PID, CODE + first * PAGE, (last - first) * PAGE, at, path);
			for (unsigned i = first; i < last; i++) {
				owner[i] = k;
				off[i] = at + (i - first) * PAGE;
			}
		}
		for (unsigned i = 0; i < N_PAGES; i++) {
			uint64_t avma = CODE + i * PAGE + t_below(&rng, PAGE);
			const struct mapping *m = procs_find_mapping(&w.procs, proc, avma);
			char path[40];

			snprintf(path, sizeof(path), "/nonexistent/%u", owner[i]);
			EXPECT_STR(path_at(proc, avma), owner[i] ? path : "none");
			if (m)
				EXPECT_EQ(avma - m->start + m->off, off[i] + avma % PAGE);
		}
		for (size_t i = 0; i < w.procs.v.v[proc].maps->v.n; i++) {
			const struct mapping *m = &w.procs.v.v[proc].maps->v.v[i];

			EXPECT(m->start < m->end);
			EXPECT(!i || m[-1].end <= m->start);
		}
		end();
		REQUIRE(!t_failed);
	}
}

/* Thousands of short lives: the table stays as small as what is alive. */
TEST(short_lives_leave_nothing_behind)
{
	begin();
	add_task(PID, 0, 3);
	map(PID, CODE, PAGE, 0, "/nonexistent/shell");
	for (unsigned i = 0; i < 5000; i++) {
		uint32_t pid = PID + 1 + i % 100;

		fork_at(pid, PID, pid, i * TICK);
		comm_at(pid, "true", true, i * TICK);
		map(pid, CODE, PAGE, 0, "/nonexistent/true");
		exit_at(pid, pid, i * TICK + 1);
		if (i % 50 == 49)
			procs_end_cycle(&w.procs);
	}
	EXPECT(w.procs.v.n < 400);
	procs_end_cycle(&w.procs);
	procs_end_cycle(&w.procs);
	EXPECT_EQ(w.procs.v.v[procs_current(&w.procs, PID)].maps->n_refs, 1);
	end();
}
