/* SPDX-License-Identifier: BSD-2-Clause */
/* See file.h. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/vec.h"

int (*file_fault)(enum file_op op, size_t n_bytes);
void (*step_hook)(const char *what);

int file_map_fd(struct file_map *m, int fd, const char *name, struct err *err)
{
	struct stat st;
	void *p;

	if (fstat(fd, &st) < 0)
		return err_errno(err, -errno, "%s", name);
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EINVAL, "%s: not a regular file", name);
	*m = (struct file_map){0};
	if (st.st_size == 0)
		return 0;
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return err_errno(err, -errno, "%s: mmap", name);
	m->bytes = p;
	m->n_bytes = (size_t)st.st_size;
	return 0;
}

int file_map_open(struct file_map *m, int dirfd, const char *path, bool nofollow, struct err *err)
{
	/* O_NONBLOCK: a hostile name may be a FIFO; it is refused by file_map_fd. */
	_fd_ int fd = openat(dirfd, path,
			     O_RDONLY | O_CLOEXEC | O_NONBLOCK | (nofollow ? O_NOFOLLOW : 0));

	if (fd < 0)
		return err_errno(err, -errno, "%s", path);
	return file_map_fd(m, fd, path, err);
}

void file_map_close(struct file_map *m)
{
	if (m->bytes)
		munmap((void *)m->bytes, m->n_bytes);
	*m = (struct file_map){0};
}

int file_load(const char *path, size_t max, char **ret_text, size_t *ret_n, struct err *err)
{
	_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	VEC(char) buf = {0};

	if (fd < 0)
		return err_errno(err, -errno, "%s", path);
	for (;;) {
		ssize_t n;

		vec_reserve(&buf, 65536);
		n = read(fd, buf.v + buf.n, buf.cap - buf.n - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int e = -errno;

			vec_release(&buf);
			return err_errno(err, e, "%s", path);
		}
		if (n == 0)
			break;
		buf.n += (size_t)n;
		if (buf.n > max) {
			vec_release(&buf);
			return err_set(err, -E2BIG, "%s: larger than %zu bytes", path, max);
		}
	}
	buf.v[buf.n] = '\0';
	*ret_text = buf.v;
	if (ret_n)
		*ret_n = buf.n;
	return 0;
}

/* write(2), or pwrite(2) at *OFF unless OFF is NULL. */
static int write_all(int fd, const void *bytes, size_t n, const uint64_t *off)
{
	const uint8_t *p = bytes;
	size_t limit = n;
	int fault = file_fault ? file_fault(FILE_WRITE, n) : 0;

	if (fault < 0)
		return fault;
	if (fault > 0 && (size_t)fault < n)
		limit = (size_t)fault;
	for (size_t done = 0; done < limit;) {
		ssize_t k = off ? pwrite(fd, p + done, limit - done, (off_t)(*off + done))
				: write(fd, p + done, limit - done);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return -errno;
		done += (size_t)k;
	}
	return fault > 0 ? -ENOSPC : 0;
}

int file_write_all(int fd, const void *bytes, size_t n)
{
	return write_all(fd, bytes, n, NULL);
}

int file_pwrite_all(int fd, const void *bytes, size_t n, uint64_t off)
{
	return write_all(fd, bytes, n, &off);
}

int file_pread_all(int fd, void *bytes, size_t n, uint64_t off)
{
	char *to = bytes;

	while (n) {
		ssize_t got = pread(fd, to, n, (off_t)off);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : -EIO;
		to += got;
		off += (uint64_t)got;
		n -= (size_t)got;
	}
	return 0;
}

int file_fsync(int fd)
{
	int fault = file_fault ? file_fault(FILE_FSYNC, 0) : 0;

	if (fault < 0)
		return fault;
	return fsync(fd) < 0 ? -errno : 0;
}

int file_rename(int dirfd, const char *from, const char *to)
{
	int fault = file_fault ? file_fault(FILE_RENAME, 0) : 0;

	if (fault < 0)
		return fault;
	return renameat(dirfd, from, dirfd, to) < 0 ? -errno : 0;
}

mode_t file_mode_in(int dirfd, bool directory)
{
	const mode_t own = directory ? 0700 : 0600, most = directory ? 0755 : 0644;
	struct stat st;

	return fstat(dirfd, &st) < 0 ? own : own | (st.st_mode & most);
}

int file_exchange(int dirfd, const char *from, const char *to)
{
	int fault = file_fault ? file_fault(FILE_RENAME, 0) : 0;

	if (fault < 0)
		return fault;
	return renameat2(dirfd, from, dirfd, to, RENAME_EXCHANGE) < 0 ? -errno : 0;
}

/* Gives FD, which was just made in DIRFD, its permissions.  It was made for the owner alone, so
 * that nobody opens it before.  Without the right to give it to the directory's group, the group's
 * members get nothing. */
static int settle_mode(int dirfd, int fd, bool directory)
{
	mode_t mode = file_mode_in(dirfd, directory);
	struct stat dir, made;

	if (fstat(dirfd, &dir) < 0 || fstat(fd, &made) < 0)
		return -errno;
	if (dir.st_gid != made.st_gid && fchown(fd, (uid_t)-1, dir.st_gid) < 0)
		mode &= ~(mode_t)0070;
	return fchmod(fd, mode | (directory ? made.st_mode & S_ISGID : 0)) < 0 ? -errno : 0;
}

int file_create(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int rc = fd < 0 ? -errno : settle_mode(dirfd, fd, false);

	if (rc >= 0)
		return fd;
	if (fd >= 0) {
		close(fd);
		unlinkat(dirfd, name, 0);
	}
	return rc;
}

