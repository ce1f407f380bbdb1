/* SPDX-License-Identifier: BSD-2-Clause */
/* DCPI trees: which files there are, and which of them are wanted; dcpi_load.c reads each.
 *
 * Epochs are gone through latest first, so that the first epoch a host is met in is its latest.
 * What a tree holds may be anyone's: symbolic links are not followed below its root. */
#include "port/dcpi_in.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "formats/dcpi.h"
#include "formats/dcpi_text.h"
#include "port/dcpi_load.h"

typedef VEC(char *) names;

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void names_release(names *n)
{
	vec_each (s, n)
		free(*s);
	vec_release(n);
}

/* The names in DIRFD (kept open) in order, without those beginning with '.'. */
static int list_names(int dirfd, names *ret, struct err *err)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d) {
		int code = -errno;

		if (fd >= 0)
			close(fd);
		return err_errno(err, code, "reading the directory");
	}
	while ((e = readdir(d)))
		if (e->d_name[0] != '.')
			vec_push(ret, xstrdup(e->d_name));
	closedir(d);
	vec_sort(ret, by_name);
	return 0;
}

static int open_dir(int dirfd, const char *name, bool nofollow, struct err *err)
{
	int fd = openat(dirfd, name,
			O_RDONLY | O_DIRECTORY | O_CLOEXEC | (nofollow ? O_NOFOLLOW : 0));

	return fd < 0 ? err_errno(err, -errno, "%s", name) : fd;
}

static bool is_dir(int dirfd, const char *name)
{
	struct stat st;

	return fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) >= 0 && S_ISDIR(st.st_mode);
}

/* What lies beside profiles and is clearly none. */
static bool is_beside(const char *name)
{
	return str_ends(name, ".log") || str_ends(name, "~");
}

struct tree {
	const char *path;
	struct dcpi_load *in;
	names hosts_done; /* hosts that a later epoch had */
	size_t n_read;	  /* EPOCH/HOST directories */
	size_t n_files, n_bad;
	int (*each)(void *ctx, const struct dcpi_recording *r); /* instead of reading */
	void *ctx;
};

/* WHERE cannot be read, as MSG says: passed over, when somebody is to be told. */
static int problem(struct tree *t, int rc, const char *where, const char *msg, struct err *err)
{
	const struct dcpi_select *sel = &t->in->sel;

	if (!sel->problem)
		return err_set(err, rc, "%s: %s; move it away to read the others", where, msg);
	t->n_bad++;
	sel->problem(sel->problem_ctx, where, msg);
	return 0;
}

/* Reads the files of the directory open at FD. */
static int load_files(struct tree *t, int fd, const char *epoch, const char *host, struct err *err)
{
	names files = {0};
	uint64_t epoch_s = 0;
	int r = list_names(fd, &files, err);

	if (r < 0)
		err_prefix(err, r, "%s/%s/%s", t->path, epoch, host);
	dcpi_parse_time(epoch, &epoch_s);
	vec_each (name, &files) {
		struct err why = {""};

		if (is_beside(*name))
			continue;
		r = dcpi_load_file(t->in, fd, *name, true, epoch_s, &why);
		t->n_files++;
		if (r < 0) {
			_mem_ char *where = xasprintf("%s/%s/%s/%s", t->path, epoch, host, *name);

			r = problem(t, r, where, why.msg, err);
		}
		if (r < 0)
			break;
	}
	names_release(&files);
	return r;
}

/* Takes R, which is in one tree or in both. */
static int take_host(struct tree *t, const struct dcpi_recording *r, struct err *err)
{
	const int fds[] = {r->fd, r->beside_fd};
	int rc = 0;

	if (t->each)
		return t->each(t->ctx, r);
	t->in->facts.n = 0;
	for (unsigned i = 0; i < n_elems(fds) && rc >= 0; i++)
		if (fds[i] >= 0)
			rc = load_files(t, fds[i], r->epoch, r->host, err);
	dcpi_pieces_settle(&t->in->pieces, t->in->p);
	return rc;
}

static bool host_done(const struct tree *t, const char *host)
{
	vec_each (h, &t->hosts_done)
		if (strcmp(*h, host) == 0)
			return true;
	return false;
}

/* Whether NAME, or the same time written with 14 digits (FULL) or with 10, as DCPI's first editions
 * did, begins with the N bytes at T. */
