/* SPDX-License-Identifier: BSD-2-Clause */
/* The file that a user names with -o: it is there whole, or not at all.
 *
 * It is written under another name beside its place, and renamed.  A symbolic link in its place is
 * replaced, never followed, so that a link which somebody else planted leads nowhere.  "-", pipes
 * and character devices are written directly, and so are /dev/stdout, /dev/stderr, /dev/fd/N and
 * /proc/self/fd/N, which name descriptors of this process.
 *
 * Example: -o a/x.tar writes a/.x.tar.4711.tmp, which is locked (flock) while process 4711 lives,
 * and out_file_commit renames it to a/x.tar.  Had 4711 been killed, the next out_file_open of
 * a/x.tar would find the name unlocked and remove it. */
#ifndef BASE_OUT_FILE_H
#define BASE_OUT_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct out_file {
	int fd;	      /* write here */
	int dirfd;    /* of the directory it is in; -1: written directly */
	char *path;   /* as the user named it */
	char *beside; /* its name until out_file_commit */
};

/* Begins to write PATH.  -EISDIR a directory, -EINVAL a socket or a block device, or an errno. */
int out_file_open(struct out_file *o, const char *path, struct err *err);

/* Puts what was written in its place: it is synced, then renamed.  The permissions of a file that
 * is replaced stay; those of a new one are the umask's. */
int out_file_commit(struct out_file *o, struct err *err);

/* Closes O, and removes what was not committed.  Fine after a failed out_file_open. */
void out_file_close(struct out_file *o);

/* Writes the N bytes at BYTES to PATH as above. */
int out_file_save(const char *path, const void *bytes, size_t n, struct err *err);

/* Tells whether NAME is PREFIX, digits, and SUFFIX: how a process names what it has not finished.
 * With PREFIX NULL, any ".NAME." will do: what file_replace makes ends in ".tmp". */
bool out_file_is_draft(const char *name, const char *prefix, const char *suffix);

/* Calls REMOVE for each entry of the directory DIRFD that is a draft by out_file_is_draft, belongs
 * to this user, and has no living writer: nobody holds its lock.  REMOVE NULL: unlinks files. */
void out_file_sweep(int dirfd, const char *prefix, const char *suffix,
		    void (*remove)(int dirfd, const char *name));

#endif
