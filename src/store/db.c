/* SPDX-License-Identifier: BSD-2-Clause */
/* The root of a database is checked before anything is written through it: a recorder runs as root,
 * and whoever could write there, or lead us elsewhere by a symbolic link, could make it overwrite
 * files.  The root may be reached through a link only when the link is ours or root's; below it
 * every component is opened by openat with O_NOFOLLOW. */
#include "store/db.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "store/snapshot.h"
#include "store/store.h"

#define VERSION_PREFIX "dwell database "

char *store_default_path(void)
{
	static const char *const vars[] = {"DWELLDB", "DCPIDB"};
	const char *home = getenv("HOME");

	for (size_t i = 0; i < n_elems(vars); i++) {
		const char *v = getenv(vars[i]);

		if (v && *v)
			return xstrdup(v);
	}
	return xasprintf("%s/.local/share/dwell", home && *home ? home : "/root");
}

bool db_read_version(int db_fd, char text[64])
{
	_fd_ int fd = openat(db_fd, "VERSION", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, text, 63);

	if (n < 0)
		return false;
	text[n] = '\0';
	return str_starts(text, VERSION_PREFIX);
}

/* The lock file and what a killed creator left are not somebody's files. */
static bool foreign_name(const char *name)
{
	return strcmp(name, "lock") != 0 && !str_starts(name, ".VERSION.");
}

static bool dir_is_empty(int fd)
{
	name_list l = {0};
	bool empty = db_names(fd, foreign_name, &l, NULL) >= 0 && l.n == 0;

	name_list_release(&l);
	return empty;
}

/* The number in VERSION's text; 0: it is damaged. */
static unsigned long version_of(const char *text)
{
	char *end;
	unsigned long n = strtoul(text + strlen(VERSION_PREFIX), &end, 10);

	return strcmp(end, "\n") == 0 ? n : 0;
}

/* Whether some recording below EPOCHS_FD has a MANIFEST that this program reads. */
static bool has_manifest(int epochs_fd)
{
	name_list epochs = {0}, hosts = {0};
	bool any = false;

	db_names(epochs_fd, epoch_name_valid, &epochs, NULL);
	for (size_t i = 0; i < epochs.n && !any; i++) {
		_fd_ int epoch = db_open_dir(epochs_fd, epochs.v[i], false, NULL);

		if (epoch >= 0)
			db_names(epoch, host_name_valid, &hosts, NULL);
		for (size_t k = 0; k < hosts.n && !any; k++) {
			_fd_ int dir = db_open_dir(epoch, hosts.v[k], false, NULL);
			struct manifest m;

			any = dir >= 0 && snapshot_manifest(dir, &m, NULL) >= 0;
			if (any)
				manifest_release(&m);
		}
		name_list_release(&hosts);
	}
	name_list_release(&epochs);
	return any;
}

bool db_lost_version(int db_fd)
{
	_fd_ int epochs = -1;
	char text[64];

	if (db_read_version(db_fd, text) && version_of(text))
		return false;
	epochs = db_open_dir(db_fd, "epochs", false, NULL);
	return epochs >= 0 && has_manifest(epochs);
}

bool store_is_db(const char *path)
{
	char text[64];
	_fd_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 && (db_read_version(fd, text) || dir_is_empty(fd) || db_lost_version(fd));
}

/* May we write below this directory? */
static int check_safe(const char *path, int fd, struct err *err)
{
	struct stat st, link;
	uid_t me = geteuid();

	if (fstat(fd, &st) < 0)
		return err_errno(err, -errno, "%s", path);
	if (lstat(path, &link) >= 0 && S_ISLNK(link.st_mode) && link.st_uid != me &&
	    link.st_uid != 0)
		return err_set(err, -EPERM,
			       "%s: a symbolic link of user %u: not writing a database through it",
			       path, link.st_uid);
	if (me == 0 && st.st_uid != 0)
		return err_set(err, -EPERM, "%s: belongs to user %u: not writing there as root",
			       path, st.st_uid);
	if (st.st_mode & S_IWOTH && !(st.st_mode & S_ISVTX))
		return err_set(err, -EPERM, "%s: everybody may write there: not a safe database",
			       path);
	return 0;
}

static int write_version(const char *path, int fd, struct err *err)
{
	char text[64];
	int n = snprintf(text, sizeof(text), VERSION_PREFIX "%d\n", DB_VERSION), rc;

	if (!dir_is_empty(fd))
		return err_set(err, -EPERM, "%s: has files in it and is not a dwell database",
			       path);
	rc = file_replace(fd, "VERSION", text, (size_t)n, err);
	return rc < 0 ? err_prefix(err, rc, "%s", path) : 0;
}

