/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading a database: which recordings are meant, listing them, loading them. */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "store/choose.h"
#include "store/hosts.h"
#include "store/snapshot.h"

int store_epochs(const char *db, struct store_epochs *ret, struct err *err)
{
	_fd_ int db_fd = db_open(db, false, err), epochs_fd = -1;
	name_list l = {0};
	int rc = 0;

	*ret = (struct store_epochs){0};
	if (db_fd < 0)
		return db_fd;
	epochs_fd = db_open_dir(db_fd, "epochs", false, NULL);
	if (epochs_fd >= 0)
		rc = db_names(epochs_fd, epoch_name_valid, &l, err);
	ret->n = l.n;
	if (l.n) {
		memcpy(ret->first, l.v[0], sizeof(ret->first));
		memcpy(ret->last, l.v[l.n - 1], sizeof(ret->last));
	}
	name_list_release(&l);
	return rc;
}

static bool is_member_name(const char *name)
{
	return *name != '.';
}

int store_members(const char *path, store_paths *ret, struct err *err)
{
	_fd_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	name_list names = {0};
	char text[64];
	int rc;

	if (fd < 0)
		return err_errno(err, -errno, "%s", path);
	if (db_read_version(fd, text)) {
		vec_push(ret, xstrdup(path));
		return 0;
	}
	rc = db_names(fd, is_member_name, &names, err);
	vec_each (name, &names) {
		_fd_ int member = openat(fd, *name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (member >= 0 && db_read_version(member, text))
			vec_push(ret, xasprintf("%s/%s", path, *name));
	}
	name_list_release(&names);
	return rc;
}

void store_paths_release(store_paths *l)
{
	vec_each (p, l)
		free(*p);
	vec_release(l);
}

char *store_images_dir(const char *db, bool create, struct err *err)
{
	_fd_ int fd = db_open(db, create, err), images_fd = -1;

	if (fd < 0)
		return NULL;
	images_fd = db_open_dir(fd, "images", create, err);
	return images_fd < 0 ? NULL : xasprintf("%s/images", db);
}

/* Visiting. */

static int open_recording(int epochs_fd, const struct recording_name *r, struct err *err)
{
	_fd_ int fd = db_open_dir(epochs_fd, r->epoch, false, err);

	return fd < 0 ? fd : db_open_dir(fd, r->host, false, err);
}

static bool is_gone(int epochs_fd, const struct recording_name *r)
{
	_fd_ int fd = open_recording(epochs_fd, r, NULL), manifest = -1;

	manifest =
		fd < 0 ? fd
		       : openat(fd, MANIFEST_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	return manifest < 0 || flock(manifest, LOCK_SH | LOCK_NB) < 0;
}

typedef int visit_fn(void *ctx, const struct recording_name *r, int dir_fd, struct err *err);

/* Calls VISIT for each recording selected until it returns other than 0; returns how many it was
 * called for, or what it returned with *RET_STOP. */
static int read_visit(const char *db, const struct store_selection *sel, visit_fn *fn, void *ctx,
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
	rc = epochs_fd < 0 ? epochs_fd : choose_recordings(db_fd, epochs_fd, sel, &l, err);
	for (size_t i = 0; i < l.n && rc == 0; i++) {
		_fd_ int fd = open_recording(epochs_fd, &l.v[i], err);

		if (sel->note)
			sel->note(sel->note_ctx, l.v[i].epoch, l.v[i].host);
		rc = fd < 0 ? fd : fn(ctx, &l.v[i], fd, err);
		/* Removed since it was chosen: it is as if it never was. */
		if (rc == -ENOENT && is_gone(epochs_fd, &l.v[i])) {
			rc = 0;
			if (err)
				err->msg[0] = '\0';
			continue;
		}
		n++;
		if (rc > 0)
			*ret_stop = true;
		if (rc < 0)
			err_prefix(err, rc, "%s: epoch %s/%s", db, l.v[i].epoch, l.v[i].host);
	}
	recording_list_release(&l);
	return rc != 0 ? rc : n;
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
		.job = s.manifest.job,
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
	int rc = read_visit(db, sel, list_one, &l, &stop, err);

	return rc < 0 || stop ? rc : 0;
}

/* Sequence numbers. */

/* 1 when the recording in DIR_FD knows LOG, whose ranges are appended to RET; 0 when not. */
static int find_log_in(int dir_fd, uint64_t log, seq_ranges *ret, struct err *err)
{
	const struct manifest_log *l;
	struct manifest m;
	int rc = snapshot_manifest(dir_fd, &m, err);

	if (rc < 0)
		return rc == -ENOENT ? 0 : rc;
	l = manifest_find_log(&m, log);
	if (l) {
		rc = 1;
		vec_each (c, &l->cpus)
			vec_push(ret, (struct seq_range){c->cpu, 0, c->last_seq});
		if (l->state == STORE_LOG_STORED)
			vec_push(ret, (struct seq_range){STORE_SOURCE_DONE, 0, 1});
	}
	manifest_release(&m);
	return rc;
}

int store_find_log(const char *db, const char *host, uint64_t log, seq_ranges *ret, struct err *err)
{
	_fd_ int db_fd = db_open(db, false, err), epochs_fd = -1;
	struct host_note note = {0};
	name_list epochs = {0};
	char self[256];
	bool noted;
	int rc;

	if (db_fd < 0)
		return db_fd;
	if (!host) {
		host_name_self(self);
		host = self;
	}
	epochs_fd = db_open_dir(db_fd, "epochs", false, err);
	if (epochs_fd < 0)
		return epochs_fd == -ENOENT ? 0 : err_prefix(err, epochs_fd, "%s", db);
	rc = db_names(epochs_fd, epoch_name_valid, &epochs, err);
	noted = host_note_read(db_fd, host, &note) >= 0;
	/* A later recording has all that those before it had: the newest that knows the log will
	 * do, and a daemon that dies leaves its log to its newest. */
	for (size_t i = epochs.n; i-- > 0 && rc == 0;) {
		const struct recording_name r = {epochs.v[i], (char *)host};
		_fd_ int fd = -1;

		if (noted && strcmp(epochs.v[i], note.newest) > 0)
			continue;
		fd = open_recording(epochs_fd, &r, err);
		if (fd == -ENOENT)
			continue;
		rc = fd < 0 ? fd : find_log_in(fd, log, ret, err);
		if (rc < 0)
			err_prefix(err, rc, "%s: epoch %s/%s", db, r.epoch, r.host);
	}
	host_note_release(&note);
	name_list_release(&epochs);
	return rc;
}

/* Loading. */

struct loader {
	const struct store_selection *sel;
	struct profile *into;
	struct value_sink *sink;
};

/* Whether some of the samples of SEG came in the time that is wanted. */
static bool is_segment_in_time(const struct store_selection *sel,
			       const struct manifest_segment *seg)
{
	if (sel->since_wall_ns && seg->end_wall_ns && seg->end_wall_ns <= sel->since_wall_ns)
		return false;
	return !sel->until_wall_ns || seg->start_wall_ns < sel->until_wall_ns;
}

/* The journal holds what came after the newest segment. */
static bool is_journal_in_time(const struct store_selection *sel, const struct manifest *m)
{
	uint64_t start_ns = 0;

	vec_each (seg, &m->segments)
		start_ns = seg->end_wall_ns > start_ns ? seg->end_wall_ns : start_ns;
	return !sel->until_wall_ns || start_ns < sel->until_wall_ns;
}

static int load_one(void *ctx, const struct recording_name *r, int dir_fd, struct err *err)
{
	const struct loader *l = ctx;
	struct snapshot s;
	int rc = snapshot_open(&s, dir_fd, err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < s.maps.n && rc >= 0; i++)
		if (is_segment_in_time(l->sel, &s.manifest.segments.v[i]))
			rc = snapshot_load_segment(&s, i, l->into, l->sink, err);
	if (rc >= 0 && is_journal_in_time(l->sel, &s.manifest))
		rc = snapshot_load(&s, true, l->into, l->sink, err);
	snapshot_close(&s);
	return rc;
}

/* Says what there is instead of what was asked for. */
static int nothing_selected(const char *db, const struct store_selection *sel, struct err *err)
{
	if (sel->since_wall_ns || sel->until_wall_ns)
		return err_set(err, -ENOENT, "%s: nothing recorded in that time%s%s", db,
			       sel->host ? " by host " : "", sel->host ? sel->host : "");
	if (sel->host)
		return err_set(err, -ENOENT, "%s: no epoch \"%s\" of host %s", db,
			       sel->epochs ? sel->epochs : "latest", sel->host);
	if (sel->epochs && strcmp(sel->epochs, "latest") != 0 && strcmp(sel->epochs, "all") != 0)
		return err_set(err, -ENOENT, "%s: no epoch \"%s\"", db, sel->epochs);
	return err_set(err, -ENOENT,
		       "%s: nothing was recorded there; `dwell record -- COMMAND` or `dwell "
		       "record -a` records",
		       db);
}

int store_load(const char *db, const struct store_selection *sel, struct profile *into,
	       struct value_sink *sink, struct err *err)
{
	struct loader l = {sel, into, sink};
	bool stop;
	int n = read_visit(db, sel, load_one, &l, &stop, err);

	return n == 0 ? nothing_selected(db, sel, err) : n;
}