static int open_made(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Makes directory NAME anew, which a umask has taken the owner's permissions from.  That is rare:
 * other threads see the umask change for a moment. */
static int make_again(int dirfd, const char *name)
{
	mode_t old;
	int rc = unlinkat(dirfd, name, AT_REMOVEDIR) < 0 ? -errno : 0;

	if (rc < 0)
		return rc;
	old = umask(077);
	rc = mkdirat(dirfd, name, 0700) < 0 ? -errno : 0;
	umask(old);
	return rc < 0 ? rc : open_made(dirfd, name);
}

int file_mkdirat(int dirfd, const char *name)
{
	int fd = -1, rc;

	if (mkdirat(dirfd, name, 0700) < 0)
		return errno == EEXIST ? 0 : -errno;
	fd = open_made(dirfd, name);
	if (fd == -EACCES)
		fd = make_again(dirfd, name);
	rc = fd < 0 ? fd : settle_mode(dirfd, fd, true);
	if (fd >= 0)
		close(fd);
	return rc < 0 ? rc : 1;
}

static int create_hidden(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : fd;
}

/* Linux keeps what one write brought in pages as large as 2 MiB, and maps such a page whole for a
 * reader who looks at one byte.  Smaller writes make smaller ones. */
static int write_pieces(int fd, const uint8_t *bytes, size_t n)
{
	const size_t piece = 64 << 10;
	int rc = 0;

	for (size_t done = 0; done < n && rc >= 0; done += piece)
		rc = file_write_all(fd, bytes + done, n - done < piece ? n - done : piece);
	return rc;
}

enum replace_how { REPLACE_SYNCED, REPLACE_LAZILY, REPLACE_HIDDEN };

static int replace(int dirfd, const char *name, const void *bytes, size_t n, enum replace_how how,
		   struct err *err)
{
	const bool sync = how == REPLACE_SYNCED;
	char tmp[300];
	int rc;
	int fd;

	if (snprintf(tmp, sizeof(tmp), ".%s.%d.tmp", name, (int)getpid()) >= (int)sizeof(tmp))
		return err_set(err, -ENAMETOOLONG, "%s: name too long", name);
	unlinkat(dirfd, tmp, 0);
	fd = how == REPLACE_HIDDEN ? create_hidden(dirfd, tmp) : file_create(dirfd, tmp);
	if (fd < 0)
		return err_errno(err, fd, "%s: create", name);
	flock(fd, LOCK_EX | LOCK_NB); /* tells out_file_sweep that its writer lives */
	rc = write_pieces(fd, bytes, n);
	if (rc >= 0 && sync)
		rc = file_fsync(fd);
	if (close(fd) < 0 && rc >= 0)
		rc = -errno;
	if (rc >= 0)
		rc = file_rename(dirfd, tmp, name);
	if (rc < 0) {
		unlinkat(dirfd, tmp, 0);
		return err_errno(err, rc, "%s: write", name);
	}
	rc = sync ? file_fsync(dirfd) : 0;
	return rc < 0 ? err_errno(err, rc, "%s: fsync of its directory", name) : 0;
}

int file_replace(int dirfd, const char *name, const void *bytes, size_t n, struct err *err)
{
	return replace(dirfd, name, bytes, n, REPLACE_SYNCED, err);
}

int file_replace_lazily(int dirfd, const char *name, const void *bytes, size_t n, struct err *err)
{
	return replace(dirfd, name, bytes, n, REPLACE_LAZILY, err);
}

int file_replace_hidden(int dirfd, const char *name, const void *bytes, size_t n, struct err *err)
{
	return replace(dirfd, name, bytes, n, REPLACE_HIDDEN, err);
}

bool file_has_room(int dirfd, uint64_t n_bytes)
{
	struct statvfs fs;

	return fstatvfs(dirfd, &fs) >= 0 && (uint64_t)fs.f_bavail * fs.f_frsize >= n_bytes;
}

bool file_is_own_folder(const char *folder)
{
	_mem_ char *path = folder && folder[0] == '/' ? xstrdup(folder) : NULL;
	struct stat st;

	while (path && stat(path, &st) < 0) {
		if (errno != ENOENT || !path[1])
			return false;
		*(strrchr(path, '/') > path ? strrchr(path, '/') : path + 1) = '\0';
	}
	return path && st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

int file_mkdirs(const char *path, struct err *err)
{
	_mem_ char *p = xstrdup(path);

	for (char *s = p + 1; *p; s++) {
		char c = *s;

		if (c != '/' && c != '\0')
			continue;
		*s = '\0';
		if (mkdir(p, 0777) < 0 && errno != EEXIST)
			return err_errno(err, -errno, "%s: mkdir", p);
		*s = c;
		if (!c)
			break;
	}
	return 0;
}

int file_open_nameless(int dirfd, const char *path, struct err *err)
{
	static _Atomic unsigned n;
	int fd = openat(dirfd, path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0) {
		_mem_ char *name = xasprintf("%s/.nameless-%ld-%u", path, (long)getpid(), n++);

		fd = openat(dirfd, name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
		if (fd < 0)
			return err_errno(err, -errno, "%s: cannot make a temporary file", path);
		unlinkat(dirfd, name, 0);
	}
	return fd;
}

void file_raise_limit(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) >= 0 && l.rlim_cur < l.rlim_max) {
		l.rlim_cur = l.rlim_max;
		setrlimit(RLIMIT_NOFILE, &l);
	}
}