int db_upgrade(int epochs_fd, struct err *err)
{
	_fd_ int fd = openat(epochs_fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char text[64], new[64];
	int n = snprintf(new, sizeof(new), VERSION_PREFIX "%d\n", DB_VERSION);

	if (fd < 0)
		return err_errno(err, -errno, "the database's directory");
	if (db_read_version(fd, text) && strcmp(text, new) == 0)
		return 0;
	return file_replace(fd, "VERSION", new, (size_t)n, err);
}

/* Removes what a creator killed in the middle left. */
static void remove_version_temps(int fd)
{
	DIR *d = fdopendir(dup(fd));
	struct dirent *e;

	if (!d)
		return;
	rewinddir(d);
	while ((e = readdir(d)))
		if (str_starts(e->d_name, ".VERSION."))
			unlinkat(fd, e->d_name, 0);
	closedir(d);
}

/* Makes directory PATH, for its owner alone, and its parents, with the umask's permissions. */
static int make_root(const char *path, struct err *err)
{
	_mem_ char *parent = xstrdup(path);
	size_t n = strlen(parent);
	mode_t old;
	int rc = 0;

	while (n > 1 && parent[n - 1] == '/')
		n--;
	while (n > 0 && parent[n - 1] != '/')
		n--;
	parent[n] = '\0';
	if (n > 0)
		rc = file_mkdirs(parent, err);
	if (rc < 0)
		return rc;
	old = umask(077); /* one that takes the owner's permissions would lock us out */
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		rc = err_errno(err, -errno, "%s: mkdir", path);
	umask(old);
	return rc;
}

/* Gives the empty directory FD the permissions of a new database: all that comes to be in it takes
 * them from there (file_create).  A directory of somebody else stays as it is. */
static int protect_root(const char *path, int fd, const gid_t *group, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_errno(err, -errno, "%s", path);
	if (st.st_uid != geteuid())
		return 0;
	if (group && st.st_gid != *group && fchown(fd, (uid_t)-1, *group) < 0)
		return err_errno(err, -errno, "%s: cannot give it to group %u", path,
				 (unsigned)*group);
	if (fchmod(fd, group ? 0750 : 0700) < 0)
		return err_errno(err, -errno, "%s: chmod", path);
	return 0;
}

/* Makes the directory FD a database; TEXT becomes its version.  Recorders that begin together make
 * it one after the other. */
static int make_database(const char *path, int fd, const gid_t *group, char text[64],
			 struct err *err)
{
	int rc = 0;

	flock(fd, LOCK_EX);
	if (!db_read_version(fd, text)) {
		if (dir_is_empty(fd))
			rc = protect_root(path, fd, group, err);
		if (rc >= 0)
			rc = write_version(path, fd, err);
		if (rc >= 0) {
			remove_version_temps(fd);
			db_read_version(fd, text);
		}
	}
	flock(fd, LOCK_UN);
	return rc;
}

/* A new database is GROUP's to read; NULL: nobody's but the owner's. */
static int open_root(const char *path, bool write, const gid_t *group, struct err *err)
{
	char text[64];
	unsigned long version;
	_fd_ int fd = -1;
	int rc = write ? make_root(path, err) : 0;

	if (rc < 0)
		return rc;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_errno(err, -errno, "%s", path);
	rc = write ? check_safe(path, fd, err) : 0;
	if (rc < 0)
		return rc;
	if (db_lost_version(fd))
		return err_set(err, -EINVAL,
			       "%s: VERSION is damaged or missing; `dwell check --repair %s` makes "
			       "it anew",
			       path, path);
	if (!db_read_version(fd, text)) {
		if (!write)
			return err_set(err, dir_is_empty(fd) ? -ENOENT : -EINVAL,
				       dir_is_empty(fd)
					       ? "%s: the database is empty; `dwell record "
						 "-- COMMAND` or `dwell record -a` records into it"
					       : "%s: not a dwell database",
				       path);
		rc = make_database(path, fd, group, text, err);
		if (rc < 0)
			return rc;
	}
	version = version_of(text);
	if (!version)
		return err_set(err, -EINVAL, "%s: VERSION is damaged", path);
	if (version > DB_VERSION)
		return err_set(err, -EPROTONOSUPPORT,
			       "%s: database version %lu is newer than this program's (%d)", path,
			       version, DB_VERSION);
	return take_fd(&fd);
}

int db_open_lost(const char *path, bool repair, struct err *err)
{
	char text[64];
	int n = snprintf(text, sizeof(text), VERSION_PREFIX "%d\n", DB_VERSION), rc;
	_fd_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || !db_lost_version(fd))
		return -ENOENT;
	if (!repair)
		return take_fd(&fd);
	rc = check_safe(path, fd, err);
	if (rc >= 0)
		rc = file_replace(fd, "VERSION", text, (size_t)n, err);
	return rc < 0 ? rc : take_fd(&fd);
}

int db_open(const char *path, bool write, struct err *err)
{
	return open_root(path, write, NULL, err);
}

