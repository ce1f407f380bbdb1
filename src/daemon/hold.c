/* SPDX-License-Identifier: BSD-2-Clause */
/* See hold.h.  The lock is a flock: it goes with its process, so that a dead daemon holds nothing;
 * what the file says is for people only. */
#include "daemon/hold.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "store/db.h"
#include "store/store.h"
#include "store/summed.h"

/* "PREFIX.HOST", as plain a name as hosts' directories have. */
static void host_file(const char *prefix, char *ret, size_t n)
{
	struct utsname u;

	if (uname(&u) < 0 || !*u.nodename || strchr(u.nodename, '/'))
		snprintf(ret, n, "%s.localhost", prefix);
	else
		snprintf(ret, n, "%s.%s", prefix, u.nodename);
}

static void who_holds(int fd, char *ret, size_t n)
{
	ssize_t k = pread(fd, ret, n - 1, 0);

	ret[k > 0 ? k : 0] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
}

int hold_database(const char *db, const char *group, struct err *err)
{
	_fd_ int db_fd = -1, fd = -1;
	char name[300], holder[128];
	_str_ struct str text = {0};
	int rc = store_make(db, group, err);

	if (rc < 0)
		return rc;
	db_fd = open(db, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	host_file("daemon", name, sizeof(name));
	fd = db_fd < 0 ? -errno : db_open_noted(db_fd, name);
	if (fd < 0)
		return err_errno(err, fd, "%s/%s", db, name);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK)
			return err_errno(err, -errno, "%s/%s", db, name);
		who_holds(fd, holder, sizeof(holder));
		return err_set(err, -EBUSY, "%s: held by %s", db,
			       *holder ? holder : "another daemon");
	}
	holder_format((int)getpid(), &text);
	if (ftruncate(fd, 0) < 0 || pwrite(fd, text.v, text.n, 0) != (ssize_t)text.n)
		lseek(fd, 0, SEEK_SET); /* a full disk is no reason not to run */
	return take_fd(&fd);
}

int hold_check(const char *db, struct err *err)
{
	_fd_ int db_fd = open(db, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd = -1;
	char name[300];

	if (db_fd < 0)
		return err_errno(err, -errno, "%s", db);
	host_file("daemon", name, sizeof(name));
	fd = openat(db_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return 0;
	return err_set(err, -ENOENT, "%s: no daemon of this host records there", db);
}

char *hold_socket_path(int db_fd)
{
	char name[300];

	host_file("control", name, sizeof(name));
	return xasprintf("/proc/self/fd/%d/%s", db_fd, name);
}
