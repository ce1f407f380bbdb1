/* SPDX-License-Identifier: BSD-2-Clause */
/* How a recording changes.
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
 * MANIFEST. */
#include "store/commit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/str.h"
#include "model/fresh.h"
#include "store/merge.h"
#include "store/snapshot.h"

uint64_t store_now_ns(const struct store *s)
{
	return s->now_ns ? s->now_ns : clock_wall_ns();
}

static bool is_segment(const char *name)
{
	return str_ends(name, ".seg");
}

bool commit_is_temp(const char *name)
{
	return name[0] == '.' && str_ends(name, ".tmp");
}

static bool is_garbage_kind(const char *name)
{
	return is_segment(name) || commit_is_temp(name);
}

static bool is_named(const struct manifest *m, const char *name)
{
	vec_each (s, &m->segments)
		if (strcmp(s->name, name) == 0)
			return true;
	return false;
}

uint64_t commit_segment_number(const char *name)
{
	uint64_t n = 0;

	for (; *name >= '0' && *name <= '9' && n < UINT64_MAX / 10 - 1; name++)
		n = 10 * n + (uint64_t)(*name - '0');
	return n;
}

int commit_set_aside(int dir_fd, const char *name)
{
	_fd_ int lost = db_open_dir(dir_fd, LOST_NAME, true, NULL);
	_mem_ char *to = xstrdup(name);

	if (lost < 0)
		return lost;
	for (unsigned i = 2; faccessat(lost, to, F_OK, AT_SYMLINK_NOFOLLOW) == 0; i++) {
		free(to);
		to = xasprintf("%s.%u", name, i);
	}
	return renameat(dir_fd, name, lost, to) < 0 ? -errno : 0;
}

/* Whether all that segment NAME holds counts by M, which does not name it.  It was replaced, or its
 * commit was killed and what was to be in it is stored by now. */
static bool is_superfluous(int dir_fd, const struct manifest *m, const char *name)
{
	const struct manifest_log *l;
	struct segment_origin o;
	struct file_map map;

	if (!m->sealed || commit_segment_number(name) >= m->next_segment)
		return false;
	if (file_map_open(&map, dir_fd, name, true, NULL) < 0)
		return true;
	segment_get_origin(map.bytes, map.n_bytes, &o);
	file_map_close(&map);
	l = manifest_find_log(m, o.log);
	return !o.recording || (o.recording == m->recording && o.last_generation <= m->journal &&
				(!o.log || !l || l->state == STORE_LOG_STORED));
}

/* Removes temporary files and the segments that M has made superfluous.  One whose number M has not
 * given yet is of a commit that was killed: it stays until what counts holds its samples.  Of
 * others nothing is proven: a MANIFEST without a digest may be damaged.  They are set aside. */
static void remove_garbage(int dir_fd, const struct manifest *m)
{
	name_list l = {0};

	if (db_names(dir_fd, is_garbage_kind, &l, NULL) >= 0)
		vec_each (name, &l) {
			if (commit_is_temp(*name))
				unlinkat(dir_fd, *name, 0);
			else if (is_named(m, *name) ||
				 (m->sealed && commit_segment_number(*name) >= m->next_segment))
				continue;
			else if (is_superfluous(dir_fd, m, *name))
				unlinkat(dir_fd, *name, 0);
			else
				commit_set_aside(dir_fd, *name);
		}
	name_list_release(&l);
}

int commit_manifest(struct store *s, struct manifest *new, struct err *err)
{
	struct str text = {0};
	struct manifest now;
	int rc;

	new->generation = s->m.generation + 1;
	manifest_format(new, &text);
	rc = file_replace(s->dir_fd, MANIFEST_NAME, text.v, text.n, err);
	str_release(&text);
	if (rc < 0) {
		bool there = snapshot_manifest(s->dir_fd, &now, NULL) >= 0;
		bool in_place = there && now.generation == new->generation;

		if (there)
			manifest_release(&now);
		if (!in_place)
			return rc;
		rc = 1;
	}
	manifest_release(&s->m);
	s->m = *new;
	s->m.sealed = true;
	*new = (struct manifest){0};
	s->unsynced = rc == 1;
	return rc;
}

void commit_remove_new(struct store *s, const struct manifest *new)
{
	vec_each (seg, &new->segments)
		if (!is_named(&s->m, seg->name))
			unlinkat(s->dir_fd, seg->name, 0);
}

int commit_settle(struct store *s, struct err *err)
{
	int rc = file_fsync(s->dir_fd);

	if (rc < 0)
		return err_errno(err, rc, "fsync of the directory");
	s->unsynced = false;
	remove_garbage(s->dir_fd, &s->m);
	return 0;
}

