/* SPDX-License-Identifier: BSD-2-Clause */
/* Writing a recording.
 *
 * Everything is a *commit*: new files are written under names no MANIFEST has, synced, and then one
 * rename puts a MANIFEST in place that names them (and voids the journal, and leaves out segments
 * that were merged).  Before the rename nothing has happened; after it everything has; only then
 * files that no longer count are removed.  A commit that dies in between leaves files nobody names,
 * which recovery removes.
 *
 * A rename whose directory cannot be synced has happened all the same: the commit looks at the
 * MANIFEST that is there, and when it is the new one says so, else the caller would store its
 * samples twice.  It keeps the old files then, as a power failure might bring back the old
 * MANIFEST.
 *
 * The recorder holds an exclusive flock on the recording's directory; whoever gets that lock while
 * the state is "recording" knows that the recorder is dead. */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "store/db.h"
#include "store/snapshot.h"

#define COMPACT_AT 16

struct store {
	int dir_fd; /* of the recording; holds its lock */
	char epoch[EPOCH_NAME_LEN + 1];
	struct manifest m; /* as last committed */
	unsigned compact_at;
	bool unsynced; /* the last MANIFEST is in place, but a power failure might undo that */
	/* The journal being written: */
	int journal_fd;		/* -1: none yet */
	uint64_t journal_bytes; /* end of its last whole record */
	bool journal_broken;	/* a failed record could not be cut off: nothing may follow it */
};

void store_detach(struct store *s)
{
	if (!s)
		return;
	if (s->journal_fd >= 0)
		close(s->journal_fd);
	if (s->dir_fd >= 0)
		close(s->dir_fd);
	manifest_release(&s->m);
	free(s);
}

const char *store_epoch(const struct store *s)
{
	return s->epoch;
}

bool store_last_seq(const struct store *s, uint32_t cpu, uint64_t *ret_seq)
{
	vec_each (c, &s->m.cpus) {
		if (c->cpu == cpu) {
			*ret_seq = c->last_seq;
			return true;
		}
	}
	return false;
}

/* Commits. */

static bool is_segment(const char *name)
{
	return str_ends(name, ".seg");
}

static bool is_temp(const char *name)
{
	return name[0] == '.' && str_ends(name, ".tmp");
}

static bool is_garbage_kind(const char *name)
{
	return is_segment(name) || is_temp(name);
}

static bool is_named(const struct manifest *m, const char *name)
{
	vec_each (s, &m->segments)
		if (strcmp(s->name, name) == 0)
			return true;
	return false;
}

/* Removes segments that M does not name and temporary files. */
static void remove_garbage(int dir_fd, const struct manifest *m)
{
	name_list l = {0};

	if (db_names(dir_fd, is_garbage_kind, &l, NULL) == 0)
		vec_each (name, &l)
			if (is_temp(*name) || !is_named(m, *name))
				unlinkat(dir_fd, *name, 0);
	name_list_release(&l);
}

/* Puts NEW in place of the recording's MANIFEST.  Takes NEW over when it is in place at return,
 * which is when it returns 0 (1: in place, but not known to be on disk yet). */
static int commit_manifest(struct store *s, struct manifest *new, struct err *err)
{
	struct str text = {0};
	struct manifest now;
	int rc;

	new->generation = s->m.generation + 1;
	manifest_format(new, &text);
	rc = file_replace(s->dir_fd, MANIFEST_NAME, text.v, text.n, err);
	str_release(&text);
	if (rc < 0) {
		bool there = snapshot_manifest(s->dir_fd, &now, NULL) == 0;
		bool in_place = there && now.generation == new->generation;

		if (there)
			manifest_release(&now);
		if (!in_place)
			return rc;
		rc = 1;
	}
	manifest_release(&s->m);
	s->m = *new;
	*new = (struct manifest){0};
	s->unsynced = rc == 1;
	return rc;
}

/* Makes sure of the MANIFEST in place, then removes what it does not name. */
static int settle(struct store *s, struct err *err)
{
	int rc = file_fsync(s->dir_fd);

	if (rc < 0)
		return err_errno(err, rc, "fsync of the directory");
	s->unsynced = false;
	remove_garbage(s->dir_fd, &s->m);
	return 0;
}

