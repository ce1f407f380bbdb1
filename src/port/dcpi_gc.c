/* SPDX-License-Identifier: BSD-2-Clause */
/* See dcpi_gc.h. */
#include "port/dcpi_gc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "base/vec.h"
#include "formats/dcpi.h"
#include "port/dcpi_in.h"

struct recording {
	char *epoch, *host;
	uint64_t epoch_s, end_ns, n_bytes;
	bool kept; /* one of its host's newest */
};

struct gc {
	VEC(struct recording) v; /* latest first */
	struct recording *now;	 /* being looked at */
};

/* Takes the end and the size of one file. */
static int look_at(void *ctx, const struct dcpi_recording *r, const char *name)
{
	struct recording *to = ((struct gc *)ctx)->now;
	uint64_t start, end = 0;
	struct file_map map;
	struct dcpi_file f;
	const char *time;
	struct stat st;
	size_t body;

	if (fstatat(r->fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	to->n_bytes += (uint64_t)st.st_size;
	if (file_map_open(&map, r->fd, name, true, NULL) < 0)
		return 0;
	if (dcpi_read_header(&f, map.bytes, map.n_bytes, &body, NULL) >= 0) {
		time = dcpi_find(&f, "dwell-time");
		if (!time || sscanf(time, "%" SCNu64 " %" SCNu64, &start, &end) != 2)
			end = (uint64_t)st.st_mtime * 1000000000;
		dcpi_release(&f);
	}
	file_map_close(&map);
	to->end_ns = end > to->end_ns ? end : to->end_ns;
	return 0;
}

static int note(void *ctx, const struct dcpi_recording *r)
{
	struct gc *g = ctx;

	g->now = vec_add(&g->v);
	*g->now = (struct recording){.epoch = xstrdup(r->epoch),
				     .host = xstrdup(r->host),
				     .epoch_s = r->epoch_s,
				     .end_ns = r->epoch_s * 1000000000};
	return dcpi_in_each_file(r, look_at, g, NULL);
}

static void mark_kept(struct gc *g, const struct dcpi_gc_opts *o)
{
	const unsigned keep = o->keep ? o->keep : 1;

	vec_each (r, &g->v) {
		unsigned n_newer = 0;

		for (const struct recording *s = g->v.v; s < r; s++)
			n_newer += strcmp(s->host, r->host) == 0;
		r->kept = n_newer < keep || (o->host && strcmp(o->host, r->host) != 0);
	}
}

/* Removes the plain files of directory FD: what is a directory is not ours. */
static int empty_dir(int fd)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *e;

	if (!d)
		return -errno;
	while (rc >= 0 && (e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
		    unlinkat(fd, e->d_name, 0) < 0)
			rc = -errno;
	closedir(d);
	return rc;
}

static int remove_recording(int root, const struct recording *r)
{
	_fd_ int epoch = openat(root, r->epoch, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	_fd_ int host =
		epoch < 0 ? -1
			  : openat(epoch, r->host, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int rc = host < 0 ? -errno : empty_dir(host);

	if (rc >= 0 && unlinkat(epoch, r->host, AT_REMOVEDIR) < 0)
		rc = -errno;
	if (rc >= 0)
		unlinkat(root, r->epoch, AT_REMOVEDIR); /* the last host's */
	return rc;
}

int dcpi_gc(const char *dir, const struct dcpi_gc_opts *o,
	    void (*item)(void *ctx, const struct dcpi_gc_item *i), void *ctx,
	    struct dcpi_gc_totals *ret, struct err *err)
{
	const struct dcpi_select all = {.epochs = "all"};
	_fd_ int root = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dcpi_gc_totals t = {0};
	struct gc g = {0};
	int rc = root < 0 ? err_errno(err, -errno, "%s", dir)
			  : dcpi_in_each(dir, &all, note, &g, err);

	mark_kept(&g, o);
	vec_each (r, &g.v) {
		t.n_left++;
		t.n_bytes_left += r->n_bytes;
	}
	for (size_t i = g.v.n; i-- > 0 && rc >= 0;) {
		const struct recording *r = &g.v.v[i];
		const bool old = o->max_age_ns && r->end_ns + o->max_age_ns < o->now_ns;
		struct dcpi_gc_item x = {r->epoch, r->host, r->n_bytes, old, NULL};
		int failed;

		if (r->kept || (!old && (!o->max_bytes || t.n_bytes_left <= o->max_bytes)))
			continue;
		failed = o->dry_run ? 0 : remove_recording(root, r);
		x.error = failed ? strerror(-failed) : NULL;
		item(ctx, &x);
		t.n_failed += failed < 0;
		if (failed < 0)
			continue;
		t.n_removed++;
		t.n_bytes_removed += r->n_bytes;
		t.n_left--;
		t.n_bytes_left -= r->n_bytes;
	}
	vec_each (r, &g.v) {
		free(r->epoch);
		free(r->host);
	}
	vec_release(&g.v);
	if (rc < 0)
		return rc;
	*ret = t;
	return 0;
}