static bool begins(const char *name, const char *full, const char *t, size_t n)
{
	return strncmp(name, t, n) == 0 || strncmp(full, t, n) == 0 ||
	       (n == 10 && strncmp(full + 2, t, n) == 0);
}

/* Writes the end T[0 .. N) of a range as a time of four-digit years, or the beginning of one.  It
 * has two-digit years when it is as long as NAME, an epoch of ten digits, when it is no longer than
 * a year, or when no year begins so: "9805" is May 1998, "2003" a year. */
static void expand_end(const char *name, const char *t, size_t n, char ret[24])
{
	uint64_t s;

	snprintf(ret, 24, "%.*s", (int)(n < 20 ? n : 20), t);
	if (strspn(ret, "0123456789") != strlen(ret) || n < 2)
		return;
	if (n == 10 && strlen(name) == 10 && dcpi_parse_time(ret, &s) >= 0)
		dcpi_format_time(s, 14, ret);
	else if (n < 4 || memcmp(t, "19", 2) < 0 || memcmp(t, "21", 2) > 0)
		snprintf(ret, 24, "%s%.*s", memcmp(t, "70", 2) < 0 ? "20" : "19",
			 (int)(n < 20 ? n : 20), t);
}

/* Whether the epoch NAME, FULL with 14 digits, is in the range T[0 .. N) with its DOTS. */
static bool in_range(const char *name, const char *full, const char *t, size_t n, const char *dots)
{
	char from[24], to[24];

	expand_end(name, t, (size_t)(dots - t), from);
	expand_end(name, dots + 2, (size_t)(t + n - dots - 2), to);
	return strncmp(full, from, strlen(from)) >= 0 &&
	       (!*to || strncmp(full, to, strlen(to)) <= 0);
}

/* Whether SPEC (dcpi_select.epochs) takes the epoch directory NAME, the newest of its host if
 * LATEST. */
static bool epoch_selected(const char *spec, const char *name, bool latest)
{
	uint64_t s = 0;
	char full[15];

	dcpi_parse_time(name, &s);
	dcpi_format_time(s, 14, full);
	for (const char *t = spec ? spec : "latest"; *t;) {
		size_t n = strcspn(t, ",");
		const char *dots = memmem(t, n, "..", 2);

		if (dots) {
			if (in_range(name, full, t, n, dots))
				return true;
		} else if (n == 6 && memcmp(t, "latest", n) == 0) {
			if (latest)
				return true;
		} else if ((n == 3 && memcmp(t, "all", n) == 0) ||
			   (n && begins(name, full, t, n))) {
			return true;
		}
		t += n + (t[n] == ',');
	}
	return false;
}

/* Opens directory NAME of both trees, RET[i] -1 where it is not there. */
static int open_both(const int in[2], const char *name, int ret[2], struct err *err)
{
	ret[0] = ret[1] = -1;
	for (unsigned i = 0; i < 2; i++) {
		if (in[i] < 0)
			continue;
		ret[i] = open_dir(in[i], name, true, err);
		if (ret[i] < 0 && ret[i] != -ENOENT)
			return ret[i];
	}
	return ret[0] < 0 && ret[1] < 0 ? -ENOENT : 0;
}

