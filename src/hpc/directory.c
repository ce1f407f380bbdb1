/* SPDX-License-Identifier: BSD-2-Clause */
/* See directory.h.  Renaming is the only step that anybody can see: an empty directory gives way to
 * rename(2) itself; one that is to be replaced changes places with the new one. */
#include "hpc/directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/out_file.h"
#include "base/str.h"

/* --- trees --- */

static DIR *open_dir(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Removes NAME below DIRFD, whatever it is. */
static void remove_tree(int at, const char *name)
{
	DIR *dir = open_dir(at, name);
	const struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (!is_dots(e->d_name))
			remove_tree(dirfd(dir), e->d_name);
	if (dir)
		closedir(dir);
	unlinkat(at, name, dir ? AT_REMOVEDIR : 0);
}

static int sync_one(int at, const char *name, struct err *err)
{
	_fd_ int fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int rc = fd < 0 ? -errno : file_fsync(fd);

	return rc < 0 ? err_errno(err, rc, "%s: cannot sync", name) : 0;
}

/* Syncs all files below NAME, and directories after what is in them. */
static int sync_tree(int at, const char *name, struct err *err)
{
	DIR *dir = open_dir(at, name);
	const struct dirent *e;
	int rc = 0;

	while (dir && rc >= 0 && (e = readdir(dir)))
		if (!is_dots(e->d_name))
			rc = sync_tree(dirfd(dir), e->d_name, err);
	if (dir)
		closedir(dir);
	return rc < 0 ? rc : sync_one(at, name, err);
}

/* --- the new one --- */

/* 0 when PATH may be taken. */
static int check_place(const char *path, const char *mark, bool replace, bool *ret_full,
		       struct err *err)
{
	DIR *dir = opendir(path);
	const struct dirent *e;
	struct stat st;
	bool has_mark, full = false;

	*ret_full = false;
	if (!dir && errno == ENOENT)
		return 0;
	if (!dir)
		return err_errno(err, -errno, "%s", path);
	while ((e = readdir(dir)))
		full |= !is_dots(e->d_name);
	has_mark = fstatat(dirfd(dir), mark, &st, AT_SYMLINK_NOFOLLOW) >= 0;
	closedir(dir);
	*ret_full = full;
	if (!full)
		return 0;
	if (!has_mark)
		return err_set(err, -EEXIST, "%s: is there and is not an HPCToolkit database",
			       path);
	return replace ? 0
		       : err_set(err, -EEXIST, "%s: is there already; --force replaces it", path);
}

/* Removes what killed processes left beside PATH, whose directory is PARENT. */
static void directory_sweep(const char *path, const char *parent)
{
	_mem_ char *tmp = xasprintf("%s.tmp-", str_basename(path));
	_mem_ char *old = xasprintf("%s.old-", str_basename(path));
	_fd_ int fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	out_file_sweep(fd, tmp, "", remove_tree);
	if (faccessat(fd, str_basename(path), F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		out_file_sweep(fd, old, "", remove_tree); /* else it is all there is */
}

int new_dir_begin(struct new_dir *d, const char *path, const char *mark, bool replace,
		  struct err *err)
{
	size_t n = strlen(path);
	_mem_ char *parent = NULL;
	int rc;

	*d = (struct new_dir){.fd = -1};
	while (n > 1 && path[n - 1] == '/')
		n--;
	d->path = xstrndup(path, n);
	rc = check_place(d->path, mark, replace, &d->replace, err);
	if (rc < 0)
		return rc;
	parent = xstrndup(d->path, (size_t)(str_basename(d->path) - d->path));
	rc = *parent ? file_mkdirs(parent, err) : 0;
	if (rc < 0)
		return rc;
	directory_sweep(d->path, *parent ? parent : ".");
	d->aside = xasprintf("%s.tmp-%d", d->path, (int)getpid());
	if (mkdir(d->aside, 0777) < 0) {
		rc = err_errno(err, -errno, "%s", d->aside);
		free(d->aside);
		d->aside = NULL;
		return rc;
	}
	d->fd = open(d->aside, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (d->fd >= 0)
		flock(d->fd, LOCK_EX | LOCK_NB); /* until it is closed: we live */
	return d->fd < 0 ? err_errno(err, -errno, "%s", d->aside) : 0;
}

int new_dir_join(struct new_dir *d, const char *aside, struct err *err)
{
	*d = (struct new_dir){.aside = xstrdup(aside)};
	d->fd = open(aside, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return d->fd < 0 ? err_errno(err, -errno, "%s: all processes must see it", aside) : 0;
}

void new_dir_leave(struct new_dir *d)
{
	free(d->aside);
	d->aside = NULL;
}

/* For file systems that cannot exchange names (NFS): moves the old one to PATH.old-PID, and back
 * when the new one cannot take its place.  For a moment there is none. */
static int replace_in_steps(const struct new_dir *d)
{
	_mem_ char *old = xasprintf("%s.old-%d", d->path, (int)getpid());
	int rc = file_rename(AT_FDCWD, d->path, old);

	if (rc < 0)
		return rc;
	rc = file_rename(AT_FDCWD, d->aside, d->path);
	if (rc < 0)
		renameat(AT_FDCWD, old, AT_FDCWD, d->path);
	else
		renameat(AT_FDCWD, old, AT_FDCWD, d->aside);
	return rc;
}

/* Renames the new directory to its place.  One that is there changes places with it, so that there
 * is always a whole one; then it is removed. */
static int take_place(const struct new_dir *d, struct err *err)
{
	int rc = d->replace ? file_exchange(AT_FDCWD, d->aside, d->path)
			    : file_rename(AT_FDCWD, d->aside, d->path);

	if (d->replace && (rc == -EINVAL || rc == -ENOSYS))
		rc = replace_in_steps(d);

	if (rc < 0)
		return err_errno(err, rc, "%s: cannot put the new one there", d->path);
	if (d->replace)
		remove_tree(AT_FDCWD, d->aside);
	return 0;
}

int new_dir_sync(const struct new_dir *d, struct err *err)
{
	return sync_tree(AT_FDCWD, d->aside, err);
}

int new_dir_commit(struct new_dir *d, struct err *err)
{
	_mem_ char *parent = xstrndup(d->path, (size_t)(str_basename(d->path) - d->path));
	int rc = new_dir_sync(d, err);

	if (rc >= 0)
		rc = take_place(d, err);
	if (rc < 0)
		return rc;
	free(d->aside);
	d->aside = NULL;
	/* It is there by now; without this a power failure can only take it away as a whole. */
	sync_one(AT_FDCWD, *parent ? parent : ".", NULL);
	return 0;
}

void new_dir_end(struct new_dir *d)
{
	if (d->fd >= 0)
		close(d->fd);
	if (d->aside)
		remove_tree(AT_FDCWD, d->aside);
	free(d->aside);
	free(d->path);
	*d = (struct new_dir){.fd = -1};
}

int new_dir_write(const struct new_dir *d, const char *name, const void *bytes, size_t n,
		  struct err *err)
{
	_mem_ char *path = xasprintf("%s/%s", d->aside, name);
	_mem_ char *parent = xstrndup(path, (size_t)(str_basename(path) - path) - 1);
	_fd_ int fd = -1;
	int rc = file_mkdirs(parent, err);

	if (rc < 0)
		return rc;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		return err_errno(err, -errno, "%s", path);
	rc = file_write_all(fd, bytes, n);
	return rc < 0 ? err_errno(err, rc, "%s", path) : 0;
}
