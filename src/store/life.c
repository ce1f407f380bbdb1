/* SPDX-License-Identifier: BSD-2-Clause */
/* A recording's life: made under the database's lock, held by a flock on its directory, finished by
 * its recorder or, when that died, recovered by whoever gets both locks: whoever can lock a
 * recording whose state is "recording" knows that its recorder is dead. */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "store/commit.h"
#include "store/edges.h"
#include "store/hosts.h"
#include "store/job.h"
#include "store/snapshot.h"

void store_detach(struct store *s)
{
	if (!s)
		return;
	if (s->journal_fd >= 0)
		close(s->journal_fd);
	if (s->dir_fd >= 0)
		close(s->dir_fd);
	manifest_release(&s->m);
	journal_writer_release(&s->journal_writer);
	wr_release(&s->journal_record);
	free(s);
}

/* Locks the recording in DIR_FD; -EWOULDBLOCK when its recorder lives. */
static int lock_recording(int dir_fd)
{
	return flock(dir_fd, LOCK_EX | LOCK_NB) < 0 ? -errno : 0;
}

/* Turns a journal that counts into a segment, beside those there are or, when there are MERGE_AT,
 * in place of them; and removes what a killed writer left. */
static int absorb_journal(struct store *s, size_t merge_at, struct err *err)
{
	struct snapshot snap;
	struct manifest new;
	struct profile p;
	int rc = commit_settle(s, err);

	if (rc == 0)
		rc = snapshot_open(&snap, s->dir_fd, err);
	if (rc < 0)
		return rc;
	profile_init(&p);
	manifest_copy(&new, &s->m);
	rc = snapshot_load(&snap, true, &p, NULL, err);
	if (rc == 0)
		rc = snapshot_add_seqs(&snap, &new, err);
	if (rc == 0 && snap.journal && commit_has_content(&p)) {
		manifest_add_profile(&new, &p);
		rc = commit_profile(s, &p,
				    s->m.segments.n + 1 >= merge_at ? COMMIT_MERGE : COMMIT_ADD,
				    true, &new, err);
	} else if (rc == 0 && snap.journal) {
		new.journal = s->m.journal + 1; /* it may tell sequence numbers alone */
		rc = commit_manifest(s, &new, err);
		if (rc >= 0)
			commit_drop_journal(s, rc == 0);
	} else if (rc == 0) {
		commit_drop_journal(s, true);
	}
	manifest_release(&new);
	profile_release(&p);
	snapshot_close(&snap);
	return rc < 0 ? rc : commit_clean(s, err);
}

int store_flush_journal(struct store *s, struct err *err)
{
	int rc = s->journal_fd < 0 ? 0 : absorb_journal(s, s->compact_at, err);

	return rc < 0 ? err_prefix(err, rc, "epoch %s", s->epoch) : 0;
}

/* Removes a recording whose creator was killed before its first MANIFEST. */
static void remove_stillborn(int epochs_fd, int epoch_fd, int dir_fd, const char *epoch,
			     const char *host)
{
	name_list l = {0};

	if (db_names(dir_fd, commit_is_temp, &l, NULL) >= 0)
		vec_each (name, &l)
			unlinkat(dir_fd, *name, 0);
	name_list_release(&l);
	unlinkat(epoch_fd, host, AT_REMOVEDIR); /* fails, rightly, when something else is in it */
	unlinkat(epochs_fd, epoch, AT_REMOVEDIR);
}

/* What tells a recording from all others; all have the same length in a segment. */
static uint64_t random_number(void)
{
	struct timespec t;
	uint64_t n;

	if (getrandom(&n, sizeof(n), 0) != sizeof(n)) {
		clock_gettime(CLOCK_REALTIME, &t);
		n = hash_pair((uint64_t)t.tv_sec << 30 | (uint64_t)t.tv_nsec, (uint64_t)getpid());
	}
	return n >> 2 | 1ull << 62;
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
	if (rc == 0) {
		rc = snapshot_manifest(s->dir_fd, &s->m, err);
		if (rc == -ENOENT)
			remove_stillborn(epochs_fd, epoch_fd, s->dir_fd, epoch, host);
	}
	if (rc == 0 && strcmp(s->m.state, STATE_RECORDING) != 0)
		rc = -EALREADY;
	if (rc == 0)
		rc = db_upgrade(epochs_fd, err);
	if (rc == 0 && !s->m.recording)
		s->m.recording = random_number();
	if (rc == 0)
		rc = absorb_journal(s, SIZE_MAX, err);
	if (rc < 0) {
		store_detach(s);
		return rc;
	}
	*ret = s;
	return 0;
}