static int write_file(int dir_fd, const char *name, const struct wr *w, struct err *err)
{
	_fd_ int fd = -1;
	int rc;

	unlinkat(dir_fd, name, 0);
	fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0)
		return err_errno(err, -errno, "%s: create", name);
	rc = file_write_all(fd, w->v, w->n);
	if (!rc)
		rc = file_fsync(fd);
	if (!rc)
		rc = file_fsync(dir_fd);
	if (rc < 0) {
		unlinkat(dir_fd, name, 0);
		return err_errno(err, rc, "%s: write", name);
	}
	return 0;
}

/* Writes P as a new segment and adds it to NEW. */
static int add_segment(struct store *s, struct manifest *new, const struct profile *p,
		       struct err *err)
{
	struct wr w = {0};
	char name[32];
	int rc;

	snprintf(name, sizeof(name), "%06" PRIu64 ".seg", new->next_segment);
	rc = segment_encode(&w, p, err);
	if (!rc)
		rc = write_file(s->dir_fd, name, &w, err);
	if (!rc) {
		new->next_segment++;
		vec_push(&new->segments,
			 (struct manifest_segment){.name = arena_strdup(&new->arena, name),
						   .n_bytes = w.n,
						   .digest = segment_digest(w.v, w.n),
						   .start_wall_ns = p->meta.start_wall_ns,
						   .end_wall_ns = p->meta.end_wall_ns});
	}
	wr_release(&w);
	return rc;
}

/* Closes the journal after a commit that voids it; REMOVE when that commit is on disk. */
static void drop_journal(struct store *s, bool remove)
{
	if (s->journal_fd >= 0)
		close(s->journal_fd);
	s->journal_fd = -1;
	s->journal_broken = false;
	if (remove)
		unlinkat(s->dir_fd, JOURNAL_NAME, 0);
}

/* Commits P (NULL: nothing) as a new segment, or with MERGE as one in place of all there are. */
static int commit_profile(struct store *s, const struct profile *p, bool merge, bool void_journal,
			  struct manifest *new, struct err *err)
{
	struct profile all;
	int rc = 0;

	profile_init(&all);
	if (merge) {
		struct snapshot snap;

		rc = snapshot_open(&snap, s->dir_fd, err);
		if (!rc) {
			free(take_ptr(&snap.journal)); /* P covers it, or it goes on counting */
			rc = snapshot_load(&snap, false, &all, NULL, err);
			snapshot_close(&snap);
		}
		if (!rc && p)
			profile_merge(&all, p);
		new->segments.n = 0;
		p = &all;
	}
	if (!rc)
		rc = add_segment(s, new, p, err);
	profile_release(&all);
	if (rc < 0)
		return rc;
	if (void_journal)
		new->journal = s->m.journal + 1;
	rc = commit_manifest(s, new, err);
	if (rc < 0) {
		unlinkat(s->dir_fd, new->segments.v[new->segments.n - 1].name, 0);
		return rc;
	}
	if (void_journal)
		drop_journal(s, rc == 0);
	if (rc == 0 && merge)
		remove_garbage(s->dir_fd, &s->m);
	return 0;
}

static bool has_content(const struct profile *p)
{
	vec_each (e, &p->events)
		if (e->enabled_ns || e->running_ns || e->total || e->n_reached)
			return true;
	return p->values.n || p->losses.n;
}

int store_flush(struct store *s, const struct profile *p, const struct seq_range *ranges,
		size_t n_ranges, struct err *err)
{
	struct manifest new;
	int rc;

	if (!has_content(p) && s->journal_fd < 0 && !n_ranges)
		return 0;
	manifest_copy(&new, &s->m);
	manifest_add_profile(&new, p);
	for (size_t i = 0; i < n_ranges; i++)
		manifest_add_seq(&new, ranges[i].cpu, ranges[i].last_seq);
	rc = commit_profile(s, p, s->m.segments.n + 1 >= s->compact_at, true, &new, err);
	manifest_release(&new);
	return rc < 0 ? err_prefix(err, rc, "epoch %s", s->epoch) : 0;
}

int store_compact(struct store *s, struct err *err)
{
	struct manifest new;
	int rc;

	if (s->m.segments.n < 2)
		return 0;
	manifest_copy(&new, &s->m);
	rc = commit_profile(s, NULL, true, false, &new, err);
	manifest_release(&new);
	return rc < 0 ? err_prefix(err, rc, "epoch %s", s->epoch) : 0;
}

/* The journal. */

