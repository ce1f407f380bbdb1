/* SPDX-License-Identifier: BSD-2-Clause */
/* How a reader that takes no lock sees one committed state.
 *
 * The MANIFEST says which segments count, and up to which generation journals are void.  A reader
 * takes the MANIFEST, opens all it names, reads the journal, and then looks whether the MANIFEST
 * still has the same generation.  If so, everything opened belongs to it: a writer removes segments
 * and replaces the journal only after a newer MANIFEST is in place.  If not, it starts again.  Open
 * files stay whole when they are unlinked; the journal is copied because its writer may cut it. */
#include "store/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "store/db.h"

#define MAX_TRIES   1000
#define JOURNAL_MAX (1u << 30)

static int parse_manifest(struct manifest *ret, const char *text, size_t n, struct err *err)
{
	int rc = manifest_parse(ret, text, n, err);

	return rc < 0 ? err_prefix(err, rc, "%s", MANIFEST_NAME) : 0;
}

int snapshot_manifest(int dirfd, struct manifest *ret, struct err *err)
{
	_mem_ char *text = NULL;
	size_t n = 0;
	int rc = db_load(dirfd, MANIFEST_NAME, MANIFEST_MAX, &text, &n, err);

	return rc < 0 ? rc : parse_manifest(ret, text, n, err);
}

static int open_segments(struct snapshot *s, int dirfd, struct err *err)
{
	vec_each (seg, &s->manifest.segments) {
		struct file_map m;
		int rc = file_map_open(&m, dirfd, seg->name, true, err);

		if (rc < 0)
			return rc;
		vec_push(&s->maps, m);
		if (m.n_bytes != seg->n_bytes || segment_digest(m.bytes, m.n_bytes) != seg->digest)
			return err_set(err, -EBADMSG, "%s: is not the segment %s names", seg->name,
				       MANIFEST_NAME);
	}
	return 0;
}

/* Takes the journal when its content counts besides the segments. */
static int read_journal(struct snapshot *s, int dirfd, struct err *err)
{
	struct journal_reader r;
	struct err why;
	int rc = db_load(dirfd, JOURNAL_NAME, JOURNAL_MAX, &s->journal, &s->n_journal, &why);

	if (rc == -ENOENT)
		return 0;
	if (rc < 0)
		return err_set(err, rc, "%s", why.msg);
	rc = journal_read_begin(&r, (uint8_t *)s->journal, s->n_journal, &why);
	if (rc == -ENODATA || (rc >= 0 && r.generation <= s->manifest.journal)) {
		free(take_ptr(&s->journal));
		s->n_journal = 0;
		return 0;
	}
	return rc < 0 ? err_set(err, rc, "%s: %s", JOURNAL_NAME, why.msg) : 0;
}

/* Keeps the recording from being removed.  Where there are no locks to be had nobody can remove it
 * either. */