int life_age(int epochs_fd, const char *epoch, const char *host, double prune, uint64_t now_ns)
{
	_fd_ int epoch_fd = db_open_dir(epochs_fd, epoch, false, NULL);
	struct store *s;
	bool due;
	int rc;

	if (epoch_fd < 0)
		return epoch_fd;
	s = xcalloc(1, sizeof(*s));
	s->journal_fd = -1;
	s->prune = prune;
	s->now_ns = now_ns;
	snprintf(s->epoch, sizeof(s->epoch), "%s", epoch);
	s->dir_fd = db_open_dir(epoch_fd, host, false, NULL);
	rc = s->dir_fd < 0 ? s->dir_fd : snapshot_manifest(s->dir_fd, &s->m, NULL);
	due = rc >= 0 && strcmp(s->m.state, STATE_RECORDING) != 0 && edges_any(&s->m, now_ns);
	if (due)
		rc = lock_recording(s->dir_fd);
	if (due && rc >= 0) { /* nobody else writes now: what it was may have changed */
		manifest_release(&s->m);
		rc = snapshot_manifest(s->dir_fd, &s->m, NULL);
	}
	if (due && rc >= 0)
		rc = store_compact(s, NULL);
	store_detach(s);
	return rc < 0 ? rc : due;
}

/* Ends the recording; its journal no longer counts. */
static int life_finish(struct store *s, const char *state, struct err *err)
{
	struct manifest new;
	int rc = s->unsynced ? commit_settle(s, err) : 0;

	if (rc < 0)
		return rc;
	commit_drop_journal(s, true);
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
	rc = absorb_journal(s, SIZE_MAX, err);
	if (rc == 0)
		rc = store_compact(s, err);
	if (rc == 0)
		rc = life_finish(s, STATE_FINISHED, err);
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
	rc = life_finish(s, STATE_INTERRUPTED, err);
	store_detach(s);
	return rc < 0 ? rc : 1;
}

