/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/check_notes.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "store/hosts.h"
#include "store/summed.h"

#define HOLDER_PREFIX "daemon."

enum { HOLDER_MAX = 4096 };

static bool is_holder(const char *name)
{
	return str_starts(name, HOLDER_PREFIX) && host_name_valid(name + strlen(HOLDER_PREFIX));
}

/* Removes the file NAME of a daemon that is gone; a living one's keeps its lock. */
static void remove_holder(int db_fd, const char *name)
{
	_fd_ int fd = openat(db_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) >= 0)
		unlinkat(db_fd, name, 0);
}

void check_notes(int db_fd, int epochs_fd, bool repair,
		 void (*report)(void *ctx, const char *file, const char *done, const char *text),
		 void *ctx)
{
	name_list hosts = {0}, holders = {0};
	bool bad = false;

	/* Notes are only hints; damaged ones make readers slow. */
	if (host_notes_list(db_fd, &hosts) >= 0)
		vec_each (h, &hosts) {
			struct host_note n;
			_mem_ char *path = xasprintf(HOSTS_NAME "/%s", *h);

			if (host_note_read(db_fd, *h, &n) == -EBADMSG) {
				bad = true;
				report(ctx, path, "made anew", "is no note of a host");
			}
			host_note_release(&n);
		}
	name_list_release(&hosts);
	if (bad && repair && host_notes_remove(db_fd) >= 0)
		host_notes_make(db_fd, epochs_fd, NULL);

	db_names(db_fd, is_holder, &holders, NULL);
	vec_each (name, &holders) {
		_mem_ char *text = NULL;
		size_t n;

		if (db_load(db_fd, *name, HOLDER_MAX, &text, &n, NULL) >= 0 &&
		    holder_check(text, n))
			continue;
		report(ctx, *name, "removed unless a daemon holds it",
		       "does not say who holds the database");
		if (repair)
			remove_holder(db_fd, *name);
	}
	name_list_release(&holders);
}
