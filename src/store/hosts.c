/* SPDX-License-Identifier: BSD-2-Clause */
/* DB/hosts/<host> says which epoch is the host's newest and which were not finished when somebody
 * last looked (docs/formats/manifest.md):
 *
 *     dwell host 2
 *     newest 20261121132400
 *     open 20261121132400
 *     sum 6d0b4f1a2c3e5d78
 *
 * A recorder writes it, under the database's lock, before it makes its epoch: killed in between, it
 * leaves a note of an epoch that is not there, which means nothing to anybody.  Finishing does not
 * touch it: the next recorder of the host looks at the epochs that are open, finds them finished,
 * or recovers them, and leaves them out.  So a recording begins, and the newest is found, without a
 * look at the thousands of epochs there may be.
 *
 * The directory is made whole at once, by a rename: where it is, it knows all hosts. */
#include "store/hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "store/commit.h"
#include "store/manifest.h"
#include "store/snapshot.h"
#include "store/summed.h"

#define FIRST_LINE     "dwell host 2\n"
#define FIRST_LINE_OLD "dwell host 1\n" /* of 0.1.0: without a checksum */
#define BEING_MADE     ".hosts.tmp"
#define NOTE_MAX       (1u << 20)

void host_note_release(struct host_note *n)
{
	name_list_release(&n->open);
	*n = (struct host_note){0};
}

static void hosts_format(const struct host_note *n, struct str *out)
{
	str_add(out, FIRST_LINE);
	if (*n->newest)
		str_addf(out, "newest %s\n", n->newest);
	vec_each (e, &n->open)
		str_addf(out, "open %s\n", *e);
	summed_end(out);
}

/* Understands the N bytes at TEXT, which it takes apart; -EBADMSG when there is anything else in
 * it. */
