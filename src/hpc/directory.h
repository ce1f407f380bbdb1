/* SPDX-License-Identifier: BSD-2-Clause */
/* A directory that is there whole or not at all: it is built beside its place, under another name,
 * synced, and renamed. */
#ifndef HPC_DIRECTORY_H
#define HPC_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct new_dir {
	char *path;  /* where it is to be */
	char *aside; /* where it is built: PATH.tmp-PID */
	int fd;	     /* of that */
	bool replace;
};

/* Begins to build PATH.  One that is there must be an empty directory, or with REPLACE hold MARK, a
 * file that tells a directory of this kind.  -EEXIST, or any errno of making directories. */
int new_dir_begin(struct new_dir *d, const char *path, const char *mark, bool replace,
		  struct err *err);

/* Takes part in what another process has begun and will put in its place, at ASIDE: its
 * new_dir.aside. After new_dir_leave, new_dir_end removes nothing. */
int new_dir_join(struct new_dir *d, const char *aside, struct err *err);
void new_dir_leave(struct new_dir *d);

/* Syncs all that is in it: what a process that takes part has written may be known to its machine
 * only. */
int new_dir_sync(const struct new_dir *d, struct err *err);

/* Syncs all that is in it and puts it in its place, instead of what was there.  After a failure
 * what was there is there.  new_dir_end must follow. */
int new_dir_commit(struct new_dir *d, struct err *err);

/* Removes what is left of the building place; D is zeroed.  Fine after a failed begin. */
void new_dir_end(struct new_dir *d);

/* Writes the N bytes as a new file NAME (with parents) below D. */
int new_dir_write(const struct new_dir *d, const char *name, const void *bytes, size_t n,
		  struct err *err);

#endif
