/* SPDX-License-Identifier: BSD-2-Clause */
/* See check.h.
 *
 * A recording is looked at file by file: a damaged one does not hide the others.  What is found is
 * a new MANIFEST with the whole segments, the journal's whole records as one more, and sums over
 * them; repairing is to commit that (commit.h), so that it happens at once or not at all.  Without
 * a MANIFEST to be read all whole segments count: what a merge that died at the same moment left
 * would count twice, which nothing tells. */
#include "store/check.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "store/commit.h"
#include "store/hosts.h"
#include "store/snapshot.h"

struct checker {
	bool repair;
	void (*report)(void *ctx, const struct store_problem *p);
	void *ctx;
	int n;
	int epochs_fd;
};

/* One recording. */
struct found {
	struct checker *c;
	const char *epoch, *host;
	int dir;
	bool live;
	struct manifest m;     /* as it is, or an empty one */
	struct manifest whole; /* with what is whole */
	struct profile journal;
	bool has_journal; /* some record of it counts */
	uint64_t journal_generation;
	bool damaged;
	name_list aside; /* files to be set aside */
};

static void report(struct checker *c, const char *file, const char *done, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static void report(struct checker *c, const char *file, const char *done, const char *fmt, ...)
{
	struct store_problem p = {.file = file, .done = c->repair ? done : NULL};
	char text[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	p.text = text;
	c->n++;
	c->report(c->ctx, &p);
}

/* Reports file NAME of the recording. */
static void report_file(struct found *f, const char *name, const char *done, const char *text)
{
	_mem_ char *path = xasprintf("epochs/%s/%s/%s", f->epoch, f->host, name);
	/* "NAME: what" says the name again. */
	size_t n = strlen(name);

	if (strncmp(text, name, n) == 0 && strncmp(text + n, ": ", 2) == 0)
		text += n + 2;
	f->damaged = true;
	report(f->c, path, f->live ? NULL : done, "%s", text);
}

/* --- segments --- */

/* Adds segment S to the whole ones when it is. */
static void check_segment(struct found *f, const struct manifest_segment *s, bool named)
{
	struct file_map map = {0};
	struct profile p;
	struct err why = {""};
	int rc = file_map_open(&map, f->dir, s->name, true, &why);

	profile_init(&p);
	if (!rc && named &&
	    (map.n_bytes != s->n_bytes || segment_digest(map.bytes, map.n_bytes) != s->digest))
		rc = err_set(&why, -EBADMSG, "is not the segment %s names", MANIFEST_NAME);
	if (!rc)
		rc = segment_decode(map.bytes, map.n_bytes, &p, NULL, &why);
	if (!rc) {
		manifest_add_profile(&f->whole, &p);
		vec_push(&f->whole.segments,
			 (struct manifest_segment){.name = arena_strdup(&f->whole.arena, s->name),
						   .n_bytes = map.n_bytes,
						   .digest = segment_digest(map.bytes, map.n_bytes),
						   .start_wall_ns = p.meta.start_wall_ns,
						   .end_wall_ns = p.meta.end_wall_ns});
	} else {
		report_file(f, s->name,
			    rc == -ENOENT ? "left out" : "set aside; what else there is was kept",
			    why.msg);
		if (rc != -ENOENT)
			vec_push(&f->aside, xstrdup(s->name));
	}
	profile_release(&p);
	file_map_close(&map);
}

static bool is_segment_name(const char *name)
{
	size_t n = strspn(name, "0123456789");

	return n && strcmp(name + n, ".seg") == 0;
}

/* Takes all segments there are, for want of a MANIFEST. */
static void check_all_segments(struct found *f)
{
	name_list names = {0};

	db_names(f->dir, is_segment_name, &names, NULL);
	vec_each (name, &names) {
		const struct manifest_segment s = {.name = *name};
		uint64_t number = strtoull(*name, NULL, 10);

		check_segment(f, &s, false);
		if (number >= f->whole.next_segment)
			f->whole.next_segment = number + 1;
	}
	name_list_release(&names);
}

/* --- journal --- */

static void check_journal(struct found *f)
{
	struct journal_reader r;
	struct journal_record rec;
	_mem_ char *bytes = NULL;
	struct err why = {""};
	size_t n;
	int rc = db_load(f->dir, JOURNAL_NAME, 1u << 30, &bytes, &n, &why);

	if (rc == -ENOENT)
		return;
	if (!rc)
		rc = journal_read_begin(&r, (uint8_t *)bytes, n, &why);
	if (rc == -ENODATA) /* torn before its first record */
		return;
	if (rc < 0) {
		report_file(f, JOURNAL_NAME, "set aside", why.msg);
		vec_push(&f->aside, xstrdup(JOURNAL_NAME));
		return;
	}
	f->journal_generation = r.generation;
	while (r.generation > f->m.journal && (rc = journal_next(&r, &rec, &why)) == 1) {
		rc = journal_load(&rec, &f->journal, NULL, &why);
		if (rc < 0)
			break;
		f->has_journal = true;
		for (size_t i = 0; i < rec.n_ranges; i++)
			manifest_add_seq(&f->whole, rec.ranges[i].cpu, rec.ranges[i].last_seq);
	}
	journal_reader_release(&r);
	if (rc < 0) {
		report_file(f, JOURNAL_NAME, "set aside; what it had before that was kept",
			    why.msg);
		vec_push(&f->aside, xstrdup(JOURNAL_NAME));
	}
}

/* --- recordings --- */

static void check_left(struct found *f)
{
	name_list left = {0};

	db_names(f->dir, commit_is_temp, &left, NULL);
	vec_each (name, &left)
		if (!f->live)
			report_file(f, *name, "removed", "was left by a writer that was killed");
	name_list_release(&left);
}

/* A copy of NAME's name with ".damaged" behind it keeps the file. */
static void set_aside(const struct found *f, const char *name)
{
	_mem_ char *to = xasprintf("%s.damaged", name);

	renameat(f->dir, name, f->dir, to);
}

/* Commits what is whole.  The caller holds both locks. */
static int mend(struct found *f, struct err *err)
{
	struct store *s = xcalloc(1, sizeof(*s));
	struct manifest new;
	int rc = 0;

	s->dir_fd = dup(f->dir);
	s->journal_fd = -1;
	s->compact_at = COMPACT_AT;
	snprintf(s->epoch, sizeof(s->epoch), "%s", f->epoch);
	manifest_copy(&s->m, &f->m);
	manifest_copy(&new, &f->whole);
	vec_each (name, &f->aside)
		if (strcmp(*name, JOURNAL_NAME) != 0)
			set_aside(f, *name);
	if (f->has_journal) {
		manifest_add_profile(&new, &f->journal);
		rc = commit_profile(s, &f->journal, COMMIT_ADD, false, &new, err);
	} else {
		rc = commit_manifest(s, &new, err);
	}
	/* Before that a journal counts, though what is whole of it were gone. */
	if (rc >= 0) {
		vec_each (name, &f->aside)
			if (strcmp(*name, JOURNAL_NAME) == 0)
				set_aside(f, *name);
		commit_drop_journal(s, true);
		rc = commit_settle(s, err);
	}
	manifest_release(&new);
	store_detach(s);
	return rc < 0 ? rc : 0;
}

static bool is_data(const char *name)
{
	return is_segment_name(name) || strcmp(name, JOURNAL_NAME) == 0;
}

static bool has_data(int dir)
{
	name_list l = {0};
	bool has = db_names(dir, is_data, &l, NULL) == 0 && l.n;

	name_list_release(&l);
	return has;
}

static void check_manifest(struct found *f)
{
	struct err why = {""};
	int rc = snapshot_manifest(f->dir, &f->m, &why);

	if (rc == 0) {
		manifest_copy(&f->whole, &f->m);
		f->whole.segments.n = f->whole.events.n = f->whole.losses.n = 0;
		vec_each (s, &f->m.segments)
			check_segment(f, s, true);
		return;
	}
	/* One that is just beginning, or whose creator was killed before there was anything. */
	if (rc == -ENOENT && (f->live || !has_data(f->dir))) {
		f->live = true;
		return;
	}
	report_file(f, MANIFEST_NAME,
		    rc == -EPROTONOSUPPORT ? NULL : "made anew from the segments that are whole",
		    rc == -ENOENT ? "is missing" : why.msg);
	if (rc == -EPROTONOSUPPORT) {
		f->live = true; /* not ours to touch */
		return;
	}
	f->m = (struct manifest){.next_segment = 1};
	f->m.host = arena_strdup(&f->m.arena, f->host);
	f->m.label = "";
	f->m.state = STATE_INTERRUPTED;
	manifest_copy(&f->whole, &f->m);
	check_all_segments(f);
}

static void check_recording(struct checker *c, int epoch_fd, const char *epoch, const char *host)
{
	struct found f = {.c = c, .epoch = epoch, .host = host};
	struct err why = {""};

	f.dir = db_open_dir(epoch_fd, host, false, &why);
	if (f.dir < 0) {
		_mem_ char *path = xasprintf("epochs/%s/%s", epoch, host);

		report(c, path, NULL, "%s", why.msg);
		return;
	}
	f.live = flock(f.dir, (c->repair ? LOCK_EX : LOCK_SH) | LOCK_NB) < 0;
	profile_init(&f.journal);
	check_manifest(&f);
	check_journal(&f);
	check_left(&f);
	if (f.damaged && c->repair && !f.live) {
		/* Voided with the new MANIFEST, or its records would be there twice. */
		if (f.journal_generation > f.whole.journal)
			f.whole.journal = f.journal_generation;
		if (strcmp(f.whole.state, STATE_RECORDING) == 0)
			f.whole.state = STATE_INTERRUPTED;
		if (mend(&f, &why) < 0)
			report_file(&f, MANIFEST_NAME, NULL, why.msg);
	}
	name_list_release(&f.aside);
	manifest_release(&f.whole);
	manifest_release(&f.m);
	profile_release(&f.journal);
	close(f.dir);
}

static void check_epochs(struct checker *c)
{
	name_list epochs = {0};

	db_names(c->epochs_fd, epoch_name_valid, &epochs, NULL);
	vec_each (e, &epochs) {
		_fd_ int fd = db_open_dir(c->epochs_fd, *e, false, NULL);
		name_list hosts = {0};

		if (fd >= 0)
			db_names(fd, host_name_valid, &hosts, NULL);
		vec_each (h, &hosts)
			check_recording(c, fd, *e, *h);
		name_list_release(&hosts);
	}
	name_list_release(&epochs);
}

/* Notes are only hints; damaged ones make readers slow, and are made anew. */
static void check_notes(struct checker *c, int db_fd)
{
	name_list hosts = {0};
	bool bad = false;

	if (host_notes_list(db_fd, &hosts) == 0)
		vec_each (h, &hosts) {
			struct host_note n;
			_mem_ char *path = xasprintf(HOSTS_NAME "/%s", *h);

			if (host_note_read(db_fd, *h, &n) == -EBADMSG) {
				bad = true;
				report(c, path, "made anew", "is no note of a host");
			}
			host_note_release(&n);
		}
	name_list_release(&hosts);
	if (bad && c->repair && host_notes_remove(db_fd) == 0)
		host_notes_make(db_fd, c->epochs_fd, NULL);
}

int store_check(const char *db, bool repair, void (*tell)(void *ctx, const struct store_problem *p),
		void *ctx, struct err *err)
{
	struct checker c = {.repair = repair, .report = tell, .ctx = ctx};
	_fd_ int there = db_open(db, false, err), db_fd = -1, lock_fd = -1, epochs_fd = -1;

	db_fd = there < 0 ? there : db_open(db, repair, err);
	if (db_fd < 0)
		return db_fd;
	if (repair) {
		lock_fd = db_lock(db_fd, err);
		if (lock_fd < 0)
			return err_prefix(err, lock_fd, "%s", db);
	}
	epochs_fd = db_open_dir(db_fd, "epochs", false, err);
	if (epochs_fd == -ENOENT)
		return 0;
	if (epochs_fd < 0)
		return err_prefix(err, epochs_fd, "%s", db);
	c.epochs_fd = epochs_fd;
	check_epochs(&c);
	check_notes(&c, db_fd);
	return c.n;
}