static int journal_start(struct store *s, struct err *err)
{
	struct wr w = {0};
	int rc;

	unlinkat(s->dir_fd, JOURNAL_NAME, 0);
	s->journal_fd = openat(s->dir_fd, JOURNAL_NAME,
			       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (s->journal_fd < 0)
		return err_errno(err, -errno, "%s: create", JOURNAL_NAME);
	journal_put_header(&w, s->m.journal + 1);
	rc = file_write_all(s->journal_fd, w.v, w.n);
	if (!rc)
		rc = file_fsync(s->dir_fd);
	wr_release(&w);
	s->journal_bytes = JOURNAL_HEADER_SZ;
	if (rc < 0) {
		drop_journal(s, true);
		return err_errno(err, rc, "%s: write", JOURNAL_NAME);
	}
	return 0;
}

static int journal_append(struct store *s, const struct wr *w, struct err *err)
{
	int rc = file_write_all(s->journal_fd, w->v, w->n);

	if (!rc)
		rc = file_fsync(s->journal_fd);
	if (!rc) {
		s->journal_bytes += w->n;
		return 0;
	}
	if (ftruncate(s->journal_fd, (off_t)s->journal_bytes) < 0 ||
	    lseek(s->journal_fd, (off_t)s->journal_bytes, SEEK_SET) < 0)
		s->journal_broken = true;
	return err_errno(err, rc, "%s: write", JOURNAL_NAME);
}

int store_journal(struct store *s, const struct profile *delta, const struct seq_range *ranges,
		  size_t n_ranges, struct err *err)
{
	struct wr w = {0};
	int rc;

	if (s->journal_broken)
		return err_set(err, -EIO, "epoch %s: %s: unusable until the next flush", s->epoch,
			       JOURNAL_NAME);
	rc = s->journal_fd < 0 ? journal_start(s, err) : 0;
	if (!rc)
		rc = journal_put_record(&w, s->m.journal + 1, s->journal_bytes, ranges, n_ranges,
					delta, err);
	if (!rc)
		rc = journal_append(s, &w, err);
	wr_release(&w);
	if (rc < 0)
		return err_prefix(err, rc, "epoch %s", s->epoch);
	for (size_t i = 0; i < n_ranges; i++)
		manifest_add_seq(&s->m, ranges[i].cpu, ranges[i].last_seq);
	return 0;
}

/* Opening, recovering, closing. */

/* Locks the recording in DIR_FD; -EWOULDBLOCK when its recorder lives. */
static int lock_recording(int dir_fd)
{
	return flock(dir_fd, LOCK_EX | LOCK_NB) < 0 ? -errno : 0;
}

/* Turns a journal that counts into a segment and removes what a killed writer left. */
static int absorb_journal(struct store *s, struct err *err)
{
	struct snapshot snap;
	struct manifest new;
	struct profile p;
	int rc = settle(s, err);

	if (!rc)
		rc = snapshot_open(&snap, s->dir_fd, err);
	if (rc < 0)
		return rc;
	profile_init(&p);
	manifest_copy(&new, &s->m);
	rc = snapshot_load(&snap, true, &p, NULL, err);
	if (!rc)
		rc = snapshot_add_seqs(&snap, &new, err);
	if (!rc && snap.journal && has_content(&p)) {
		manifest_add_profile(&new, &p);
		rc = commit_profile(s, &p, false, true, &new, err);
	} else if (!rc) {
		drop_journal(s, true);
	}
	manifest_release(&new);
	profile_release(&p);
	snapshot_close(&snap);
	return rc;
}

/* Removes a recording whose creator was killed before its first MANIFEST. */
static void remove_stillborn(int epochs_fd, int epoch_fd, int dir_fd, const char *epoch,
			     const char *host)
{
	name_list l = {0};

	if (db_names(dir_fd, is_temp, &l, NULL) == 0)
		vec_each (name, &l)
			unlinkat(dir_fd, *name, 0);
	name_list_release(&l);
	unlinkat(epoch_fd, host, AT_REMOVEDIR); /* fails, rightly, when something else is in it */
	unlinkat(epochs_fd, epoch, AT_REMOVEDIR);
}

/* Opens the recording EPOCH/HOST, whose recorder must be dead, for writing.  -EWOULDBLOCK when it
 * lives, -EALREADY when it is finished, -ENOENT when it never began.  The caller holds the
 * database's lock. */
static int store_open(int epochs_fd, const char *epoch, const char *host, struct store **ret,
		      struct err *err)
{
	_fd_ int epoch_fd = db_open_dir(epochs_fd, epoch, false, err);
	struct store *s;
	int rc;

	if (epoch_fd < 0)
		return epoch_fd;
	s = xcalloc(1, sizeof(*s));
	s->compact_at = COMPACT_AT;
	s->journal_fd = -1;
	snprintf(s->epoch, sizeof(s->epoch), "%s", epoch);
	s->dir_fd = db_open_dir(epoch_fd, host, false, err);
	rc = s->dir_fd < 0 ? s->dir_fd : lock_recording(s->dir_fd);
	if (!rc) {
		rc = snapshot_manifest(s->dir_fd, &s->m, err);
		if (rc == -ENOENT)
			remove_stillborn(epochs_fd, epoch_fd, s->dir_fd, epoch, host);
	}
	if (!rc && strcmp(s->m.state, STATE_RECORDING) != 0)
		rc = -EALREADY;
	if (!rc)
		rc = absorb_journal(s, err);
	if (rc < 0) {
		store_detach(s);
		return rc;
	}
	*ret = s;
	return 0;
}

/* Ends the recording; its journal no longer counts. */
static int finish(struct store *s, const char *state, struct err *err)
{
	struct manifest new;
	int rc = s->unsynced ? settle(s, err) : 0;

	if (rc < 0)
		return rc;
	drop_journal(s, true);
	manifest_copy(&new, &s->m);
	new.state = arena_strdup(&new.arena, state);
	rc = commit_manifest(s, &new, err);
	manifest_release(&new);
	return rc < 0 ? rc : 0;
}

int store_close(struct store *s, struct err *err)
{
	int rc;

	if (!s)
		return 0;
	rc = absorb_journal(s, err);
	if (!rc)
		rc = store_compact(s, err);
	if (!rc)
		rc = finish(s, STATE_FINISHED, err);
	store_detach(s);
	return rc;
}

void store_discard(struct store *s)
{
	if (!s)
		return;
	if (!s->m.segments.n && !s->journal_bytes) {
		_fd_ int epoch_fd = openat(s->dir_fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		_fd_ int epochs_fd = openat(s->dir_fd, "../..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		unlinkat(s->dir_fd, JOURNAL_NAME, 0);
		unlinkat(s->dir_fd, MANIFEST_NAME, 0);
		if (epoch_fd >= 0)
			unlinkat(epoch_fd, s->m.host, AT_REMOVEDIR);
		if (epochs_fd >= 0) /* stays when another host records into it */
			unlinkat(epochs_fd, s->epoch, AT_REMOVEDIR);
	}
	store_detach(s);
}

/* 1 when it was in need of recovery, 0 when not, or an error. */
static int recover_one(int epochs_fd, const char *epoch, const char *host, struct err *err)
{
	struct store *s;
	int rc = store_open(epochs_fd, epoch, host, &s, err);

	if (rc == -EWOULDBLOCK || rc == -EALREADY || rc == -ENOENT)
		return 0;
	if (rc < 0)
		return rc;
	rc = finish(s, STATE_INTERRUPTED, err);
	store_detach(s);
	return rc < 0 ? rc : 1;
}

/* Recovers HOST's recordings, or all; returns how many. */
static int recover_all(int epochs_fd, const char *host, struct err *err)
{
	name_list epochs = {0};
	int n = 0, rc = db_names(epochs_fd, epoch_name_valid, &epochs, err);

	for (size_t i = 0; i < epochs.n && !rc; i++) {
		name_list hosts = {0};
		_fd_ int fd = db_open_dir(epochs_fd, epochs.v[i], false, NULL);

		if (fd >= 0)
			db_names(fd, host_name_valid, &hosts, NULL);
		vec_each (h, &hosts) {
			struct err why = {0};

			if (host && strcmp(host, *h) != 0)
				continue;
			rc = recover_one(epochs_fd, epochs.v[i], *h, &why);
			if (rc < 0) {
				err_set(err, rc, "epoch %s/%s: %s", epochs.v[i], *h, why.msg);
				break;
			}
			n += rc;
			rc = 0;
		}
		name_list_release(&hosts);
	}
	name_list_release(&epochs);
	return rc < 0 ? rc : n;
}

int store_recover(const char *db, const char *host, struct err *err)
{
	_fd_ int db_fd = db_open(db, true, err), lock_fd = -1, epochs_fd = -1;
	int rc;

	if (db_fd < 0)
		return db_fd;
	lock_fd = db_lock(db_fd, err);
	epochs_fd = lock_fd < 0 ? lock_fd : db_open_dir(db_fd, "epochs", true, err);
	rc = epochs_fd < 0 ? epochs_fd : recover_all(epochs_fd, host, err);
	return rc < 0 ? err_prefix(err, rc, "%s", db) : rc;
}

int store_resume(const char *db, const char *host, struct store **ret, struct err *err)
{
	_fd_ int db_fd = db_open(db, true, err), lock_fd = -1, epochs_fd = -1;
	name_list epochs = {0};
	char self[256];
	int rc;

	if (db_fd < 0)
		return db_fd;
	if (!host)
		host_name_self(self);
	lock_fd = db_lock(db_fd, err);
	epochs_fd = lock_fd < 0 ? lock_fd : db_open_dir(db_fd, "epochs", true, err);
	rc = epochs_fd < 0 ? epochs_fd : db_names(epochs_fd, epoch_name_valid, &epochs, err);
	if (!rc)
		rc = -ENOENT;
	for (size_t i = epochs.n; i-- > 0 && rc == -ENOENT;) {
		rc = store_open(epochs_fd, epochs.v[i], host ? host : self, ret, err);
		if (rc == -EWOULDBLOCK || rc == -EALREADY)
			rc = -ENOENT;
	}
	name_list_release(&epochs);
	if (rc == -ENOENT)
		return err_set(err, rc, "%s: no interrupted recording of %s", db,
			       host ? host : self);
	return rc < 0 ? err_prefix(err, rc, "%s", db) : 0;
}

/* Makes EPOCH/HOST with its first MANIFEST; leaves nothing behind after a failure. */
static int create_recording(struct store *s, int epochs_fd, const char *host,
			    const struct store_opts *o, struct err *err)
{
	struct manifest first = {.clock_offset_ns = o->clock_offset_ns, .next_segment = 1};
	_fd_ int epoch_fd = db_open_dir(epochs_fd, s->epoch, true, err);
	int rc;

	if (epoch_fd < 0)
		return epoch_fd;
	s->dir_fd = db_open_dir(epoch_fd, host, true, err);
	rc = s->dir_fd < 0 ? s->dir_fd : lock_recording(s->dir_fd);
	if (!rc) {
		first.host = arena_strdup(&first.arena, host);
		first.label = arena_strdup(&first.arena, o->label ? o->label : "");
		first.state = arena_strdup(&first.arena, STATE_RECORDING);
		rc = commit_manifest(s, &first, err);
		manifest_release(&first);
	}
	if (rc < 0) {
		unlinkat(epoch_fd, host, AT_REMOVEDIR);
		unlinkat(epochs_fd, s->epoch, AT_REMOVEDIR);
		return rc;
	}
	return 0;
}

int store_create(const char *db, const struct store_opts *o, struct store **ret, struct err *err)
{
	_fd_ int db_fd = db_open(db, true, err), lock_fd = -1, epochs_fd = -1;
	name_list epochs = {0};
	uint64_t now_ns = o->now_wall_ns;
	char self[256];
	struct store *s;
	int rc;

	if (db_fd < 0)
		return db_fd;
	host_name_self(self);
	if (o->host && !host_name_valid(o->host))
		return err_set(err, -EINVAL, "%s: not a host name", o->host);
	if (!now_ns) {
		struct timespec t;

		clock_gettime(CLOCK_REALTIME, &t);
		now_ns = (uint64_t)t.tv_sec * 1000000000;
	}
	lock_fd = db_lock(db_fd, err);
	epochs_fd = lock_fd < 0 ? lock_fd : db_open_dir(db_fd, "epochs", true, err);
	if (epochs_fd < 0)
		return err_prefix(err, epochs_fd, "%s", db);
	s = xcalloc(1, sizeof(*s));
	s->dir_fd = s->journal_fd = -1;
	s->compact_at = o->compact_at ? o->compact_at : COMPACT_AT;
	recover_all(epochs_fd, o->host ? o->host : self, NULL);
	rc = db_names(epochs_fd, epoch_name_valid, &epochs, err);
	if (!rc)
		rc = epoch_name_next(now_ns, epochs.n ? epochs.v[epochs.n - 1] : "", s->epoch, err);
	if (!rc)
		rc = create_recording(s, epochs_fd, o->host ? o->host : self, o, err);
	name_list_release(&epochs);
	if (rc < 0) {
		store_detach(s);
		return err_prefix(err, rc, "%s", db);
	}
	*ret = s;
	return 0;
}