static void close_both(const int fds[2])
{
	for (unsigned i = 0; i < 2; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

/* Reads HOST of EPOCH, whose directories are FDS. */
static int load_host(struct tree *t, const int fds[2], const char *epoch, const char *host,
		     struct err *err)
{
	struct dcpi_recording r = {.epoch = epoch, .host = host};
	int dirs[2], rc;

	if ((fds[0] < 0 || !is_dir(fds[0], host)) && (fds[1] < 0 || !is_dir(fds[1], host))) {
		_mem_ char *where = xasprintf("%s/%s/%s", t->path, epoch, host);

		return problem(t, -EBADMSG, where, "not a host's directory", err);
	}
	rc = open_both(fds, host, dirs, err);
	if (rc < 0) {
		close_both(dirs);
		return err_prefix(err, rc, "%s/%s", t->path, epoch);
	}
	r.fd = dirs[0] >= 0 ? dirs[0] : dirs[1];
	r.beside_fd = dirs[0] >= 0 ? dirs[1] : -1;
	dcpi_parse_time(epoch, &r.epoch_s);
	rc = take_host(t, &r, err);
	t->n_read += rc >= 0;
	close_both(dirs);
	return rc;
}

/* Sorts N and drops what is there twice. */
static void unite_names(names *n)
{
	size_t kept = 0;

	vec_sort(n, by_name);
	for (size_t i = 0; i < n->n; i++) {
		if (kept && strcmp(n->v[kept - 1], n->v[i]) == 0)
			free(n->v[i]);
		else
			n->v[kept++] = n->v[i];
	}
	n->n = kept;
}

/* Reads the hosts of EPOCH that are selected; epochs come latest first. */
static int load_epoch(struct tree *t, const int roots[2], const char *epoch, struct err *err)
{
	names hosts = {0};
	int fds[2];
	int r = open_both(roots, epoch, fds, err);

	for (unsigned i = 0; i < 2 && r >= 0; i++)
		if (fds[i] >= 0)
			r = list_names(fds[i], &hosts, err);
	if (r < 0)
		err_prefix(err, r, "%s", t->path);
	unite_names(&hosts);
	for (size_t i = 0; i < hosts.n && r >= 0; i++) {
		const char *host = hosts.v[i];
		bool latest = !host_done(t, host);

		if ((t->in->sel.host && strcmp(t->in->sel.host, host) != 0) || is_beside(host) ||
		    !epoch_selected(t->in->sel.epochs, epoch, latest))
			continue;
		r = load_host(t, fds, epoch, host, err);
		r = r < 0 ? r : 0;
	}
	vec_each (host, &hosts)
		if (!host_done(t, *host))
			vec_push(&t->hosts_done, xstrdup(*host));
	names_release(&hosts);
	close_both(fds);
	return r;
}

/* The names of epoch directories, latest first.  What else is in a tree's root is not looked at. */
static int latest_first(const void *a, const void *b)
{
	uint64_t x = 0, y = 0;

	dcpi_parse_time(*(char *const *)a, &x);
	dcpi_parse_time(*(char *const *)b, &y);
	return x < y ? 1 : x > y ? -1 : -by_name(a, b);
}

static int list_epochs(int rootfd, names *ret, struct err *err)
{
	names all = {0};
	int r = list_names(rootfd, &all, err);

	vec_each (name, &all) {
		uint64_t s;

		if (dcpi_parse_time(*name, &s) >= 0 && is_dir(rootfd, *name))
			vec_push(ret, xstrdup(*name));
	}
	names_release(&all);
	unite_names(ret);
	vec_sort(ret, latest_first);
	return r;
}

/* Goes through the epochs of T's tree and of the one beside it; RET has their names. */
static int load_epochs(struct tree *t, names *ret, struct err *err)
{
	int roots[2] = {open_dir(AT_FDCWD, t->path, false, err), -1};
	int r = roots[0] < 0 ? roots[0] : list_epochs(roots[0], ret, err);

	if (r >= 0 && t->in->sel.beside) {
		roots[1] = open_dir(AT_FDCWD, t->in->sel.beside, true, err);
		r = roots[1] < 0 ? roots[1] : list_epochs(roots[1], ret, err);
	}
	for (size_t i = 0; i < ret->n && r >= 0; i++)
		r = load_epoch(t, roots, ret->v[i], err);
	close_both(roots);
	return r;
}

static int nothing_read(const struct tree *t, const names *epochs, struct err *err)
{
	const struct dcpi_select *sel = &t->in->sel;
	_mem_ char *there = dcpi_some_of((const char *const *)epochs->v, epochs->n);

	if (!epochs->n)
		return err_set(err, -ENOENT, "%s is no DCPI tree (EPOCH/HOST/FILE)", t->path);
	return err_set(err, -ENOENT, "%s: no profiles of epoch %s%s%s; its epochs are %s", t->path,
		       sel->epochs ? sel->epochs : "latest", sel->host ? " and host " : "",
		       sel->host ? sel->host : "", there);
}

static int load_tree(struct dcpi_load *in, const char *path, struct err *err)
{
	struct tree t = {.path = path, .in = in};
	names epochs = {0};
	int r = load_epochs(&t, &epochs, err);

	if (r >= 0 && t.n_bad && t.n_bad == t.n_files)
		r = err_set(err, -EBADMSG, "%s: none of the %zu files wanted can be read", path,
			    t.n_bad);
	else if (r >= 0 && !t.n_read)
		r = nothing_read(&t, &epochs, err);
	names_release(&epochs);
	names_release(&t.hosts_done);
	return r;
}

int dcpi_in_each(const char *path, const struct dcpi_select *sel,
		 int (*each)(void *ctx, const struct dcpi_recording *r), void *ctx, struct err *err)
{
	struct dcpi_load in = {.sel = *sel};
	struct tree t = {.path = path, .in = &in, .each = each, .ctx = ctx};
	names epochs = {0};
	int r = load_epochs(&t, &epochs, err);

	names_release(&epochs);
	names_release(&t.hosts_done);
	return r < 0 ? r : (int)t.n_read;
}

static int each_file(const struct dcpi_recording *r,
		     int (*each)(void *ctx, const struct dcpi_recording *r, const char *name),
		     void *ctx, struct err *err)
{
	names files = {0};
	int rc = list_names(r->fd, &files, err);

	for (size_t i = 0; i < files.n && rc == 0; i++)
		if (!is_beside(files.v[i]))
			rc = each(ctx, r, files.v[i]);
	names_release(&files);
	return rc;
}

int dcpi_in_each_file(const struct dcpi_recording *r,
		      int (*each)(void *ctx, const struct dcpi_recording *r, const char *name),
		      void *ctx, struct err *err)
{
	struct dcpi_recording beside = *r;
	int rc = each_file(r, each, ctx, err);

	beside.fd = r->beside_fd;
	beside.beside_fd = -1;
	return rc != 0 || beside.fd < 0 ? rc : each_file(&beside, each, ctx, err);
}

int dcpi_in_load(const char *path, const struct dcpi_select *sel, struct profile *p,
		 struct err *err)
{
	struct dcpi_load in = {.p = p, .sel = sel ? *sel : (struct dcpi_select){0}};
	struct err why = {""};
	struct stat st;
	int r;

	if (stat(path, &st) < 0)
		return err_errno(err, -errno, "%s", path);
	if (S_ISDIR(st.st_mode)) {
		r = load_tree(&in, path, err);
	} else {
		r = dcpi_load_file(&in, AT_FDCWD, path, false, 0, &why);
		if (r == -EBADMSG || r == -ENODATA)
			err_set(err, r, "%s: %s; get a new copy of the file", path, why.msg);
		else if (r < 0)
			err_set(err, r, "%s: %s", path, why.msg);
		dcpi_pieces_settle(&in.pieces, p);
	}
	if (r >= 0 && !in.n_taken && in.skipped.n) {
		_mem_ char *there = dcpi_some_of(in.skipped.v, in.skipped.n);

		r = err_set(err, -ENOENT,
			    "%s has no profile of that event and label; its events are %s", path,
			    there);
	}
	dcpi_pieces_release(&in.pieces);
	vec_release(&in.facts);
	vec_release(&in.skipped);
	return r;
}

/* Whether DIRFD/NAME is a profile file. */
static bool probe_file(int dirfd, const char *name)
{
	struct file_map map;
	bool is;

	if (file_map_open(&map, dirfd, name, false, NULL) < 0)
		return false;
	is = dcpi_probe(map.bytes, map.n_bytes) ||
	     dcpi_text_probe((const char *)map.bytes, map.n_bytes);
	file_map_close(&map);
	return is;
}

/* Whether any file DEPTH levels below DIRFD is one. */
static bool probe_below(int dirfd, int depth)
{
	names v = {0};
	bool is = false;

	list_names(dirfd, &v, NULL);
	vec_each (name, &v) {
		if (is)
			break;
		if (depth == 0) {
			is = !is_dir(dirfd, *name) && probe_file(dirfd, *name);
		} else {
			_fd_ int fd = open_dir(dirfd, *name, true, NULL);

			is = fd >= 0 && probe_below(fd, depth - 1);
		}
	}
	names_release(&v);
	return is;
}

int dcpi_in_probe(const char *path)
{
	_fd_ int fd = -1;
	names epochs = {0};
	struct stat st;
	bool is = false;

	if (stat(path, &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return S_ISREG(st.st_mode) && probe_file(AT_FDCWD, path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	list_epochs(fd, &epochs, NULL);
	vec_each (e, &epochs) {
		_fd_ int sub = open_dir(fd, *e, true, NULL);

		is = is || (sub >= 0 && probe_below(sub, 1));
	}
	names_release(&epochs);
	return is;
}