static int hosts_parse(char *text, size_t n, struct host_note *ret)
{
	char *rest = NULL;

	if (!str_starts(text, FIRST_LINE_OLD) &&
	    (!str_starts(text, FIRST_LINE) || !summed_check(text, n)))
		return -EBADMSG;
	for (char *line = strtok_r(text + strlen(FIRST_LINE), "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		char *epoch = strchr(line, ' ');

		if (!epoch || !epoch_name_valid(epoch + 1))
			return -EBADMSG;
		*epoch++ = '\0';
		if (strcmp(line, "newest") == 0)
			memcpy(ret->newest, epoch, sizeof(ret->newest));
		else if (strcmp(line, "open") == 0)
			vec_push(&ret->open, xstrdup(epoch));
		else
			return -EBADMSG;
	}
	return 0;
}

int host_note_read(int db_fd, const char *host, struct host_note *ret)
{
	_fd_ int dir = db_open_dir(db_fd, HOSTS_NAME, false, NULL);
	_mem_ char *text = NULL;
	size_t n;

	int rc;

	*ret = (struct host_note){0};
	rc = dir < 0 ? -ENOENT : db_load(dir, host, NOTE_MAX, &text, &n, NULL);
	if (rc >= 0)
		rc = strlen(text) == n ? hosts_parse(text, n, ret) : -EBADMSG;
	if (rc < 0)
		host_note_release(ret);
	return rc >= 0 || rc == -ENOENT ? rc : -EBADMSG;
}

static int write_in(int dir, const char *host, const struct host_note *n, struct err *err)
{
	_str_ struct str text = {0};
	int rc;

	hosts_format(n, &text);
	rc = file_replace(dir, host, text.v, text.n, err);
	return rc < 0 ? err_prefix(err, rc, HOSTS_NAME) : 0;
}

int host_note_write(int db_fd, const char *host, const struct host_note *n, struct err *err)
{
	_fd_ int dir = db_open_dir(db_fd, HOSTS_NAME, false, err);

	return dir < 0 ? dir : write_in(dir, host, n, err);
}

int host_notes_list(int db_fd, name_list *ret)
{
	_fd_ int dir = db_open_dir(db_fd, HOSTS_NAME, false, NULL);

	return dir < 0 ? -ENOENT : db_names(dir, host_name_valid, ret, NULL);
}

/* Notes of all hosts, while they are being made. */
struct notes {
	name_list hosts;
	VEC(struct host_note) notes;
};

static struct host_note *find_note(struct notes *all, const char *host)
{
	for (size_t i = 0; i < all->hosts.n; i++)
		if (strcmp(all->hosts.v[i], host) == 0)
			return &all->notes.v[i];
	vec_push(&all->hosts, xstrdup(host));
	return vec_add(&all->notes);
}

/* Notes the recordings of EPOCH, which is later than all noted before. */
static void note_epoch(struct notes *all, int epochs_fd, const char *epoch)
{
	_fd_ int fd = db_open_dir(epochs_fd, epoch, false, NULL);
	name_list hosts = {0};

	if (fd >= 0)
		db_names(fd, host_name_valid, &hosts, NULL);
	vec_each (h, &hosts) {
		_fd_ int dir = db_open_dir(fd, *h, false, NULL);
		struct host_note *n;
		struct manifest m;
		int rc;

		if (dir < 0)
			continue;
		n = find_note(all, *h);
		rc = snapshot_manifest(dir, &m, NULL);
		if (rc >= 0)
			snprintf(n->newest, sizeof(n->newest), "%s", epoch);
		/* What has no MANIFEST may be a stillborn one, to be removed. */
		if (rc < 0 || strcmp(m.state, STATE_RECORDING) == 0)
			vec_push(&n->open, xstrdup(epoch));
		if (rc >= 0)
			manifest_release(&m);
	}
	name_list_release(&hosts);
}

/* Removes what writers killed in the middle left in DIR: entries WANT takes. */
static void remove_left(int dir, bool (*want)(const char *name))
{
	name_list left = {0};

	if (dir >= 0 && db_names(dir, want, &left, NULL) >= 0)
		vec_each (name, &left)
			unlinkat(dir, *name, 0);
	name_list_release(&left);
}

static void remove_unfinished(int db_fd)
{
	_fd_ int dir = db_open_dir(db_fd, BEING_MADE, false, NULL);

	remove_left(dir, db_any_name);
	unlinkat(db_fd, BEING_MADE, AT_REMOVEDIR);
}

int host_notes_make(int db_fd, int epochs_fd, struct err *err)
{
	_fd_ int there = db_open_dir(db_fd, HOSTS_NAME, false, NULL), dir = -1;
	struct notes all = {{0}};
	name_list epochs = {0};
	int rc;

	if (there >= 0) {
		remove_left(there, commit_is_temp);
		return 0;
	}
	remove_unfinished(db_fd);
	dir = db_open_dir(db_fd, BEING_MADE, true, err);
	rc = dir < 0 ? dir : db_names(epochs_fd, epoch_name_valid, &epochs, err);
	if (rc >= 0)
		vec_each (e, &epochs)
			note_epoch(&all, epochs_fd, *e);
	for (size_t i = 0; i < all.hosts.n && rc >= 0; i++)
		rc = write_in(dir, all.hosts.v[i], &all.notes.v[i], err);
	if (rc >= 0) {
		rc = file_rename(db_fd, BEING_MADE, HOSTS_NAME);
		rc = rc < 0 ? rc : file_fsync(db_fd);
		if (rc < 0)
			err_errno(err, rc, HOSTS_NAME);
	}
	vec_each (n, &all.notes)
		host_note_release(n);
	vec_release(&all.notes);
	name_list_release(&all.hosts);
	name_list_release(&epochs);
	return rc;
}

int host_notes_remove(int db_fd)
{
	int rc;

	remove_unfinished(db_fd);
	rc = file_rename(db_fd, HOSTS_NAME, BEING_MADE);
	remove_unfinished(db_fd);
	return rc;
}
