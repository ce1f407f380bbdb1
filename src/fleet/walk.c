/* SPDX-License-Identifier: BSD-2-Clause */
/* See walk.h. */
#include "fleet/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "store/db.h"
#include "store/manifest.h"

struct walk {
	walk_fn *fn;
	void *ctx;
};

static int walk_host(const struct walk *w, int epoch_fd, const char *epoch, const char *host,
		     struct err *err)
{
	_fd_ int fd = db_open_dir(epoch_fd, host, false, NULL);

	if (fd < 0 || faccessat(fd, MANIFEST_NAME, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return 0; /* removed meanwhile, or not there yet */
	return w->fn(w->ctx, fd, epoch, host, err);
}

static int walk_epoch(const struct walk *w, int epochs_fd, const char *epoch, struct err *err)
{
	_fd_ int fd = db_open_dir(epochs_fd, epoch, false, NULL);
	name_list hosts = {0};
	int rc = 0;

	if (fd >= 0)
		rc = db_names(fd, host_name_valid, &hosts, err);
	for (size_t i = 0; i < hosts.n && rc >= 0; i++)
		rc = walk_host(w, fd, epoch, hosts.v[i], err);
	name_list_release(&hosts);
	return rc;
}

int walk_recordings(const char *db, walk_fn *fn, void *ctx, struct err *err)
{
	const struct walk w = {fn, ctx};
	_fd_ int db_fd = db_open(db, false, err);
	_fd_ int fd = db_fd < 0 ? -1 : db_open_dir(db_fd, "epochs", false, err);
	name_list epochs = {0};
	int rc = db_fd < 0 ? db_fd : fd < 0 ? fd : 0;

	if (rc >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0)
		rc = err_set(err, -EBUSY, "somebody else ships this database now");
	if (rc >= 0)
		rc = db_names(fd, epoch_name_valid, &epochs, err);
	for (size_t i = 0; i < epochs.n && rc >= 0; i++)
		rc = walk_epoch(&w, fd, epochs.v[i], err);
	name_list_release(&epochs);
	return rc;
}
