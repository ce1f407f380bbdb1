/* SPDX-License-Identifier: BSD-2-Clause */
/* See pin_dir.h. */
#include "collect/pin_dir.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/str.h"

static int open_beneath(int at, const char *name, int flags, uint64_t resolve)
{
	struct open_how how = {
		.flags = (uint64_t)(flags | O_CLOEXEC),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | resolve,
	};
	long fd = syscall(SYS_openat2, at, name, &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}

static bool is_ours(const struct stat *st)
{
	return st->st_uid == 0 || st->st_uid == geteuid();
}

/* Whether directory FD is changed by nobody but us. */
static int check_level(int fd, const char *path, enum pin_trust trust, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_errno(err, -errno, "%s", path);
	if (!is_ours(&st))
		return err_set(err, -EPERM, "%s belongs to user %u: pins are not safe there", path,
			       (unsigned)st.st_uid);
	if (st.st_mode & 022 && !(trust == PIN_STICKY && st.st_mode & S_ISVTX))
		return err_set(err, -EPERM,
			       "%s can be written to by others (mode %o): pins are not safe there; "
			       "mount it with -o mode=700",
			       path, (unsigned)st.st_mode & 07777);
	return 0;
}

static int open_level(int at, const char *name, const char *path, bool make, uint64_t resolve,
		      struct err *err)
{
	int fd = open_beneath(at, name, O_RDONLY | O_DIRECTORY, resolve);

	if (fd == -ENOENT && make) {
		if (mkdirat(at, name, 0755) < 0 && errno != EEXIST)
			return err_errno(err, -errno, "%s: mkdir", path);
		fd = open_beneath(at, name, O_RDONLY | O_DIRECTORY, resolve);
	}
	if (fd == -ELOOP || fd == -EXDEV)
		return err_set(err, -EPERM,
			       "%s is a symbolic link or leads elsewhere: name the "
			       "directory itself",
			       path);
	return fd < 0 ? err_errno(err, fd, "%s", path) : fd;
}

/* Every level above the last is to be ours alone, the last one as TRUST says. */
static int collect_pin_dir_walk(const char *path, bool make, enum pin_trust trust, struct err *err)
{
	_mem_ char *copy = xstrdup(path);
	_fd_ int at = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char *save = NULL, *name = strtok_r(copy, "/", &save), *next;
	int rc = at < 0 ? err_errno(err, -errno, "/") : check_level(at, "/", PIN_OURS, err);

	for (; name && rc >= 0; name = next) {
		_mem_ char *so_far =
			xasprintf("%.*s", (int)(name - copy) + (int)strlen(name), path);
		int fd = open_level(at, name, so_far, make, 0, err);

		next = strtok_r(NULL, "/", &save);
		if (fd < 0)
			return fd;
		close(at);
		at = fd;
		rc = check_level(at, so_far, next ? PIN_OURS : trust, err);
	}
	return rc < 0 ? rc : take_fd(&at);
}

int pin_dir_walk(const char *path, bool make, struct err *err)
{
	return collect_pin_dir_walk(path, make, PIN_OURS, err);
}

int pin_dir_from_fd(int fd, const char *path, enum pin_trust trust, struct pin_dir *ret,
		    struct err *err)
{
	struct statfs fs;
	int rc;

	if (fstatfs(fd, &fs) < 0)
		return err_errno(err, -errno, "%s", path);
	if (fs.f_type != BPF_FS_MAGIC)
		return err_set(err, -EOPNOTSUPP,
			       "%s is no BPF file system (mount -t bpf -o mode=700 bpf %s makes it "
			       "one)",
			       path, path);
	rc = check_level(fd, path, trust, err);
	if (rc < 0)
		return rc;
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return err_errno(err, -errno, "%s", path);
	*ret = (struct pin_dir){fd, xstrdup(path)};
	return 0;
}

int pin_dir_open_fs(const char *path, enum pin_trust trust, struct pin_dir *ret, struct err *err)
{
	char cwd[PATH_MAX];
	_mem_ char *whole = NULL;
	_fd_ int fd = -1;
	int rc;

	if (*path != '/' && !getcwd(cwd, sizeof(cwd)))
		return err_errno(err, -errno, "%s", path);
	whole = *path == '/' ? xstrdup(path) : xasprintf("%s/%s", cwd, path);
	rc = fd = collect_pin_dir_walk(whole, false, trust, err);
	return rc < 0 ? rc : pin_dir_from_fd(fd, path, trust, ret, err);
}

int pin_dir_open(const struct pin_dir *at, const char *name, bool make, struct pin_dir *ret,
		 struct err *err)
{
	_mem_ char *path = xasprintf("%s/%s", at->path, name);
	_fd_ int fd = -1;
	int rc;

	if (make && mkdirat(at->fd, name, 0700) < 0 && errno != EEXIST)
		return err_errno(err, -errno, "%s: mkdir", path);
	rc = fd = open_level(at->fd, name, path, false, RESOLVE_NO_XDEV, err);
	if (rc >= 0)
		rc = check_level(fd, path, PIN_OURS, err);
	if (rc < 0)
		return rc;
	*ret = (struct pin_dir){take_fd(&fd), take_ptr(&path)};
	return 0;
}

void pin_dir_close(struct pin_dir *d)
{
	if (d->fd >= 0)
		close(d->fd);
	free(d->path);
	*d = PIN_DIR_NONE;
}

int pin_dir_put(const struct pin_dir *d, const char *name, int bpf_fd)
{
	char path[64 + NAME_MAX];

	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", d->fd, name);
	return bpf_obj_pin(bpf_fd, path) < 0 ? -errno : 0;
}

int pin_dir_get(const struct pin_dir *d, const char *name)
{
	_fd_ int file = open_beneath(d->fd, name, O_PATH | O_NOFOLLOW, RESOLVE_NO_XDEV);
	struct stat st;
	char path[64];
	int fd;

	if (file < 0)
		return file == -ELOOP || file == -EXDEV ? -EPERM : file;
	if (fstat(file, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || !is_ours(&st))
		return -EPERM;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	fd = bpf_obj_get(path);
	return fd < 0 ? -errno : fd;
}

int pin_dir_unlink(const struct pin_dir *d, const char *name)
{
	return unlinkat(d->fd, name, 0) < 0 ? -errno : 0;
}

int pin_dir_rmdir(const struct pin_dir *d, const char *name)
{
	return unlinkat(d->fd, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

int pin_dir_rename(const struct pin_dir *d, const char *from, const char *to)
{
	return renameat(d->fd, from, d->fd, to) < 0 ? -errno : 0;
}

int pin_dir_each(const struct pin_dir *d,
		 int (*fn)(void *ctx, const struct pin_dir *d, const char *name), void *ctx)
{
	int fd = open_beneath(d->fd, ".", O_RDONLY | O_DIRECTORY, 0), rc = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (fd < 0)
		return fd;
	if (!dir) {
		rc = -errno;
		close(fd);
		return rc;
	}
	while (rc >= 0 && (e = readdir(dir)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			rc = fn(ctx, d, e->d_name);
	closedir(dir);
	return rc;
}
