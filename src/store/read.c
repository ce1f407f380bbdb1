/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading a database: which recordings are meant, listing them, loading them. */
#include "store/store.h"

#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "store/db.h"
#include "store/snapshot.h"

char *store_images_dir(const char *db, bool create, struct err *err)
{
	_fd_ int fd = db_open(db, create, err), images_fd = -1;

	if (fd < 0)
		return NULL;
	images_fd = db_open_dir(fd, "images", create, err);
	return images_fd < 0 ? NULL : xasprintf("%s/images", db);
}

/* Selecting. */

/* Is NAME within [FROM, TO], both beginnings of names of N_FROM and N_TO characters, "" for open?
 */
static bool in_range(const char *name, const char *from, size_t n_from, const char *to, size_t n_to)
{
	return strncmp(name, from, n_from) >= 0 && strncmp(name, to, n_to) <= 0;
}

/* Does TERM of N characters, which is neither "latest" nor "all", mean epoch NAME? */
static bool term_matches(const char *term, size_t n, const char *name)
{
	const char *dots = memmem(term, n, "..", 2);

	if (!dots)
		return n && n <= EPOCH_NAME_LEN && strncmp(name, term, n) == 0;
	return in_range(name, term, (size_t)(dots - term), dots + 2, n - (size_t)(dots + 2 - term));
}

static bool epoch_selected(const char *epochs, const char *name, bool latest)
{
	size_t n;

	for (const char *t = epochs ? epochs : "latest";; t += n + 1) {
		n = strcspn(t, ",");
		if (n == 3 && strncmp(t, "all", 3) == 0)
			return true;
		if (n == 6 && strncmp(t, "latest", 6) == 0 ? latest : term_matches(t, n, name))
			return true;
		if (!t[n])
			return false;
	}
}

struct recording_name {
	char *epoch, *host;
};

typedef VEC(struct recording_name) recording_list;

