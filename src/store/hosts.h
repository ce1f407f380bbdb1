/* SPDX-License-Identifier: BSD-2-Clause */
/* What a database keeps of each host, so that nobody has to look at all epochs to find a host's
 * newest one, or those that may need recovery: see hosts.c. */
#ifndef STORE_HOSTS_H
#define STORE_HOSTS_H

#include "store/db.h"

#define HOSTS_NAME "hosts"

struct host_note {
	char newest[EPOCH_NAME_LEN + 1]; /* "" when there is none */
	name_list open; /* epochs whose recording was not finished when last looked at */
};

/* The note of HOST; host_note_release it.  -ENOENT when there is none that can be understood; RET
 * is empty then. */
int host_note_read(int db_fd, const char *host, struct host_note *ret);

/* Puts N in place of HOST's note.  The caller holds the database's lock. */
int host_note_write(int db_fd, const char *host, const struct host_note *n, struct err *err);
void host_note_release(struct host_note *n);

/* The hosts of which there are notes: all that ever recorded.  -ENOENT when the database keeps no
 * notes: it is of an older program, and its epochs must be looked at. */
int host_notes_list(int db_fd, name_list *ret);

/* Sees to it that the database keeps notes, by looking at all epochs when it does not, and removes
 * what killed writers of notes left.  The caller holds the lock. */
int host_notes_make(int db_fd, int epochs_fd, struct err *err);

/* Removes all notes, so that they are made anew.  The caller holds the lock. */
int host_notes_remove(int db_fd);

#endif
