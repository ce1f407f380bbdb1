/* SPDX-License-Identifier: BSD-2-Clause */
/* See bundle.h.  Notes of hosts are left out: a database without them is read by looking at what it
 * has, and its next recorder makes them. */
#include "store/bundle.h"

#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "store/choose.h"
#include "store/snapshot.h"

struct bundler {
	store_put_fn *put;
	void *ctx;
};

static int put_file(const struct bundler *b, const struct recording_name *r, const char *name,
		    const void *bytes, size_t n, struct err *err)
{
	_mem_ char *path = xasprintf("epochs/%s/%s/%s", r->epoch, r->host, name);

	return b->put(b->ctx, path, bytes, n, err);
}

static int put_recording(const struct bundler *b, const struct recording_name *r, int dir,
			 struct err *err)
{
	struct snapshot s;
	_str_ struct str text = {0};
	int rc = snapshot_open(&s, dir, err);

	if (rc < 0)
		return rc;
	manifest_format(&s.manifest, &text);
	rc = put_file(b, r, MANIFEST_NAME, text.v, text.n, err);
	for (size_t i = 0; i < s.maps.n && rc >= 0; i++)
		rc = put_file(b, r, s.manifest.segments.v[i].name, s.maps.v[i].bytes,
			      s.maps.v[i].n_bytes, err);
	if (rc >= 0 && s.journal)
		rc = put_file(b, r, JOURNAL_NAME, s.journal, s.n_journal, err);
	snapshot_close(&s);
	return rc;
}

int store_bundle(const char *db, const struct store_selection *sel, store_put_fn *put, void *ctx,
		 struct err *err)
{
	const struct bundler b = {put, ctx};
	_fd_ int db_fd = db_open(db, false, err), epochs_fd = -1;
	recording_list l = {0};
	char version[64];
	int rc, n = 0;

	if (db_fd < 0)
		return db_fd;
	epochs_fd = db_open_dir(db_fd, "epochs", false, err);
	rc = epochs_fd < 0 ? epochs_fd : choose_recordings(db_fd, epochs_fd, sel, &l, err);
	if (rc == 0 && db_read_version(db_fd, version))
		rc = put(ctx, "VERSION", version, strlen(version), err);
	for (size_t i = 0; i < l.n && rc == 0; i++, n++) {
		_fd_ int epoch = db_open_dir(epochs_fd, l.v[i].epoch, false, err), dir = -1;

		dir = epoch < 0 ? epoch : db_open_dir(epoch, l.v[i].host, false, err);
		rc = dir < 0 ? dir : put_recording(&b, &l.v[i], dir, err);
		if (rc < 0)
			err_prefix(err, rc, "%s: epoch %s/%s", db, l.v[i].epoch, l.v[i].host);
	}
	if (rc == 0 && !l.n)
		rc = err_set(err, -ENOENT, "%s: no epochs chosen", db);
	recording_list_release(&l);
	return rc < 0 ? rc : n;
}
