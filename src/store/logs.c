/* SPDX-License-Identifier: BSD-2-Clause */
/* What a recording knows of logs.
 *
 * Example: a daemon samples into log 7 and is killed; log 7 goes on.  The next daemon puts
 * {7 taken, 9 own}, samples into 9, and folds what log 7 has.  It stores that with
 * store_flush_log(7 stored): samples and word are one commit.  Then it removes log 7, and last it
 * drops the entry.  Whoever dies in between leaves an entry that says what is to be done. */
#include "store/commit.h"

#include <errno.h>
#include <inttypes.h>

uint64_t store_log(const struct store *s)
{
	return s->m.logs.n ? s->m.logs.v[s->m.logs.n - 1].number : 0;
}

size_t store_n_logs(const struct store *s)
{
	return s->m.logs.n;
}

struct store_log store_get_log(const struct store *s, size_t i)
{
	return (struct store_log){.number = s->m.logs.v[i].number, .state = s->m.logs.v[i].state};
}

static int commit_logs(struct store *s, struct manifest *new, struct err *err)
{
	int rc = commit_manifest(s, new, err);

	manifest_release(new);
	return rc < 0 ? err_prefix(err, rc, "epoch %s", s->epoch) : 0;
}

int store_put_logs(struct store *s, const struct store_log *logs, size_t n_logs, struct err *err)
{
	int rc = store_flush_journal(s, err);
	struct manifest new;

	if (rc < 0)
		return rc;
	manifest_copy(&new, &s->m);
	while (new.logs.n)
		manifest_drop_log(&new, new.logs.v[0].number);
	for (size_t i = 0; i < n_logs; i++)
		manifest_put_log(&new, &logs[i]);
	return commit_logs(s, &new, err);
}

int store_use_log(struct store *s, uint64_t log, const struct seq_range *ranges, size_t n_ranges,
		  struct err *err)
{
	int rc = store_flush_journal(s, err);
	struct manifest new;

	if (rc < 0)
		return rc;
	manifest_copy(&new, &s->m);
	manifest_drop_log(&new, store_log(s));
	manifest_drop_log(&new, log);
	manifest_put_log(
		&new, &(struct store_log){.number = log, .ranges = ranges, .n_ranges = n_ranges});
	return commit_logs(s, &new, err);
}

int store_drop_log(struct store *s, uint64_t number, struct err *err)
{
	struct manifest new;

	manifest_copy(&new, &s->m);
	manifest_drop_log(&new, number);
	return commit_logs(s, &new, err);
}

int store_flush_log(struct store *s, const struct profile *p, const struct store_log *l,
		    struct err *err)
{
	struct manifest new;
	uint64_t own = store_log(s);
	int rc;

	if (l->number == own)
		return err_set(err, -EINVAL, "epoch %s: log %" PRIu64 " is recorded into", s->epoch,
			       own);
	manifest_copy(&new, &s->m);
	manifest_put_log_first(&new, l);
	if (commit_has_content(p)) {
		manifest_add_profile(&new, p);
		const struct segment_origin o = {
			.recording = s->m.recording, .number = new.next_segment, .log = l->number};

		rc = commit_profile_from(s, p, COMMIT_ADD, false, &o, &new, err);
	} else {
		rc = commit_manifest(s, &new, err);
	}
	manifest_release(&new);
	return rc < 0 ? err_prefix(err, rc, "epoch %s", s->epoch) : 0;
}