static int lock_against_removal(struct snapshot *s, int dirfd, struct err *err)
{
	s->lock_fd = openat(dirfd, MANIFEST_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (s->lock_fd < 0)
		return err_errno(err, -errno, MANIFEST_NAME);
	if (flock(s->lock_fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return err_set(err, -ENOENT, "the recording is being removed");
	return 0;
}

/* Returns 1 when the MANIFEST still has the generation of S, which was made of the N bytes of
 * TEXT; else 0. */
static int is_unchanged(const struct snapshot *s, int dirfd, const char *text, size_t n,
			struct err *err)
{
	_mem_ char *now = NULL;
	struct manifest after;
	size_t n_now = 0;
	bool same;
	int rc = db_load(dirfd, MANIFEST_NAME, MANIFEST_MAX, &now, &n_now, err);

	if (rc < 0)
		return rc;
	if (n_now == n && memcmp(now, text, n) == 0)
		return 1; /* nearly always: it need not be parsed again */
	rc = parse_manifest(&after, now, n_now, err);
	if (rc < 0)
		return rc;
	same = after.generation == s->manifest.generation;
	manifest_release(&after);
	return same;
}

/* 1: a consistent snapshot; 0: the writer was faster. */
static int try_open(struct snapshot *s, int dirfd, struct err *err)
{
	_mem_ char *text = NULL;
	size_t n = 0;
	int opened, rc = db_load(dirfd, MANIFEST_NAME, MANIFEST_MAX, &text, &n, err);

	if (rc >= 0)
		rc = parse_manifest(&s->manifest, text, n, err);
	if (rc < 0)
		return rc;
	opened = lock_against_removal(s, dirfd, err);
	if (opened < 0)
		return opened;
	opened = open_segments(s, dirfd, err);
	if (opened >= 0)
		opened = read_journal(s, dirfd, err);
	rc = is_unchanged(s, dirfd, text, n, opened < 0 ? NULL : err);
	if (rc <= 0)
		return rc;
	return opened < 0 ? opened : 1;
}

int snapshot_open(struct snapshot *s, int dirfd, struct err *err)
{
	for (int i = 0; i < MAX_TRIES; i++) {
		int rc;

		*s = (struct snapshot){.lock_fd = -1};
		rc = try_open(s, dirfd, err);
		if (rc == 1)
			return 0;
		snapshot_close(s);
		if (rc < 0)
			return rc;
	}
	return err_set(err, -EAGAIN, "the recording changes faster than it can be read");
}

void snapshot_close(struct snapshot *s)
{
	vec_each (m, &s->maps)
		file_map_close(m);
	vec_release(&s->maps);
	free(s->journal);
	manifest_release(&s->manifest);
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	*s = (struct snapshot){.lock_fd = -1};
}

int snapshot_load_segment(const struct snapshot *s, size_t i, struct profile *into,
			  struct value_sink *sink, struct err *err)
{
	const struct manifest_segment *seg = &s->manifest.segments.v[i];
	int rc;

	if (sink && sink->part)
		sink->part(sink, seg->start_wall_ns, seg->end_wall_ns);
	rc = segment_decode(s->maps.v[i].bytes, s->maps.v[i].n_bytes, into, sink, err);
	return rc < 0 ? err_prefix(err, rc, "%s", seg->name) : 0;
}

int snapshot_load(const struct snapshot *s, bool journal_only, struct profile *into,
		  struct value_sink *sink, struct err *err)
{
	struct journal_reader r;
	struct journal_record rec;
	int rc = 0;

	if (s->manifest.cpu && *s->manifest.cpu && !into->meta.cpu)
		into->meta.cpu = profile_intern_str(into, s->manifest.cpu);
	for (size_t i = 0; i < s->maps.n && !journal_only; i++) {
		rc = snapshot_load_segment(s, i, into, sink, err);
		if (rc < 0)
			return rc;
	}
	if (!s->journal)
		return 0;
	if (sink && sink->part)
		sink->part(sink, 0, 0);
	rc = journal_read_begin(&r, (uint8_t *)s->journal, s->n_journal, err);
	while (rc >= 0 && (rc = journal_next(&r, &rec, err)) == 1)
		rc = journal_load(&rec, into, sink, err);
	journal_reader_release(&r);
	return rc < 0 ? err_prefix(err, rc, "%s", JOURNAL_NAME) : 0;
}

int snapshot_add_seqs(const struct snapshot *s, struct manifest *m, struct err *err)
{
	struct journal_reader r;
	struct journal_record rec;
	int rc;

	if (!s->journal)
		return 0;
	rc = journal_read_begin(&r, (uint8_t *)s->journal, s->n_journal, err);
	while (rc >= 0 && (rc = journal_next(&r, &rec, err)) == 1) {
		for (size_t i = 0; i < rec.n_ranges; i++)
			manifest_add_seq(m, rec.ranges[i].cpu, rec.ranges[i].last_seq);
		rc = 0;
	}
	journal_reader_release(&r);
	return rc < 0 ? err_prefix(err, rc, "%s", JOURNAL_NAME) : 0;
}
