/* SPDX-License-Identifier: BSD-2-Clause */
/* What /proc says of this very process, with file names that are hard to print. */
#include "machine/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t.h"

struct wanted {
	uint64_t start;
	unsigned n_found, n_maps;
	char path[512];
	uint64_t end, off, ino;
};

static void look(void *ctx, const struct procfs_map *m)
{
	struct wanted *w = ctx;

	w->n_maps++;
	if (m->start != w->start)
		return;
	w->n_found++;
	w->end = m->end;
	w->off = m->off;
	w->ino = m->ino;
	snprintf(w->path, sizeof(w->path), "%s", m->path);
}

/* Maps two pages of a file of that name, from its second page on; returns what /proc says. */
static struct wanted map_and_look(const char *name, int prot, bool delete)
{
	long page = sysconf(_SC_PAGESIZE);
	struct wanted w = {0};
	char dir[] = "/tmp/dwell-procfs-XXXXXX", path[256];
	struct stat st;
	void *p;
	int fd;

	if (!mkdtemp(dir))
		return w;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDWR | O_CREAT, 0755);
	if (fd < 0 || ftruncate(fd, 3 * page) < 0 || fstat(fd, &st) < 0)
		return w;
	p = mmap(NULL, 2 * (size_t)page, prot, MAP_PRIVATE, fd, page);
	if (delete)
		unlink(path);
	w.start = (uintptr_t)p;
	EXPECT_EQ(procfs_each_map((uint32_t)getpid(), look, &w), 0);
	if (w.n_found) {
		EXPECT_EQ(w.end, w.start + 2 * (uint64_t)page);
		EXPECT_EQ(w.off, page);
		EXPECT_EQ(w.ino, st.st_ino);
		EXPECT(strncmp(w.path, dir, strlen(dir)) == 0);
		memmove(w.path, w.path + strlen(dir), strlen(w.path + strlen(dir)) + 1);
	}
	munmap(p, 2 * (size_t)page);
	close(fd);
	unlink(path);
	rmdir(dir);
	return w;
}

TEST(only_executable_mappings)
{
	struct wanted w = map_and_look("plain", PROT_READ | PROT_WRITE, false);

	EXPECT_EQ(w.n_found, 0);
	EXPECT(w.n_maps >= 3); /* this program, libc, the loader */
	w = map_and_look("plain", PROT_READ | PROT_EXEC, false);
	EXPECT_EQ(w.n_found, 1);
	EXPECT_STR(w.path, "/plain");
}

TEST(names_that_are_hard_to_print)
{
	static const char *const names[] = {
		"two words",   " leading", "tab\there", "back\\slash", "r-xp 00000000 08:01 17",
		"line\nbreak", "\n",	   "\xff\xfe",	"50%s"};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct wanted w = map_and_look(names[i], PROT_READ | PROT_EXEC, false);

		EXPECT_EQ(w.n_found, 1);
		EXPECT(w.path[0] == '/');
		EXPECT_STR(w.path + 1, names[i]);
	}
}

TEST(deleted_files_say_so)
{
	struct wanted w = map_and_look("gone", PROT_READ | PROT_EXEC, true);

	EXPECT_EQ(w.n_found, 1);
	EXPECT_STR(w.path, "/gone (deleted)");
}