int store_make(const char *path, const char *group, struct err *err)
{
	struct group *g = group ? getgrnam(group) : NULL;
	uint64_t number;
	gid_t gid = g ? g->gr_gid : 0;
	int fd;

	if (group && !g) {
		if (str_parse_u64(group, 10, &number) < 0 || number >= UINT32_MAX)
			return err_set(err, -EINVAL,
				       "--group %s: there is no such group; groupadd makes one",
				       group);
		gid = (gid_t)number;
	}
	fd = open_root(path, true, group ? &gid : NULL, err);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

int db_open_dir(int dirfd, const char *name, bool create, struct err *err)
{
	int fd;

	if (create && (fd = file_mkdirat(dirfd, name)) < 0)
		return err_errno(err, fd, "%s: mkdir", name);
	fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_errno(err, -errno, "%s", name);
	return fd;
}

int db_open_noted(int db_fd, const char *name)
{
	int fd;

	do {
		fd = openat(db_fd, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0 || errno != ENOENT)
			return fd < 0 ? -errno : fd;
		fd = file_create(db_fd, name);
	} while (fd == -EEXIST); /* somebody else made it meanwhile */
	return fd;
}

int db_lock(int db_fd, struct err *err)
{
	int fd = db_open_noted(db_fd, "lock");

	if (fd < 0)
		return err_errno(err, fd, "lock");
	while (flock(fd, LOCK_EX) < 0) {
		int e = errno;

		if (e == EINTR)
			continue;
		close(fd);
		return err_errno(err, -e, "lock");
	}
	return fd;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int db_names(int dirfd, bool (*want)(const char *name), name_list *ret, struct err *err)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d)
		return err_errno(err, -errno, "reading a directory");
	while ((e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && want(e->d_name))
			vec_push(ret, xstrdup(e->d_name));
	closedir(d);
	vec_sort(ret, by_name);
	return 0;
}

void name_list_release(name_list *l)
{
	vec_each (s, l)
		free(*s);
	vec_release(l);
}

int db_load(int dirfd, const char *name, size_t max, char **ret, size_t *ret_n, struct err *err)
{
	_fd_ int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	_mem_ char *p = NULL;
	size_t n = 0;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(err, -errno, "%s", name);
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EINVAL, "%s: not a regular file", name);
	if ((uint64_t)st.st_size > max)
		return err_set(err, -E2BIG, "%s: larger than %zu bytes", name, max);
	p = xmalloc((size_t)st.st_size + 1);
	while (n < (size_t)st.st_size) {
		ssize_t k = read(fd, p + n, (size_t)st.st_size - n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return err_errno(err, -errno, "%s", name);
		if (k == 0)
			break;
		n += (size_t)k;
	}
	p[n] = '\0';
	*ret = take_ptr(&p);
	*ret_n = n;
	return 0;
}

bool db_any_name(const char *name)
{
	return true;
}

bool epoch_name_valid(const char *name)
{
	return strlen(name) == EPOCH_NAME_LEN && strspn(name, "0123456789") == EPOCH_NAME_LEN;
}

bool host_name_valid(const char *name)
{
	return *name && *name != '.' && !strchr(name, '/') && strlen(name) <= 255;
}

void host_name_self(char *ret)
{
	struct utsname u;

	snprintf(ret, 256, "%s",
		 uname(&u) >= 0 && host_name_valid(u.nodename) ? u.nodename : "localhost");
}

void epoch_name_of(uint64_t wall_ns, char ret[EPOCH_NAME_LEN + 1])
{
	time_t t = (time_t)(wall_ns / 1000000000);
	struct tm tm;

	if (!gmtime_r(&t, &tm) || tm.tm_year > 9999 - 1900)
		memcpy(ret, "99999999999999", EPOCH_NAME_LEN + 1);
	else
		strftime(ret, EPOCH_NAME_LEN + 1, "%Y%m%d%H%M%S", &tm);
}

int epoch_name_next(uint64_t now_wall_ns, const char *last, char ret[EPOCH_NAME_LEN + 1],
		    struct err *err)
{
	time_t t = (time_t)(now_wall_ns / 1000000000);
	struct tm tm = {0};

	if (*last) {
		time_t after;

		sscanf(last, "%4d%2d%2d%2d%2d%2d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
		       &tm.tm_hour, &tm.tm_min, &tm.tm_sec);
		tm.tm_year -= 1900;
		tm.tm_mon--;
		after = timegm(&tm) + 1;
		t = t > after ? t : after;
	}
	if (!gmtime_r(&t, &tm) || tm.tm_year > 9999 - 1900)
		return err_set(err, -ERANGE, "no epoch can come after %s", last);
	strftime(ret, EPOCH_NAME_LEN + 1, "%Y%m%d%H%M%S", &tm);
	return 0;
}
