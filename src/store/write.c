/* SPDX-License-Identifier: BSD-2-Clause */
/* What a recorder hands over: flushes, which are commits, and journal records, which are appended.
 * A record that could not be written whole is cut off again, so that nothing stands behind a torn
 * one. */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "store/commit.h"
#include "store/edges.h"
#include "store/snapshot.h"

const char *store_epoch(const struct store *s)
{
	return s->epoch;
}

bool store_last_seq(const struct store *s, uint32_t cpu, uint64_t *ret_seq)
{
	const struct manifest_log *l = s->m.logs.n ? &s->m.logs.v[s->m.logs.n - 1] : NULL;

	if (!l)
		return false;
	if (cpu == STORE_SOURCE_DONE && l->state == STORE_LOG_STORED) {
		*ret_seq = 1;
		return true;
	}
	vec_each (c, &l->cpus) {
		if (c->cpu == cpu) {
			*ret_seq = c->last_seq;
			return true;
		}
	}
	return false;
}

int store_flush(struct store *s, const struct profile *p, const struct seq_range *ranges,
		size_t n_ranges, struct err *err)
{
	struct manifest new;
	int rc;

	if (!commit_has_content(p) && s->journal_fd < 0 && !n_ranges)
		return 0;
	manifest_copy(&new, &s->m);
	manifest_add_profile(&new, p);
	for (size_t i = 0; i < n_ranges; i++)
		manifest_add_seq(&new, ranges[i].cpu, ranges[i].last_seq);
	rc = commit_profile(s, p, s->m.segments.n + 1 >= s->compact_at ? COMMIT_MERGE : COMMIT_ADD,
			    true, &new, err);
	manifest_release(&new);
	return rc < 0 ? err_prefix(err, rc, "epoch %s", s->epoch) : 0;
}

int store_replace(struct store *s, const struct profile *p, struct err *err)
{
	struct manifest new;
	int rc;

	if (!commit_has_content(p) && !s->m.segments.n)
		return 0;
	manifest_copy(&new, &s->m);
	new.events.n = new.losses.n = 0;
	manifest_add_profile(&new, p);
	rc = commit_profile(s, p, COMMIT_REPLACE, true, &new, err);
	manifest_release(&new);
	return rc < 0 ? err_prefix(err, rc, "epoch %s", s->epoch) : 0;
}

void store_set_prune(struct store *s, double share)
{
	s->prune = share;
}

int store_compact(struct store *s, struct err *err)
{
	struct manifest new;
	int rc;

	if (!s->m.segments.n || (s->prune <= 0 && !edges_any(&s->m, store_now_ns(s))))
		return 0;
	manifest_copy(&new, &s->m);
	rc = commit_profile(s, NULL, COMMIT_LAST, false, &new, err);
	manifest_release(&new);
	return rc < 0 ? err_prefix(err, rc, "epoch %s", s->epoch) : 0;
}

/* The journal. */

static int journal_start(struct store *s, struct err *err)
{
	struct wr w = {0};
	int rc;

	unlinkat(s->dir_fd, JOURNAL_NAME, 0);
	s->journal_fd = file_create(s->dir_fd, JOURNAL_NAME);
	if (s->journal_fd < 0) {
		rc = s->journal_fd;
		s->journal_fd = -1;
		return err_errno(err, rc, "%s: create", JOURNAL_NAME);
	}
	journal_put_header(&w, s->m.journal + 1);
	rc = file_write_all(s->journal_fd, w.v, w.n);
	if (rc == 0)
		rc = file_fsync(s->dir_fd);
	wr_release(&w);
	s->journal_bytes = JOURNAL_HEADER_SZ;
	if (rc < 0) {
		commit_drop_journal(s, true);
		return err_errno(err, rc, "%s: write", JOURNAL_NAME);
	}
	return 0;
}

static int journal_append(struct store *s, const struct wr *w, struct err *err)
{
	int rc = file_write_all(s->journal_fd, w->v, w->n);

	if (rc >= 0)
		rc = file_fsync(s->journal_fd);
	if (rc >= 0) {
		s->journal_bytes += w->n;
		return 0;
	}
	if (ftruncate(s->journal_fd, (off_t)s->journal_bytes) < 0 ||
	    lseek(s->journal_fd, (off_t)s->journal_bytes, SEEK_SET) < 0)
		s->journal_broken = true;
	return err_errno(err, rc, "%s: write", JOURNAL_NAME);
}

int store_journal(struct store *s, const struct profile *p, const struct seq_range *ranges,
		  size_t n_ranges, struct err *err)
{
	struct wr *w = &s->journal_record;
	int rc;

	if (s->journal_broken)
		return err_set(err, -EIO, "epoch %s: %s: unusable until the next flush", s->epoch,
			       JOURNAL_NAME);
	rc = s->journal_fd < 0 ? journal_start(s, err) : 0;
	w->n = 0;
	if (rc >= 0)
		rc = journal_put_record(&s->journal_writer, w, s->m.journal + 1, s->journal_bytes,
					ranges, n_ranges, p, err);
	if (rc >= 0)
		rc = journal_append(s, w, err);
	if (rc < 0)
		return err_prefix(err, rc, "epoch %s", s->epoch);
	for (size_t i = 0; i < n_ranges; i++)
		manifest_add_seq(&s->m, ranges[i].cpu, ranges[i].last_seq);
	return 0;
}