/* Recovers HOST's recordings, or all; returns how many. */
static int recover_all(int epochs_fd, const char *host, struct err *err)
{
	name_list epochs = {0};
	int n = 0, rc = db_names(epochs_fd, epoch_name_valid, &epochs, err);

	for (size_t i = 0; i < epochs.n && rc == 0; i++) {
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

/* Recovers what HOST's note says was not finished; RET gets the note without what needs no look any
 * more. */
static void recover_noted(int db_fd, int epochs_fd, const char *host, struct host_note *ret)
{
	struct host_note was;

	if (host_note_read(db_fd, host, &was) == -EBADMSG)
		recover_all(epochs_fd, host, NULL);
	*ret = (struct host_note){0};
	memcpy(ret->newest, was.newest, sizeof(ret->newest));
	vec_each (e, &was.open) {
		struct store *s;
		int rc = store_open(epochs_fd, *e, host, &s, NULL);

		if (rc == 0) {
			rc = life_finish(s, STATE_INTERRUPTED, NULL);
			store_detach(s);
		}
		if (rc < 0 && rc != -EALREADY && rc != -ENOENT)
			vec_push(&ret->open, xstrdup(*e));
	}
	host_note_release(&was);
}

int store_recover(const char *db, const char *host, struct err *err)
{
	_fd_ int db_fd = db_open(db, true, err), lock_fd = -1, epochs_fd = -1;
	int rc;

	if (db_fd < 0)
		return db_fd;
	lock_fd = db_lock(db_fd, err);
	epochs_fd = lock_fd < 0 ? lock_fd : db_open_dir(db_fd, "epochs", true, err);
	rc = epochs_fd < 0 ? epochs_fd : host_notes_make(db_fd, epochs_fd, err);
	if (rc == 0)
		rc = recover_all(epochs_fd, host, err);
	return rc < 0 ? err_prefix(err, rc, "%s", db) : rc;
}

int store_resume(const char *db, const char *host, struct store **ret, struct err *err)
{
	_fd_ int db_fd = db_open(db, true, err), lock_fd = -1, epochs_fd = -1;
	struct host_note note = {0};
	char self[256];
	int rc;

	if (db_fd < 0)
		return db_fd;
	if (!host)
		host_name_self(self);
	lock_fd = db_lock(db_fd, err);
	epochs_fd = lock_fd < 0 ? lock_fd : db_open_dir(db_fd, "epochs", true, err);
	rc = epochs_fd < 0 ? epochs_fd : host_notes_make(db_fd, epochs_fd, err);
	if (rc == 0)
		rc = host_note_read(db_fd, host ? host : self, &note);
	if (rc == -EBADMSG) { /* a damaged note is made anew, as the others */
		rc = host_notes_remove(db_fd);
		rc = rc < 0 ? rc : host_notes_make(db_fd, epochs_fd, err);
		rc = rc < 0 ? rc : host_note_read(db_fd, host ? host : self, &note);
	}
	for (size_t i = note.open.n; i-- > 0 && (rc == 0 || rc == -ENOENT);) {
		rc = store_open(epochs_fd, note.open.v[i], host ? host : self, ret, err);
		if (rc == 0)
			break;
		if (rc == -EWOULDBLOCK || rc == -EALREADY)
			rc = -ENOENT;
	}
	if (!note.open.n && rc == 0)
		rc = -ENOENT;
	host_note_release(&note);
	if (rc == -ENOENT)
		return err_set(err, rc, "%s: no interrupted recording of %s", db,
			       host ? host : self);
	return rc < 0 ? err_prefix(err, rc, "%s", db) : 0;
}

/* Makes EPOCH/HOST with its first MANIFEST; leaves nothing behind after a failure. */
static int create_recording(struct store *s, int epochs_fd, const char *host, const char *job,
			    const struct store_opts *o, struct err *err)
{
	struct manifest first = {.clock_offset_ns = o->clock_offset_ns, .next_segment = 1};
	_fd_ int epoch_fd = db_open_dir(epochs_fd, s->epoch, true, err);
	int rc;

	if (epoch_fd < 0)
		return epoch_fd;
	s->dir_fd = db_open_dir(epoch_fd, host, true, err);
	rc = s->dir_fd < 0 ? s->dir_fd : lock_recording(s->dir_fd);
	if (rc == 0) {
		first.host = arena_strdup(&first.arena, host);
		first.label = arena_strdup(&first.arena, o->label ? o->label : "");
		first.cpu = arena_strdup(&first.arena, o->cpu ? o->cpu : "");
		first.job = arena_strdup(&first.arena, job);
		first.state = arena_strdup(&first.arena, STATE_RECORDING);
		first.recording = random_number();
		if (o->log)
			manifest_put_log(&first, &(struct store_log){.number = o->log,
								     .ranges = o->ranges,
								     .n_ranges = o->n_ranges});
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
	const char *host = o->host;
	uint64_t now_ns = o->now_wall_ns;
	struct host_note note = {0};
	name_list epochs = {0};
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
	host = host ? host : self;
	rc = host_notes_make(db_fd, epochs_fd, err);
	if (rc == 0)
		recover_noted(db_fd, epochs_fd, host, &note);
	if (rc == 0)
		rc = db_names(epochs_fd, epoch_name_valid, &epochs, err);
	if (rc == 0)
		rc = epoch_name_next(now_ns, epochs.n ? epochs.v[epochs.n - 1] : "", s->epoch, err);
	if (rc == 0) {
		memcpy(note.newest, s->epoch, sizeof(note.newest));
		vec_push(&note.open, xstrdup(s->epoch));
		rc = host_note_write(db_fd, host, &note, err);
	}
	if (rc == 0)
		rc = db_upgrade(epochs_fd, err);
	if (rc == 0) {
		_mem_ char *job = job_choose(epochs_fd, &epochs, &note.open, host, s->epoch, o);

		rc = create_recording(s, epochs_fd, host, job, o, err);
	}
	host_note_release(&note);
	name_list_release(&epochs);
	if (rc < 0) {
		store_detach(s);
		return err_prefix(err, rc, "%s", db);
	}
	*ret = s;
	return 0;
}
