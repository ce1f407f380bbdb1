/* SPDX-License-Identifier: BSD-2-Clause */
/* A process holds a lock on its file while it lives, and whoever finishes one takes the same lock.
 * A file that is damaged keeps its profile from nobody but itself: the others are finished. */
#include "port/histograms.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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

	return fstat(fd, &a) == 0 && fstatat(dirfd, name, &b, AT_SYMLINK_NOFOLLOW) == 0 &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* 1 when it was finished, 0 when it is not for us. */
static int finish(int dirfd, const char *dir, const char *name, struct err *err)
{
	_fd_ int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct shared_view v;
	struct file_map map;
	const char *why;
	int r;

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || !is_there(dirfd, name, fd))
		return 0;
	r = file_map_fd(&map, fd, name, err);
	if (r < 0)
		return r;
	r = shared_view_open(&v, map.bytes, map.n_bytes, &why);
	if (r < 0) {
		r = err_set(err, r, "%s/%s: %s; move it away to read the others", dir, name, why);
	} else {
		r = finish_write(&v, dir);
		if (r < 0)
			r = err_errno(err, r, "%s/%s: finishing it", dir, name);
		else if (unlinkat(dirfd, name, 0) < 0)
			r = err_errno(err, -errno, "%s/%s: removing it", dir, name);
	}
	file_map_close(&map);
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
					? finish(dirfd(d), dir, e->d_name, bad ? NULL : err)
					: 0;

			if (r < 0)
				bad = r;
			else
				n += r;
		}
	closedir(d);
	return bad ? bad : n;
}
