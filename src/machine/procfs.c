/* SPDX-License-Identifier: BSD-2-Clause */
/* See procfs.h. */
#include "machine/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/file_stamp.h"
#include "base/root_file.h"
#include "base/str.h"
#include "machine/proc_text.h"

#define MAX_PROC_FILE (64u << 20)

/* More than a line has: a path has at most 4095 bytes, and each may be written as four. */
#define MAPS_PIECE 65536

/* A process may have 65,530 mappings: they are read in pieces.  The kernel goes on behind the last
 * address it told, whatever has changed meanwhile (fs/proc/task_mmu.c: m_start). */
int procfs_each_map(uint32_t pid, void (*fn)(void *ctx, const struct procfs_map *m), void *ctx)
{
	_mem_ char *text = xmalloc(MAPS_PIECE);
	_fd_ int fd = -1;
	size_t n = 0;
	char path[40];

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (n < MAPS_PIECE) {
		ssize_t got = read(fd, text + n, MAPS_PIECE - n);
		size_t done;

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : 0;
		n += (size_t)got;
		done = proc_text_each_map(text, n, fn, ctx);
		n -= done;
		memmove(text, text + done, n);
	}
	return -EBADMSG;
}

static int each_number(const char *dir, void (*fn)(void *ctx, uint32_t n), void *ctx)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	uint64_t n;

	if (!d)
		return -errno;
	while ((e = readdir(d)))
		if (str_parse_u64(e->d_name, 10, &n) >= 0 && n <= UINT32_MAX)
			fn(ctx, (uint32_t)n);
	closedir(d);
	return 0;
}

int procfs_each_pid(void (*fn)(void *ctx, uint32_t pid), void *ctx)
{
	return each_number("/proc", fn, ctx);
}

int procfs_each_tid(uint32_t pid, void (*fn)(void *ctx, uint32_t tid), void *ctx)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	return each_number(path, fn, ctx);
}

/* Loads /proc/PID/NAME into *RET, which the caller frees. */
static int load_of(uint32_t pid, const char *name, char **ret)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	return file_load(path, MAX_PROC_FILE, ret, NULL, NULL);
}

int procfs_status(uint32_t pid, char *ret_comm, size_t comm_size, uint32_t *ret_threads,
		  bool *ret_kernel)
{
	char *text, *name, *threads;
	int rc = load_of(pid, "status", &text);

	if (rc < 0)
		return rc;
	name = proc_text_value(text, "Name");
	threads = proc_text_value(text, "Threads");
	if (!name || !threads) {
		free(text);
		return -EBADMSG;
	}
	*ret_threads = (uint32_t)strtoul(threads, NULL, 10);
	*ret_kernel = !proc_text_value(text, "VmSize"); /* tasks without an address space */
	name[strcspn(name, "\n")] = '\0';
	proc_text_unescape(name);
	snprintf(ret_comm, comm_size, "%s", name);
	free(text);
	return 0;
}

int procfs_thread_name(uint32_t pid, uint32_t tid, char *ret, size_t size)
{
	char path[64], *text;
	int rc;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", pid, tid);
	rc = file_load(path, MAX_PROC_FILE, &text, NULL, NULL);
	if (rc < 0)
		return rc;
	snprintf(ret, size, "%s", text);
	if (*ret && ret[strlen(ret) - 1] == '\n')
		ret[strlen(ret) - 1] = '\0';
	free(text);
	return *ret ? 0 : -ENOENT;
}

int procfs_exe(uint32_t pid, char *ret, size_t size)
{
	static const char deleted[] = " (deleted)";
	char path[40];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	n = readlink(path, ret, size - 1);
	if (n < 0)
		return -errno;
	ret[n] = '\0';
	if (str_ends(ret, deleted))
		ret[(size_t)n - strlen(deleted)] = '\0';
	return 0;
}

int procfs_uid(uint32_t pid, uint32_t *ret_uid)
{
	char *text, *v;
	unsigned real, effective;
	int rc;

	/* Not the owner of /proc/PID: that is root for a process that changed its uid. */
	rc = load_of(pid, "status", &text);
	if (rc < 0)
		return rc;
	v = proc_text_value(text, "Uid");
	rc = v && sscanf(v, "%u %u", &real, &effective) == 2 ? 0 : -EBADMSG;
	if (rc >= 0)
		*ret_uid = effective;
	free(text);
	return rc;
}

int procfs_birth(uint32_t pid, uint32_t *ret_parent, uint64_t *ret_start_ticks)
{
	char *text;
	int rc = load_of(pid, "stat", &text);

	if (rc < 0)
		return rc;
	rc = proc_text_birth(text, ret_parent, ret_start_ticks) ? 0 : -EBADMSG;
	free(text);
	return rc;
}

int procfs_cpu_ticks(uint32_t pid, uint64_t *ret)
{
	char *text;
	int rc = load_of(pid, "stat", &text);

	if (rc < 0)
		return rc;
	rc = proc_text_cpu_ticks(text, ret) ? 0 : -EBADMSG;
	free(text);
	return rc;
}

bool procfs_runs(uint32_t pid, uint32_t tid)
{
	char name[22], *text;
	const char *state;
	bool runs;

	snprintf(name, sizeof(name), "task/%u/stat", tid);
	if (load_of(pid, name, &text) < 0)
		return false;
	state = strrchr(text, ')'); /* proc(5), /proc/PID/stat: the third field */
	runs = state && strncmp(state, ") R", 3) == 0;
	free(text);
	return runs;
}

int procfs_cgroup(uint32_t pid, char *ret, size_t size)
{
	char *text;
	int rc = load_of(pid, "cgroup", &text);

	if (rc < 0)
		return rc;
	snprintf(ret, size, "%s", proc_text_cgroup(text));
	free(text);
	return 0;
}

bool procfs_inner_pidns(uint64_t *ret_dev, uint64_t *ret_ino)
{
	const ino_t initial = 0xEFFFFFFC; /* include/linux/proc_ns.h, PROC_PID_INIT_INO */
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) < 0 || st.st_ino == initial)
		return false;
	*ret_dev = st.st_dev;
	*ret_ino = st.st_ino;
	return true;
}

int procfs_open_perf_map(uint32_t pid, bool cached)
{
	char path[40], name[40], *text, *ns, *last;
	uint32_t inner = pid, uid;
	struct file_facts facts;
	struct file_stamp stamp;
	int fd, rc;

	rc = load_of(pid, "status", &text);
	if (rc < 0)
		return rc;
	ns = proc_text_value(text, "NSpid"); /* outermost first */
	if (ns) {
		ns[strcspn(ns, "\n")] = '\0';
		last = strrchr(ns, '\t');
		inner = (uint32_t)strtoul(last ? last + 1 : ns, NULL, 10);
	}
	free(text);
	snprintf(path, sizeof(path), "/proc/%u/root", pid);
	snprintf(name, sizeof(name), "/tmp/perf-%u.map", inner);
	if (cached)
		fd = root_file_open_cached(path, name, O_NOFOLLOW);
	else
		fd = root_file_open(path, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return fd;
	if (file_stamp_get(fd, &stamp, &facts) < 0 || !facts.is_regular ||
	    procfs_uid(pid, &uid) < 0 || (facts.uid != uid && facts.uid != 0)) {
		close(fd);
		return -EPERM;
	}
	return fd;
}
