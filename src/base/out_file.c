/* SPDX-License-Identifier: BSD-2-Clause */
/* See out_file.h. */
#include "base/out_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "base/vec.h"

/* The descriptor of this process that PATH names; -1 none.  proc(5), /proc/self/fd. */
static int own_descriptor(const char *path)
{
	static const char *const dirs[] = {"/dev/fd/", "/proc/self/fd/"};
	uint64_t n;

	if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0)
		return STDOUT_FILENO;
	if (strcmp(path, "/dev/stderr") == 0)
		return STDERR_FILENO;
	for (size_t i = 0; i < n_elems(dirs); i++)
		if (str_starts(path, dirs[i]) &&
		    str_parse_u64(path + strlen(dirs[i]), 10, &n) >= 0 && n <= INT32_MAX)
			return (int)n;
	return -1;
}

/* 1: PATH is to be written directly; 0: beside and renamed. */
static int is_direct(const char *path, struct err *err)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : err_errno(err, -errno, "%s", path);
	if (S_ISDIR(st.st_mode))
		return err_set(err, -EISDIR, "%s: is a directory; name a file in it", path);
	if (S_ISBLK(st.st_mode) || S_ISSOCK(st.st_mode))
		return err_set(err, -EINVAL, "%s: is no file, pipe or character device", path);
	return S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode);
}

bool out_file_is_draft(const char *name, const char *prefix, const char *suffix)
{
	size_t end = strlen(name), n;

	if (!str_ends(name, suffix))
		return false;
	end -= strlen(suffix);
	for (n = end; n > 0 && name[n - 1] >= '0' && name[n - 1] <= '9';)
		n--;
	if (n == end)
		return false;
	return prefix ? n == strlen(prefix) && strncmp(name, prefix, n) == 0
		      : n > 2 && name[0] == '.' && name[n - 1] == '.';
}

void out_file_sweep(int dirfd, const char *prefix, const char *suffix,
		    void (*remove)(int dirfd, const char *name))
{
	int list_fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = list_fd < 0 ? NULL : fdopendir(list_fd);
	const struct dirent *e;

	while (d && (e = readdir(d))) {
		_fd_ int fd = -1;
		struct stat st;

		if (!out_file_is_draft(e->d_name, prefix, suffix))
			continue;
		fd = openat(dirfd, e->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0 || fstat(fd, &st) < 0 || st.st_uid != geteuid())
			continue;
		if (flock(fd, LOCK_EX | LOCK_NB) < 0)
			continue;
		if (remove)
			remove(dirfd, e->d_name);
		else
			unlinkat(dirfd, e->d_name, 0);
	}
	if (d)
		closedir(d);
	else if (list_fd >= 0)
		close(list_fd);
}

/* Makes the file beside and locks it.  A sweep of another process can remove it between the two;
 * then it is made again. */
static int make_beside(struct out_file *o, struct err *err)
{
	struct stat st;

	for (int tries = 0; tries < 100; tries++) {
		o->fd = openat(o->dirfd, o->beside,
			       O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
		if (o->fd < 0)
			return err_errno(err, -errno, "%s", o->path);
		if (flock(o->fd, LOCK_EX | LOCK_NB) >= 0 && fstat(o->fd, &st) >= 0 && st.st_nlink)
			return 0;
		close(o->fd);
		o->fd = -1;
		unlinkat(o->dirfd, o->beside, 0);
	}
	return err_set(err, -EBUSY, "%s: somebody removes what is written there", o->path);
}

int out_file_open(struct out_file *o, const char *path, struct err *err)
{
	const char *name = str_basename(path);
	_mem_ char *dir = name == path ? xstrdup(".") : xstrndup(path, (size_t)(name - path));
	_mem_ char *prefix = xasprintf(".%s.", name);
	int own = own_descriptor(path), rc;

	*o = (struct out_file){.fd = -1, .dirfd = -1};
	if (own >= 0) {
		o->fd = fcntl(own, F_DUPFD_CLOEXEC, 3);
		return o->fd < 0 ? err_errno(err, -errno, "%s", path) : 0;
	}
	rc = is_direct(path, err);
	if (rc < 0)
		return rc;
	o->path = xstrdup(path);
	if (rc != 0) {
		o->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
		return o->fd < 0 ? err_errno(err, -errno, "%s", path) : 0;
	}
	if (!*name)
		return err_set(err, -EISDIR, "%s: is a directory; name a file in it", path);
	o->dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (o->dirfd < 0)
		return err_errno(err, -errno, "%s", path);
	out_file_sweep(o->dirfd, prefix, ".tmp", NULL);
	o->beside = xasprintf("%s%d.tmp", prefix, (int)getpid());
	return make_beside(o, err);
}

int out_file_commit(struct out_file *o, struct err *err)
{
	struct stat st;
	int rc = 0;

	if (o->dirfd < 0)
		return 0;
	if (fstatat(o->dirfd, str_basename(o->path), &st, AT_SYMLINK_NOFOLLOW) >= 0 &&
	    S_ISREG(st.st_mode) && st.st_uid == geteuid() && fchmod(o->fd, st.st_mode & 0777) < 0)
		rc = -errno;
	if (rc >= 0)
		rc = file_fsync(o->fd);
	if (rc >= 0)
		rc = file_rename(o->dirfd, o->beside, str_basename(o->path));
	if (rc < 0)
		return err_errno(err, rc, "%s", o->path);
	free(o->beside);
	o->beside = NULL;
	rc = file_fsync(o->dirfd);
	return rc < 0 ? err_errno(err, rc, "%s: fsync of its directory", o->path) : 0;
}

void out_file_close(struct out_file *o)
{
	if (o->beside && o->fd >= 0)
		unlinkat(o->dirfd, o->beside, 0);
	if (o->fd >= 0)
		close(o->fd);
	if (o->dirfd >= 0)
		close(o->dirfd);
	free(o->beside);
	free(o->path);
	*o = (struct out_file){.fd = -1, .dirfd = -1};
}

int out_file_save(const char *path, const void *bytes, size_t n, struct err *err)
{
	struct out_file o;
	int rc = out_file_open(&o, path, err);

	if (rc >= 0 && (rc = file_write_all(o.fd, bytes, n)) < 0)
		err_errno(err, rc, "%s", path);
	if (rc >= 0)
		rc = out_file_commit(&o, err);
	out_file_close(&o);
	return rc;
}
