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

#define MAX_PROC_FILE (64u << 20)

/* The kernel prints a newline in a name as \012, and nothing else specially (seq_file_path with
 * "\n"). */
static void unescape(char *s)
{
	char *to = s;

	while (*s) {
		if (strncmp(s, "\\012", 4) == 0) {
			*to++ = '\n';
			s += 4;
		} else {
			*to++ = *s++;
		}
	}
	*to = '\0';
}

/* One line of /proc/PID/maps, NUL-terminated: "start-end perms off maj:min inode   path". */
static bool parse_map(char *line, struct procfs_map *ret)
{
	unsigned long long start, end, off, ino;
	unsigned maj, min;
	char perms[5];
	int at = 0;

	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &start, &end, perms, &off, &maj, &min,
		   &ino, &at) < 7 ||
	    !at)
		return false;
	unescape(line + at);
	*ret = (struct procfs_map){.start = start,
				   .end = end,
				   .off = off,
				   .ino = ino,
				   .dev = (uint64_t)maj << 32 | min,
				   .path = line + at};
	return perms[2] == 'x';
}

/* The permissions stand after the first space; most lines are not executable and need no parsing.
 */
static bool looks_executable(const char *line)
{
	const char *space = strchr(line, ' ');

	return space && strnlen(space, 5) == 5 && space[3] == 'x';
}

/* More than a line has: a path has at most 4095 bytes, of which each may be written as four. */
#define MAPS_PIECE 65536

/* Hands out what the whole lines of TEXT say; returns how many bytes these are. */
static size_t each_line(char *text, size_t n, void (*fn)(void *ctx, const struct procfs_map *m),
			void *ctx)
{
	char *line = text, *end;

	while ((end = memchr(line, '\n', n - (size_t)(line - text)))) {
		struct procfs_map m;

		*end = '\0';
		if (looks_executable(line) && parse_map(line, &m))
			fn(ctx, &m);
		line = end + 1;
	}
	return (size_t)(line - text);
}

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
		done = each_line(text, n, fn, ctx);
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
		if (str_parse_u64(e->d_name, 10, &n) == 0 && n <= UINT32_MAX)
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

/* The value of "KEY:\tVALUE\n" in TEXT, or NULL; the line is cut in place. */
static char *status_value(char *text, const char *key)
{
	size_t n = strlen(key);

	for (char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, n) == 0 && line[n] == ':') {
			char *v = line + n + 1;

			return v + strspn(v, "\t ");
		}
	}
	return NULL;
}

/* In a Name: line a newline is "\n" and a backslash "\\" (fs/proc/array.c, proc_task_name). */
static void unescape_name(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (*s == '\\' && s[1])
			*to++ = *++s == 'n' ? '\n' : *s;
		else
			*to++ = *s;
	}
	*to = '\0';
}

int procfs_status(uint32_t pid, char *ret_comm, size_t comm_size, uint32_t *ret_threads,
		  bool *ret_kernel)
{
	char path[40], *text, *name, *threads;
	int rc;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	rc = file_load(path, MAX_PROC_FILE, &text, NULL, NULL);
	if (rc < 0)
		return rc;
	name = status_value(text, "Name");
	threads = status_value(text, "Threads");
	if (!name || !threads) {
		free(text);
		return -EBADMSG;
	}
	*ret_threads = (uint32_t)strtoul(threads, NULL, 10);
	*ret_kernel = !status_value(text, "VmSize"); /* tasks without an address space */
	name[strcspn(name, "\n")] = '\0';
	unescape_name(name);
	snprintf(ret_comm, comm_size, "%s", name);
	free(text);
	return 0;
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
	char path[40], *text, *v;
	unsigned real, effective;
	int rc;

	/* Not the owner of /proc/PID: that is root for a process that changed its uid. */
	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	rc = file_load(path, MAX_PROC_FILE, &text, NULL, NULL);
	if (rc < 0)
		return rc;
	v = status_value(text, "Uid");
	rc = v && sscanf(v, "%u %u", &real, &effective) == 2 ? 0 : -EBADMSG;
	if (rc == 0)
		*ret_uid = effective;
	free(text);
	return rc;
}

/* proc(5), /proc/PID/stat: the name is in parentheses and may have any others in it; the 4th field
 * is the parent, the 22nd the start. */
int procfs_birth(uint32_t pid, uint32_t *ret_parent, uint64_t *ret_start_ticks)
{
	unsigned long long start;
	char path[40], *text, *at;
	unsigned parent;
	int rc;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	rc = file_load(path, MAX_PROC_FILE, &text, NULL, NULL);
	if (rc < 0)
		return rc;
	at = strrchr(text, ')');
	rc = at && sscanf(at + 1,
			  " %*c %u %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
			  "%*d %llu",
			  &parent, &start) == 2
		     ? 0
		     : -EBADMSG;
	free(text);
	if (rc == 0) {
		*ret_parent = parent;
		*ret_start_ticks = start;
	}
	return rc;
}

int procfs_cgroup(uint32_t pid, char *ret, size_t size)
{
	char path[40], *text, *next, *v1 = NULL, *v2 = NULL;
	int rc;

	snprintf(path, sizeof(path), "/proc/%u/cgroup", pid);
	rc = file_load(path, MAX_PROC_FILE, &text, NULL, NULL);
	if (rc < 0)
		return rc;
	for (char *line = text; line && *line; line = next) {
		char *colon = strchr(line, ':'), *at; /* "hierarchy:controllers:path", cgroups(7) */

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		at = colon ? strchr(colon + 1, ':') : NULL;
		if (!at || strcmp(at + 1, "/") == 0)
			continue;
		if (str_starts(line, "0::"))
			v2 = at + 1;
		else if (!v1)
			v1 = at + 1;
	}
	snprintf(ret, size, "%s", v2 ? v2 : v1 ? v1 : "/");
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

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	rc = file_load(path, MAX_PROC_FILE, &text, NULL, NULL);
	if (rc < 0)
		return rc;
	ns = status_value(text, "NSpid"); /* outermost first */
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
