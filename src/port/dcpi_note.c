/* SPDX-License-Identifier: BSD-2-Clause */
/* See dcpi_note.h.  The note is the database's absolute path and a newline. */
#include "port/dcpi_note.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"

#define NOTE ".dwelld"

int dcpi_note_write(const char *dir, const char *db, struct err *err)
{
	_mem_ char *whole = realpath(db, NULL), *text = NULL;
	_fd_ int fd = -1;
	int rc;

	if (!whole)
		return err_errno(err, -errno, "%s", db);
	rc = file_mkdirs(dir, err);
	if (rc < 0)
		return rc;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_errno(err, -errno, "%s", dir);
	text = xasprintf("%s\n", whole);
	rc = file_replace_lazily(fd, NOTE, text, strlen(text), err);
	if (rc < 0)
		return rc;
	/* The database may be private; that it is there is not. */
	fchmodat(fd, NOTE, 0644, 0);
	return 0;
}

char *dcpi_note_read(const char *dir)
{
	_fd_ int dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_fd_ int fd = dirfd < 0
			      ? -1
			      : openat(dirfd, NOTE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char text[PATH_MAX + 1];
	struct stat note, db;
	ssize_t n;

	if (fd < 0 || fstat(fd, &note) < 0 || !S_ISREG(note.st_mode))
		return NULL;
	n = read(fd, text, sizeof(text) - 1);
	if (n < 2 || text[n - 1] != '\n' || text[0] != '/')
		return NULL;
	text[n - 1] = '\0';
	if (strlen(text) != (size_t)n - 1 || stat(text, &db) < 0 || !S_ISDIR(db.st_mode))
		return NULL;
	if (note.st_uid != 0 && note.st_uid != geteuid() && note.st_uid != db.st_uid)
		return NULL;
	return xstrdup(text);
}
