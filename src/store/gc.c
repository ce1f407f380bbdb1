/* SPDX-License-Identifier: BSD-2-Clause */
/* See gc.h.
 *
 * A recording is removed by whoever holds the database's lock, the recording's own (so that no
 * recorder lives and none recovers it), and an exclusive flock on its MANIFEST, of which each
 * reader holds a shared one while it has the recording open.  It is renamed out of the epochs
 * first, which takes it from all later readers at once, and then deleted; what a killed run left
 * under such a name is deleted by the next. */
#include "store/gc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "resolve/kept_dir.h"
#include "resolve/symcache.h"
#include "store/commit.h"
#include "store/db.h"
#include "store/edges.h"
#include "store/job.h"
#include "store/manifest.h"
#include "store/snapshot.h"

#define REMOVED_PREFIX ".removed-"

/* A recording that may be removed. */
struct candidate {
	char *epoch, *host;
	char *job; /* "" for none: it is one by itself */
	uint64_t n_bytes, end_wall_ns;
	unsigned n_newer; /* jobs of its host */
	bool is_decided, is_gone;
};

typedef VEC(size_t) job_members;

struct host_count {
	char *host;
	unsigned n;
};

struct gc {
	const struct gc_opts *o;
	int db_fd, epochs_fd;
	VEC(struct candidate) all; /* newest first */
	VEC(struct host_count) hosts;
	uint64_t n_bytes; /* of those there are still */
	uint64_t now_ns;
	void (*item)(void *ctx, const struct gc_item *i);
	void *ctx;
	struct gc_totals *totals;
};

/* --- what there is --- */

/* Bytes of the files in DIR. */
static uint64_t bytes_in(int dir)
{
	name_list l = {0};
	uint64_t n = 0;
	struct stat st;

	if (db_names(dir, db_any_name, &l, NULL) >= 0)
		vec_each (name, &l)
			if (fstatat(dir, *name, &st, AT_SYMLINK_NOFOLLOW) >= 0 &&
			    S_ISREG(st.st_mode))
				n += (uint64_t)st.st_size;
	name_list_release(&l);
	return n;
}

/* How many jobs C's host has that are newer than C's. */
static unsigned count_jobs(struct gc *g, const struct candidate *c)
{
	struct host_count *h;

	if (*c->job)
		for (const struct candidate *k = g->all.v; k < c; k++)
			if (strcmp(k->job, c->job) == 0 && strcmp(k->host, c->host) == 0)
				return k->n_newer;
	vec_each (known, &g->hosts)
		if (strcmp(known->host, c->host) == 0)
			return known->n++;
	h = vec_add(&g->hosts);
	h->host = xstrdup(c->host);
	return h->n++;
}

static uint64_t began_ns(const char *epoch)
{
	struct tm tm = {0};

	sscanf(epoch, "%4d%2d%2d%2d%2d%2d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour,
	       &tm.tm_min, &tm.tm_sec);
	tm.tm_year -= 1900;
	tm.tm_mon--;
	return (uint64_t)timegm(&tm) * 1000000000;
}

/* When the last sample of the recording in DIR was taken; one that cannot be read, or has none, is
 * as old as its name. */
static uint64_t ended_ns(int dir, const char *epoch)
{
	uint64_t end = began_ns(epoch);
	struct manifest m;

	if (snapshot_manifest(dir, &m, NULL) < 0)
		return end;
	vec_each (s, &m.segments)
		end = s->end_wall_ns > end ? s->end_wall_ns : end;
	manifest_release(&m);
	return end;
}

static void find_in_epoch(struct gc *g, const char *epoch)
{
	_fd_ int fd = db_open_dir(g->epochs_fd, epoch, false, NULL);
	name_list hosts = {0};

	if (fd >= 0)
		db_names(fd, host_name_valid, &hosts, NULL);
	/* A run that was killed before it removed the epoch of its last recording left it empty.
	 * Recorders make theirs under the database's lock. */
	if (fd >= 0 && !hosts.n && !g->o->dry_run && !g->o->age_only)
		unlinkat(g->epochs_fd, epoch, AT_REMOVEDIR);
	vec_each (h, &hosts) {
		_fd_ int dir = db_open_dir(fd, *h, false, NULL);
		struct candidate c = {0};

		if (dir < 0)
			continue;
		c.job = job_of(g->epochs_fd, epoch, *h);
		c.epoch = xstrdup(epoch);
		c.host = xstrdup(*h);
		c.n_bytes = bytes_in(dir);
		/* Only what may be too old by its name need be asked. */
		c.end_wall_ns = g->now_ns;
		if (g->o->max_age_ns && began_ns(epoch) + g->o->max_age_ns < g->now_ns)
			c.end_wall_ns = ended_ns(dir, epoch);
		g->n_bytes += c.n_bytes;
		vec_push(&g->all, c);
	}
	name_list_release(&hosts);
}