static bool has_manifest(int host_fd)
{
	return faccessat(host_fd, MANIFEST_NAME, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* All recordings of HOST (NULL: all hosts), oldest epoch first. */
static int list_all(int epochs_fd, const char *host, recording_list *ret, struct err *err)
{
	name_list epochs = {0};
	int rc = db_names(epochs_fd, epoch_name_valid, &epochs, err);

	vec_each (e, &epochs) {
		_fd_ int fd = db_open_dir(epochs_fd, *e, false, NULL);
		name_list hosts = {0};

		if (fd >= 0)
			db_names(fd, host_name_valid, &hosts, NULL);
		vec_each (h, &hosts) {
			_fd_ int host_fd = -1;

			if (host && strcmp(host, *h) != 0)
				continue;
			host_fd = db_open_dir(fd, *h, false, NULL);
			if (host_fd >= 0 && has_manifest(host_fd))
				vec_push(ret, (struct recording_name){xstrdup(*e), xstrdup(*h)});
		}
		name_list_release(&hosts);
	}
	name_list_release(&epochs);
	return rc;
}

static void recording_list_release(recording_list *l)
{
	vec_each (r, l) {
		free(r->epoch);
		free(r->host);
	}
	vec_release(l);
}

static bool is_latest(const recording_list *l, size_t i)
{
	for (size_t k = i + 1; k < l->n; k++)
		if (strcmp(l->v[k].host, l->v[i].host) == 0)
			return false;
	return true;
}

static int open_recording(int epochs_fd, const struct recording_name *r, struct err *err)
{
	_fd_ int fd = db_open_dir(epochs_fd, r->epoch, false, err);

	return fd < 0 ? fd : db_open_dir(fd, r->host, false, err);
}

typedef int visit_fn(void *ctx, const struct recording_name *r, int dir_fd, struct err *err);

/* Calls VISIT for each recording selected until it returns other than 0; returns how many it was
 * called for, or what it returned with *RET_STOP. */
static int visit(const char *db, const struct store_selection *sel, visit_fn *fn, void *ctx,
		 bool *ret_stop, struct err *err)
{
	_fd_ int db_fd = db_open(db, false, err), epochs_fd = -1;
	recording_list l = {0};
	int rc, n = 0;

	*ret_stop = false;
	if (db_fd < 0)
		return db_fd;
	epochs_fd = db_open_dir(db_fd, "epochs", false, err);
	if (epochs_fd == -ENOENT)
		return 0;
	rc = epochs_fd < 0 ? epochs_fd : list_all(epochs_fd, sel->host, &l, err);
	for (size_t i = 0; i < l.n && !rc; i++) {
		_fd_ int fd = -1;

		if (!epoch_selected(sel->epochs, l.v[i].epoch, is_latest(&l, i)))
			continue;
		fd = open_recording(epochs_fd, &l.v[i], err);
		rc = fd < 0 ? fd : fn(ctx, &l.v[i], fd, err);
		n++;
		if (rc > 0)
			*ret_stop = true;
		if (rc < 0)
			err_prefix(err, rc, "%s: epoch %s/%s", db, l.v[i].epoch, l.v[i].host);
	}
	recording_list_release(&l);
	return rc ? rc : n;
}

/* Listing. */

struct lister {
	store_list_fn *fn;
	void *ctx;
};

static int list_one(void *ctx, const struct recording_name *r, int dir_fd, struct err *err)
{
	const struct lister *l = ctx;
	struct store_recording rec;
	struct snapshot s;
	struct profile p;
	int rc = snapshot_open(&s, dir_fd, err);

	if (rc < 0)
		return rc;
	profile_init(&p);
	rc = snapshot_load(&s, true, &p, NULL, err);
	if (rc < 0)
		goto out;
	manifest_add_profile(&s.manifest, &p);
	rec = (struct store_recording){
		.epoch = r->epoch,
		.host = r->host,
		.state = s.manifest.state,
		.live = flock(dir_fd, LOCK_SH | LOCK_NB) < 0,
		.label = s.manifest.label,
		.clock_offset_ns = s.manifest.clock_offset_ns,
		.start_wall_ns = p.meta.start_wall_ns,
		.end_wall_ns = p.meta.end_wall_ns,
		.n_bytes = s.n_journal,
		.n_segments = s.manifest.segments.n,
		.n_events = s.manifest.events.n,
		.n_losses = s.manifest.losses.n,
		.events = s.manifest.events.v,
		.losses = s.manifest.losses.v,
	};
	vec_each (seg, &s.manifest.segments) {
		if (seg->start_wall_ns &&
		    (!rec.start_wall_ns || seg->start_wall_ns < rec.start_wall_ns))
			rec.start_wall_ns = seg->start_wall_ns;
		if (seg->end_wall_ns > rec.end_wall_ns)
			rec.end_wall_ns = seg->end_wall_ns;
		rec.n_bytes += seg->n_bytes;
	}
	rc = l->fn(l->ctx, &rec);
out:
	profile_release(&p);
	snapshot_close(&s);
	return rc;
}

int store_list(const char *db, const struct store_selection *sel, store_list_fn *fn, void *ctx,
	       struct err *err)
{
	struct lister l = {fn, ctx};
	bool stop;
	int rc = visit(db, sel, list_one, &l, &stop, err);

	return rc < 0 || stop ? rc : 0;
}

/* Sequence numbers. */

struct log_search {
	uint64_t log;
	seq_ranges *ranges;
	bool found;
};

/* A later recording has all that those before it had. */
static int find_log_in(void *ctx, const struct recording_name *r, int dir_fd, struct err *err)
{
	struct log_search *f = ctx;
	struct manifest m;
	int rc = snapshot_manifest(dir_fd, &m, err);

	if (rc < 0)
		return rc == -ENOENT ? 0 : rc;
	if (m.log == f->log) {
		f->found = true;
		f->ranges->n = 0;
		vec_each (c, &m.cpus)
			vec_push(f->ranges, (struct seq_range){c->cpu, 0, c->last_seq});
	}
	manifest_release(&m);
	return 0;
}

int store_find_log(const char *db, const char *host, uint64_t log, seq_ranges *ret, struct err *err)
{
	struct log_search f = {.log = log, .ranges = ret};
	struct store_selection sel = {.epochs = "all", .host = host};
	char self[256];
	bool stop;
	int rc;

	if (!host) {
		host_name_self(self);
		sel.host = self;
	}
	rc = visit(db, &sel, find_log_in, &f, &stop, err);
	return rc < 0 ? rc : f.found;
}

/* Loading. */

struct loader {
	struct profile *into;
	struct value_sink *sink;
};

static int load_one(void *ctx, const struct recording_name *r, int dir_fd, struct err *err)
{
	const struct loader *l = ctx;
	struct snapshot s;
	int rc = snapshot_open(&s, dir_fd, err);

	if (rc < 0)
		return rc;
	rc = snapshot_load(&s, false, l->into, l->sink, err);
	snapshot_close(&s);
	return rc;
}

/* Says what there is instead of what was asked for. */
static int nothing_selected(const char *db, const struct store_selection *sel, struct err *err)
{
	if (sel->host)
		return err_set(err, -ENOENT, "%s: no epoch \"%s\" of host %s", db,
			       sel->epochs ? sel->epochs : "latest", sel->host);
	if (sel->epochs && strcmp(sel->epochs, "latest") != 0 && strcmp(sel->epochs, "all") != 0)
		return err_set(err, -ENOENT, "%s: no epoch \"%s\"", db, sel->epochs);
	return err_set(err, -ENOENT, "%s: nothing was recorded there", db);
}

int store_load(const char *db, const struct store_selection *sel, struct profile *into,
	       struct value_sink *sink, struct err *err)
{
	struct loader l = {into, sink};
	bool stop;
	int n = visit(db, sel, load_one, &l, &stop, err);

	return n == 0 ? nothing_selected(db, sel, err) : n;
}