int commit_clean(struct store *s, struct err *err)
{
	struct manifest new;
	name_list l = {0};
	uint64_t next = s->m.next_segment;
	bool any = false;
	int rc = db_names(s->dir_fd, is_segment, &l, err);

	vec_each (name, &l) {
		any |= !is_named(&s->m, *name);
		if (commit_segment_number(*name) >= next)
			next = commit_segment_number(*name) + 1;
	}
	name_list_release(&l);
	if (rc < 0 || !any)
		return rc;
	if (next != s->m.next_segment || !s->m.sealed) {
		manifest_copy(&new, &s->m);
		new.next_segment = next;
		rc = commit_manifest(s, &new, err);
		manifest_release(&new);
	}
	if (rc == 0)
		remove_garbage(s->dir_fd, &s->m);
	return rc < 0 ? rc : 0;
}

static int write_file(int dir_fd, const char *name, const struct wr *w, struct err *err)
{
	_fd_ int fd = -1;
	int rc;

	fd = file_create(dir_fd, name);
	if (fd < 0)
		return err_errno(err, fd, "%s: create", name);
	rc = file_write_all(fd, w->v, w->n);
	if (rc >= 0)
		rc = file_fsync(fd);
	if (rc >= 0)
		rc = file_fsync(dir_fd);
	if (rc < 0) {
		unlinkat(dir_fd, name, 0);
		return err_errno(err, rc, "%s: write", name);
	}
	return 0;
}

/* Takes into O what the segments that S's MANIFEST names hold. */
static void add_replaced(const struct store *s, struct segment_origin *o)
{
	vec_each (seg, &s->m.segments) {
		uint64_t number = commit_segment_number(seg->name);

		if (!o->n_replaced || number < o->first_replaced)
			o->first_replaced = number;
		if (number > o->last_replaced)
			o->last_replaced = number;
		o->n_replaced++;
	}
}

/* Where a segment comes from that is committed so.  What is in place of all holds every generation
 * so far. */
static struct segment_origin origin_of(const struct store *s, const struct manifest *new,
				       enum commit_how how, bool void_journal, uint64_t log)
{
	struct segment_origin o = {
		.recording = s->m.recording, .number = new->next_segment, .log = log};
	const uint64_t last = s->m.journal + void_journal;

	if (how != COMMIT_ADD) {
		add_replaced(s, &o);
		o.first_generation = last ? 1 : 0;
		o.last_generation = last;
	} else if (void_journal) {
		o.first_generation = o.last_generation = last;
	}
	return o;
}

int commit_add_segment(struct store *s, struct manifest *new, const struct profile *p,
		       const struct segment_origin *o, struct err *err)
{
	struct segment_origin from = *o;
	struct wr w = {0};
	char name[32];
	int rc;

	/* A killed commit may have left a segment of the next number, which is nobody's to
	 * overwrite. */
	for (;; new->next_segment++) {
		snprintf(name, sizeof(name), "%06" PRIu64 ".seg", new->next_segment);
		if (faccessat(s->dir_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
			break;
	}
	from.number = new->next_segment;
	rc = segment_encode_from(&w, p, &from, err);
	if (rc >= 0)
		rc = write_file(s->dir_fd, name, &w, err);
	if (rc >= 0) {
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

void commit_drop_journal(struct store *s, bool remove)
{
	if (s->journal_fd >= 0)
		close(s->journal_fd);
	s->journal_fd = -1;
	s->journal_broken = false;
	if (remove)
		unlinkat(s->dir_fd, JOURNAL_NAME, 0);
}

int commit_profile(struct store *s, const struct profile *p, enum commit_how how, bool void_journal,
		   struct manifest *new, struct err *err)
{
	const struct segment_origin o = origin_of(s, new, how, void_journal, 0);

	return commit_profile_from(s, p, how, void_journal, &o, new, err);
}

int commit_profile_from(struct store *s, const struct profile *p, enum commit_how how,
			bool void_journal, const struct segment_origin *o, struct manifest *new,
			struct err *err)
{
	int rc;

	if (how == COMMIT_MERGE || how == COMMIT_LAST) {
		rc = commit_merge(s, p, how == COMMIT_LAST, void_journal, new, err);
	} else {
		if (how != COMMIT_ADD)
			new->segments.n = 0;
		rc = commit_add_segment(s, new, p, o, err);
	}
	if (rc < 0)
		return rc;
	if (void_journal)
		new->journal = s->m.journal + 1;
	rc = commit_manifest(s, new, err);
	if (rc < 0) {
		commit_remove_new(s, new);
		return rc;
	}
	if (void_journal)
		commit_drop_journal(s, rc == 0);
	if (rc == 0 && how != COMMIT_ADD)
		remove_garbage(s->dir_fd, &s->m);
	return 0;
}

bool commit_has_content(const struct profile *p)
{
	vec_each (e, &p->events)
		if (e->enabled_ns || e->running_ns || e->total || e->n_reached)
			return true;
	return profile_next_used(p, 0) != UINT32_MAX || p->losses.n || p->traces.n > 1;
}