/* --- jobs --- */

static bool is_of_host(const struct gc *g, const struct candidate *c)
{
	return !g->o->host || strcmp(g->o->host, c->host) == 0;
}

/* The recordings of C's job, newest first: numbers in g->all. */
static void members_of(const struct gc *g, const struct candidate *c, job_members *ret)
{
	if (!*c->job) {
		vec_push(ret, (size_t)(c - g->all.v));
		return;
	}
	for (size_t i = 0; i < g->all.n; i++)
		if (strcmp(g->all.v[i].job, c->job) == 0 && is_of_host(g, &g->all.v[i]))
			vec_push(ret, i);
}

/* Whether the job may have no end: all that one shell records is one.  A job of ranks is as large
 * as somebody made it. */
static bool is_of_shell(const char *job)
{
	return str_starts(job, "shell:") || str_starts(job, "series:");
}

/* Whether no limit could be held with all of the job in the database. */
static bool is_beyond_limits(const struct gc *g, const job_members *members)
{
	const uint64_t first_ns = began_ns(g->all.v[members->v[members->n - 1]].epoch);
	const uint64_t last_ns = began_ns(g->all.v[members->v[0]].epoch);
	uint64_t n_bytes = 0;

	vec_each (i, members)
		n_bytes += g->all.v[*i].n_bytes;
	return (g->o->max_age_ns && first_ns + g->o->max_age_ns < last_ns) ||
	       (g->o->max_bytes && n_bytes > g->o->max_bytes &&
		is_of_shell(g->all.v[members->v[0]].job));
}

/* Makes each recording of a job that is beyond the limits one by itself.  A loop in a shell that
 * records for months is one job, which is never old; kept whole, it would fill the disk. */
static void take_jobs_apart(struct gc *g)
{
	vec_each (c, &g->all) {
		job_members members = {0};

		members_of(g, c, &members);
		if (members.n > 1 && is_beyond_limits(g, &members))
			vec_each (i, &members)
				*g->all.v[*i].job = '\0';
		vec_release(&members);
	}
}

/* --- removing --- */