TEST(anonymous_memory_has_no_name)
{
	size_t n = (size_t)sysconf(_SC_PAGESIZE);
	void *p = mmap(NULL, n, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct wanted w = {.start = (uintptr_t)p};

	EXPECT_EQ(procfs_each_map((uint32_t)getpid(), look, &w), 0);
	EXPECT_EQ(w.n_found, 1);
	EXPECT_STR(w.path, "");
	EXPECT_EQ(w.ino, 0);
	munmap(p, n);
}

static void *idle(void *arg)
{
	char c;

	if (read(*(int *)arg, &c, 1) < 0)
		return NULL;
	return arg;
}

static void count(void *ctx, uint32_t n)
{
	if (n)
		++*(unsigned *)ctx;
}

TEST(status_of_a_process_with_threads)
{
	pthread_t t[2];
	int pipefd[2];
	char comm[64];
	uint32_t n_before = 0, n_threads = 0;
	unsigned n_tids = 0;
	bool kernel = true;

	REQUIRE(pipe(pipefd) == 0);
	prctl(PR_SET_NAME, "odd\n:name");
	pthread_create(&t[0], NULL, idle, &pipefd[0]);
	/* A sanitizer may have added a thread of its own to the two. */
	EXPECT_EQ(procfs_status((uint32_t)getpid(), comm, sizeof(comm), &n_before, &kernel), 0);
	EXPECT(n_before >= 2);
	pthread_create(&t[1], NULL, idle, &pipefd[0]);
	EXPECT_EQ(procfs_status((uint32_t)getpid(), comm, sizeof(comm), &n_threads, &kernel), 0);
	EXPECT_STR(comm, "odd\n:name");
	EXPECT_EQ(n_threads, n_before + 1);
	EXPECT(!kernel);
	EXPECT_EQ(procfs_each_tid((uint32_t)getpid(), count, &n_tids), 0);
	EXPECT_EQ(n_tids, n_threads);
	close(pipefd[1]);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	close(pipefd[0]);
}

/* A process that gave up root is no longer dumpable, and its files in /proc are root's. */
TEST(cpu_time_of_a_process)
{
	uint64_t before, after = 0;

	REQUIRE(procfs_cpu_ticks((uint32_t)getpid(), &before) >= 0);
	do /* it works until a tick has passed */
		REQUIRE(procfs_cpu_ticks((uint32_t)getpid(), &after) >= 0);
	while (after == before);
	EXPECT(after > before);
	REQUIRE(procfs_cpu_ticks(UINT32_MAX, &after) < 0);
}

TEST(effective_uid_of_a_process_that_changed_it)
{
	uint32_t uid = 1;
	int go[2];
	pid_t pid;
	char c;

	if (geteuid() != 0)
		SKIP("needs root");
	REQUIRE(pipe(go) == 0);
	pid = fork();
	if (pid == 0) {
		close(go[0]);
		if (setresuid(65534, 65534, 65534) < 0 || write(go[1], "", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	close(go[1]);
	REQUIRE(read(go[0], &c, 1) == 1);
	EXPECT_EQ(procfs_uid((uint32_t)pid, &uid), 0);
	EXPECT_EQ(uid, 65534);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(go[0]);
	EXPECT_EQ(procfs_uid((uint32_t)getpid(), &uid), 0);
	EXPECT_EQ(uid, 0);
}

TEST(nobody_there)
{
	const uint32_t pid = 4194303; /* PID_MAX_LIMIT - 1: include/linux/threads.h */
	char buf[64];
	uint32_t n;
	bool kernel;

	EXPECT_EQ(procfs_each_map(pid, look, &(struct wanted){0}), -ENOENT);
	EXPECT_EQ(procfs_each_tid(pid, count, &n), -ENOENT);
	EXPECT_EQ(procfs_status(pid, buf, sizeof(buf), &n, &kernel), -ENOENT);
	EXPECT_EQ(procfs_exe(pid, buf, sizeof(buf)), -ENOENT);
	EXPECT_EQ(procfs_uid(pid, &n), -ENOENT);
	EXPECT_EQ(procfs_cgroup(pid, buf, sizeof(buf)), -ENOENT);
	EXPECT_EQ(procfs_open_perf_map(pid, false), -ENOENT);
}

TEST(kernel_threads_are_told)
{
	char comm[64];
	uint32_t n;
	bool kernel = false;

	if (procfs_status(2, comm, sizeof(comm), &n, &kernel) < 0 || strcmp(comm, "kthreadd") != 0)
		SKIP("no kthreadd in sight");
	EXPECT(kernel);
}

TEST(perf_map_of_this_process)
{
	const uint32_t pid = (uint32_t)getpid();
	char path[64];
	int fd;

	EXPECT_EQ(procfs_open_perf_map(pid, false), -ENOENT);
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
	REQUIRE(fd >= 0);
	close(fd);
	fd = procfs_open_perf_map(pid, false);
	EXPECT(fd >= 0);
	close(fd);
	/* Another user's word, a link or a pipe is not taken for it. */
	if (chown(path, 12345, 12345) == 0)
		EXPECT_EQ(procfs_open_perf_map(pid, false), -EPERM);
	unlink(path);
	EXPECT_EQ(symlink("/etc/passwd", path), 0);
	EXPECT_EQ(procfs_open_perf_map(pid, false), -ELOOP);
	unlink(path);
	EXPECT_EQ(mkfifo(path, 0600), 0);
	alarm(60);
	EXPECT_EQ(procfs_open_perf_map(pid, false), -EPERM);
	alarm(0);
	unlink(path);
}

/* A process whose root is DIR until it is killed; -1 without the right to make one. */
static pid_t start_in_root(const char *dir)
{
	int ready[2];
	char byte;
	pid_t pid;

	if (pipe(ready) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (chroot(dir) < 0 || write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1) {
		waitpid(pid, NULL, 0);
		pid = -1;
	}
	close(ready[0]);
	return pid;
}

/* DIR/tmp leads to "DIR/out", which the process itself would look for below DIR. */
TEST(links_in_a_root_stay_below_it)
{
	char dir[] = "/tmp/dwell-procfs-XXXXXX", tmp[64], out[64], map[128];
	pid_t pid;
	int fd;

	REQUIRE(mkdtemp(dir));
	snprintf(tmp, sizeof(tmp), "%s/tmp", dir);
	snprintf(out, sizeof(out), "%s/out", dir);
	pid = start_in_root(dir);
	if (pid < 0) {
		rmdir(dir);
		SKIP("needs the right to chroot");
	}
	snprintf(map, sizeof(map), "%s/perf-%d.map", out, (int)pid);
	EXPECT_EQ(mkdir(out, 0755), 0);
	fd = open(map, O_WRONLY | O_CREAT, 0644);
	EXPECT(fd >= 0);
	close(fd);
	EXPECT_EQ(symlink(out, tmp), 0);
	EXPECT(procfs_open_perf_map((uint32_t)pid, false) < 0);
	unlink(tmp);
	EXPECT_EQ(symlink("/out", tmp), 0);
	fd = procfs_open_perf_map((uint32_t)pid, false);
	EXPECT(fd >= 0);
	close(fd);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	unlink(map);
	unlink(tmp);
	rmdir(out);
	EXPECT_EQ(rmdir(dir), 0);
}

TEST(every_process_is_listed)
{
	unsigned n = 0;

	EXPECT_EQ(procfs_each_pid(count, &n), 0);
	EXPECT(n >= 1);
}
