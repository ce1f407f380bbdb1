/* SPDX-License-Identifier: BSD-2-Clause */
/* A process holds a lock on its file while it lives, and whoever finishes one takes the same lock.
 * A file that is damaged keeps its profile from nobody but itself: the others are finished. */
#include "port/histograms.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "inproc/finish.h"

/* Whether NAME is still the file open at FD. */
static bool is_there(int dirfd, const char *name, int fd)
{
	struct stat a, b;

	return fstat(fd, &a) >= 0 && fstatat(dirfd, name, &b, AT_SYMLINK_NOFOLLOW) >= 0 &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Opens NAME when its process is gone, and holds LOCK on it; -1 when it is not for us. */
static int take_file(int dirfd, const char *name, int lock)
{
	int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 || (flock(fd, lock | LOCK_NB) >= 0 && is_there(dirfd, name, fd)))
		return fd;
	close(fd);
	return -1;
}

/* Makes profile files below TO of the file NAME of DIR, open at FD. */
static int convert_file(int fd, const char *dir, const char *name, const char *to, struct err *err)
{
	struct shared_view v;
	struct file_map map;
	const char *why;
	int r = file_map_fd(&map, fd, name, err);

	if (r < 0)
		return r;
	r = shared_view_open(&v, map.bytes, map.n_bytes, &why);
	if (r < 0) {
		r = err_set(err, r, "%s/%s: %s; move it away to read the others", dir, name, why);
	} else {
		r = finish_write(&v, to);
		if (r < 0)
			r = err_errno(err, r, "%s/%s: finishing it", dir, name);
	}
	file_map_close(&map);
	return r;
}

/* 1 when it was finished, 0 when it is not for us. */
static int finish_file(int dirfd, const char *dir, const char *name, struct err *err)
{
	_fd_ int fd = take_file(dirfd, name, LOCK_EX);
	int r;

	if (fd < 0)
		return 0;
	r = convert_file(fd, dir, name, dir, err);
	if (r >= 0 && unlinkat(dirfd, name, 0) < 0)
		r = err_errno(err, -errno, "%s/%s: removing it", dir, name);
	return r < 0 ? r : 1;
}

int histograms_finish(const char *dir, struct err *err)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int n = 0, bad = 0;

	if (!d)
		return errno == ENOTDIR ? 0 : err_errno(err, -errno, "%s", dir);
	if (faccessat(dirfd(d), ".", W_OK, AT_EACCESS) == 0)
		while ((e = readdir(d))) {
			int r = str_ends(e->d_name, ".hist")
					? finish_file(dirfd(d), dir, e->d_name, bad ? NULL : err)
					: 0;

			if (r < 0)
				bad = r;
			else
				n += r;
		}
	closedir(d);
	return bad ? bad : n;
}

size_t histograms_count(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	size_t n = 0;

	while (d && (e = readdir(d))) {
		_fd_ int fd =
			str_ends(e->d_name, ".hist") ? take_file(dirfd(d), e->d_name, LOCK_SH) : -1;

		n += fd >= 0;
	}
	if (d)
		closedir(d);
	return n;
}

/* Makes the private tree when there is none yet. */
static int make_tree(struct histograms *h, struct err *err)
{
	const char *tmp = getenv("TMPDIR");

	if (h->tree)
		return 0;
	h->tree = xasprintf("%s/dwell-hist.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (mkdtemp(h->tree))
		return 0;
	err_errno(err, -errno, "%s: making a directory to read histogram files", h->tree);
	free(take_ptr(&h->tree));
	return -errno;
}

int histograms_open(struct histograms *h, const char *dir, struct err *err)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int r = 0;

	*h = (struct histograms){0};
	while (d && r >= 0 && (e = readdir(d))) {
		int fd =
			str_ends(e->d_name, ".hist") ? take_file(dirfd(d), e->d_name, LOCK_SH) : -1;

		if (fd < 0)
			continue;
		vec_push(&h->fds, fd);
		r = make_tree(h, err);
		if (r >= 0)
			r = convert_file(fd, dir, e->d_name, h->tree, err);
	}
	if (d)
		closedir(d);
	if (r < 0)
		histograms_close(h);
	return r;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	remove(path);
	return 0;
}

void histograms_close(struct histograms *h)
{
	if (h->tree)
		nftw(h->tree, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	free(take_ptr(&h->tree));
	vec_each (fd, &h->fds)
		close(*fd);
	vec_release(&h->fds);
}