/* Deletes directory NAME of DIRFD with the files in it, and what was set aside (LOST_NAME). */
static int delete_dir(int dirfd, const char *name)
{
	_fd_ int dir = db_open_dir(dirfd, name, false, NULL);
	name_list l = {0};

	if (dir < 0)
		return dir;
	if (db_names(dir, db_any_name, &l, NULL) >= 0)
		vec_each (file, &l)
			if (unlinkat(dir, *file, 0) < 0 && strcmp(*file, LOST_NAME) == 0 &&
			    strcmp(name, LOST_NAME) != 0)
				delete_dir(dir, *file);
	name_list_release(&l);
	return unlinkat(dirfd, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

static bool is_removed_name(const char *name)
{
	return str_starts(name, REMOVED_PREFIX);
}

static void delete_left(const struct gc *g)
{
	name_list l = {0};

	if (db_names(g->epochs_fd, is_removed_name, &l, NULL) >= 0)
		vec_each (name, &l)
			delete_dir(g->epochs_fd, *name);
	name_list_release(&l);
}

/* Locks the recording in DIR against recorders and readers; -EWOULDBLOCK when there is one.
 * *RET_FD holds the lock against readers. */
static int lock_out(int dir, int *ret_fd)
{
	if (flock(dir, LOCK_EX | LOCK_NB) < 0)
		return -errno;
	*ret_fd = openat(dir, MANIFEST_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	/* What has no MANIFEST is nobody's recording. */
	if (*ret_fd < 0)
		return errno == ENOENT ? 0 : -errno;
	return flock(*ret_fd, LOCK_EX | LOCK_NB) < 0 ? -errno : 0;
}

static int remove_recording(const struct gc *g, const struct candidate *c)
{
	_fd_ int epoch_fd = db_open_dir(g->epochs_fd, c->epoch, false, NULL), dir = -1, lock = -1;
	_mem_ char *away = xasprintf(REMOVED_PREFIX "%s-%s", c->epoch, c->host);
	int rc;

	dir = epoch_fd < 0 ? epoch_fd : db_open_dir(epoch_fd, c->host, false, NULL);
	rc = dir < 0 ? dir : lock_out(dir, &lock);
	if (rc < 0 || g->o->dry_run)
		return rc;
	if (strlen(away) > 255)
		away[255] = '\0';
	if (renameat(epoch_fd, c->host, g->epochs_fd, away) < 0)
		return -errno;
	/* Else a power failure might bring back what is half deleted. */
	rc = file_fsync(epoch_fd);
	rc = rc < 0 ? rc : file_fsync(g->epochs_fd);
	if (rc >= 0)
		rc = delete_dir(g->epochs_fd, away);
	unlinkat(g->epochs_fd, c->epoch, AT_REMOVEDIR); /* stays while another host is in it */
	return rc;
}

static void gc_tell(struct gc *g, const struct gc_item *i)
{
	if (i->why == GC_IN_USE)
		g->totals->n_in_use++;
	else if (i->why == GC_FAILED)
		g->totals->n_failed++;
	else if (!i->image)
		g->totals->n_removed++;
	if (i->why != GC_IN_USE && i->why != GC_FAILED)
		g->totals->n_bytes_removed += i->n_bytes;
	if (g->item)
		g->item(g->ctx, i);
}

static void try_remove(struct gc *g, struct candidate *c, enum gc_why why)
{
	struct gc_item i = {.epoch = c->epoch, .host = c->host, .n_bytes = c->n_bytes, .why = why};
	int rc = remove_recording(g, c);

	if (rc == -EWOULDBLOCK) {
		i.why = GC_IN_USE;
	} else if (rc < 0) {
		i.why = GC_FAILED;
		i.error = strerror(-rc);
	} else {
		c->is_gone = true;
		g->n_bytes -= c->n_bytes;
	}
	gc_tell(g, &i);
}

static bool is_stopped(const struct gc_opts *o)
{
	return o->stop && atomic_load(o->stop);
}

/* Removes all recordings of C's job, the oldest first, when none of them is to be kept. */
static void remove_job(struct gc *g, const struct candidate *c)
{
	const unsigned keep = g->o->keep ? g->o->keep : 1;
	const bool too_much = g->o->max_bytes && g->n_bytes > g->o->max_bytes;
	bool too_old = g->o->max_age_ns, may_go = true;
	job_members members = {0};

	members_of(g, c, &members);
	vec_each (i, &members) {
		const struct candidate *k = &g->all.v[*i];

		may_go &= k->n_newer >= keep;
		too_old &= k->end_wall_ns + g->o->max_age_ns < g->now_ns;
	}
	for (size_t i = members.n; i-- > 0 && !is_stopped(g->o);) {
		struct candidate *k = &g->all.v[members.v[i]];

		k->is_decided = true;
		if (may_go && (too_old || too_much))
			try_remove(g, k, too_old ? GC_AGE : GC_SIZE);
	}
	vec_release(&members);
}

static void remove_recordings(struct gc *g)
{
	for (size_t k = g->all.n; k-- > 0 && !is_stopped(g->o);)
		if (!g->all.v[k].is_decided && is_of_host(g, &g->all.v[k]))
			remove_job(g, &g->all.v[k]);
}

/* Merges the segments of older recordings (edges.h).  One that cannot be is left as it is. */
static void age_recordings(struct gc *g)
{
	for (size_t k = g->all.n; k-- > 0 && !is_stopped(g->o);) {
		const struct candidate *c = &g->all.v[k];

		if (!c->is_gone && is_of_host(g, c) &&
		    began_ns(c->epoch) + EDGES_FLUSH_NS < g->now_ns &&
		    life_age(g->epochs_fd, c->epoch, c->host, g->o->prune, g->now_ns) == 1)
			g->totals->n_aged++;
	}
}

/* --- images --- */

static void ignore(struct value_sink *s, const struct value *v)
{
}

static bool is_build_id(const char *name)
{
	struct build_id id;

	return build_id_parse(name, &id) >= 0;
}

static bool is_used(const struct profile *p, const struct build_id *id, const uint8_t *digest)
{
	vec_each (im, &p->images)
		if (build_id_same(&im->build_id, id) && image_digest_fits(im->digest, digest))
			return true;
	return false;
}

/* Removes kept code of contents that no recording has. */
static void remove_kept(struct gc *g, const char *images, const struct profile *p,
			const struct build_id *id)
{
	cache_entries entries = {0};

	kept_list(images, id, &entries, NULL);
	vec_each (e, &entries)
		if (!is_used(p, id, e->key.digest) && !g->o->dry_run)
			kept_remove(images, id, e);
	vec_release(&entries);
}

/* Removes unused symbols of an image that is used: those of other files that had its build-id. */
static void remove_contents(struct gc *g, const char *db, const struct profile *p,
			    const struct build_id *id)
{
	_mem_ char *images = xasprintf("%s/images", db);
	cache_entries entries = {0};

	symcache_list(images, id, &entries, NULL);
	vec_each (e, &entries) {
		bool used = !image_digest_known(e->key.digest) || is_used(p, id, e->key.digest);

		if (!used && !g->o->dry_run)
			symcache_remove(images, id, e);
	}
	vec_release(&entries);
	remove_kept(g, images, p, id);
}

/* Removes the symbols of images that none of the recordings left has. */
static int remove_images(struct gc *g, const char *db, struct err *err)
{
	const struct store_selection all = {.epochs = "all"};
	struct value_sink sink = {.put = ignore};
	_fd_ int images_fd = db_open_dir(g->db_fd, "images", false, NULL);
	name_list names = {0};
	struct profile p;
	int rc = 0;

	if (images_fd < 0)
		return 0;
	profile_init(&p);
	rc = store_load(db, &all, &p, &sink, err);
	/* Removing symbols of what cannot be read would be a loss. */
	if (rc >= 0 || rc == -ENOENT)
		rc = db_names(images_fd, is_build_id, &names, err);
	for (size_t i = 0; i < names.n && rc >= 0; i++) {
		_fd_ int dir = db_open_dir(images_fd, names.v[i], false, NULL);
		struct gc_item item = {.image = names.v[i], .why = GC_UNUSED};
		struct build_id id;
		bool used = dir < 0;
		int gone;

		build_id_parse(names.v[i], &id);
		vec_each (im, &p.images)
			used |= build_id_same(&im->build_id, &id);
		if (used) {
			remove_contents(g, db, &p, &id);
			continue;
		}
		item.n_bytes = bytes_in(dir);
		gone = g->o->dry_run ? 0 : delete_dir(images_fd, names.v[i]);
		if (gone < 0) {
			item.why = GC_FAILED;
			item.error = strerror(-gone);
		}
		gc_tell(g, &item);
	}
	name_list_release(&names);
	profile_release(&p);
	return rc;
}

int store_gc(const char *db, const struct gc_opts *o,
	     void (*item)(void *ctx, const struct gc_item *i), void *ctx, struct gc_totals *ret,
	     struct err *err)
{
	struct gc g = {.o = o, .item = item, .ctx = ctx, .totals = ret, .now_ns = o->now_wall_ns};
	_fd_ int there = db_open(db, false, err), db_fd = -1, lock_fd = -1, epochs_fd = -1;
	name_list epochs = {0};
	int rc;

	*ret = (struct gc_totals){0};
	/* One that is not there is not made. */
	db_fd = there < 0 ? there : db_open(db, !o->dry_run, err);
	if (db_fd < 0)
		return db_fd;
	if (!g.now_ns) {
		struct timespec t;

		clock_gettime(CLOCK_REALTIME, &t);
		g.now_ns = (uint64_t)t.tv_sec * 1000000000;
	}
	if (!o->dry_run && !o->age_only) {
		lock_fd = db_lock(db_fd, err);
		if (lock_fd < 0)
			return err_prefix(err, lock_fd, "%s", db);
	}
	epochs_fd = db_open_dir(db_fd, "epochs", false, err);
	if (epochs_fd == -ENOENT)
		return 0;
	rc = epochs_fd < 0 ? epochs_fd : db_names(epochs_fd, epoch_name_valid, &epochs, err);
	g.db_fd = db_fd;
	g.epochs_fd = epochs_fd;
	if (rc >= 0 && !o->dry_run && !o->age_only)
		delete_left(&g);
	/* What is not found is not counted either, so that nothing is taken for too much. */
	for (size_t i = epochs.n; i-- > 0 && rc >= 0 && !is_stopped(o);)
		find_in_epoch(&g, epochs.v[i]);
	take_jobs_apart(&g);
	vec_each (c, &g.all)
		c->n_newer = count_jobs(&g, c);
	if (rc >= 0 && !o->age_only)
		remove_recordings(&g);
	if (rc == 0 && !o->dry_run)
		age_recordings(&g);
	if (rc >= 0 && o->images)
		rc = remove_images(&g, db, err);
	vec_each (c, &g.all) {
		ret->n_left += !c->is_gone;
		free(c->epoch);
		free(c->host);
		free(c->job);
	}
	ret->n_bytes_left = g.n_bytes;
	vec_each (h, &g.hosts)
		free(h->host);
	vec_release(&g.hosts);
	vec_release(&g.all);
	name_list_release(&epochs);
	return rc < 0 ? err_prefix(err, rc, "%s", db) : 0;
}
