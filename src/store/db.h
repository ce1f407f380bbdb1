/* SPDX-License-Identifier: BSD-2-Clause */
/* The database directory: opening its root safely, its version and lock, names of
 * epochs and hosts. */
#ifndef STORE_DB_H
#define STORE_DB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"

#define DB_VERSION     2  /* MANIFESTs are of version 2; 1 can be read */
#define EPOCH_NAME_LEN 14 /* YYYYMMDDHHMMSS */

typedef VEC(char *) name_list;

/* Opens the root of database PATH as a directory descriptor.  With WRITE a missing or empty
 * directory becomes a database.  Errors: -ENOENT no such directory, -EPERM not ours or not safe,
 * -ENOTDIR, -EPROTONOSUPPORT a newer database, -EINVAL no database. */
int db_open(const char *path, bool write, struct err *err);

/* Reads VERSION of the directory DB_FD; false when it is no database. */
bool db_read_version(int db_fd, char text[64]);

/* Whether DB_FD is a database whose VERSION says nothing: there is none, or it is damaged, and
 * recordings of this program are below. */
bool db_lost_version(int db_fd);

/* Opens the root of such a database, after writing VERSION anew if REPAIR; -ENOENT when PATH is
 * none. */
int db_open_lost(const char *path, bool repair, struct err *err);

/* Makes the database above its directory EPOCHS_FD one of this version, before anything of this
 * version is written there: a program of before refuses it then. */
int db_upgrade(int epochs_fd, struct err *err);

/* Opens directory NAME of DIRFD, following no symbolic link; made first with CREATE. */
int db_open_dir(int dirfd, const char *name, bool create, struct err *err);

/* Opens file NAME of the database's root for reading and writing; makes it where it is not there.
 * Follows no symbolic link.  -errno. */
int db_open_noted(int db_fd, const char *name);

/* Takes the database's write lock (waits for it); the descriptor returned holds it. */
int db_lock(int db_fd, struct err *err);

/* The entries of DIRFD accepted by WANT, sorted by name.  Release with name_list_release. */
int db_names(int dirfd, bool (*want)(const char *name), name_list *ret, struct err *err);
void name_list_release(name_list *l);

/* For db_names: takes all. */
bool db_any_name(const char *name);

/* Reads all of file NAME of DIRFD, at most MAX bytes (-E2BIG above), without following a link, into
 * fresh memory with a NUL behind it. */
int db_load(int dirfd, const char *name, size_t max, char **ret, size_t *ret_n, struct err *err);

bool epoch_name_valid(const char *name);

/* The name an epoch would have that began at WALL_NS. */
void epoch_name_of(uint64_t wall_ns, char ret[EPOCH_NAME_LEN + 1]);

/* A plain file name that does not begin with a dot, at most 255 bytes. */
bool host_name_valid(const char *name);

/* This machine's name; RET has 256 bytes. */
void host_name_self(char *ret);

/* Writes max(NOW, LAST + 1 s) to RET; LAST "" for none.  -ERANGE behind the year 9999. */
int epoch_name_next(uint64_t now_wall_ns, const char *last, char ret[EPOCH_NAME_LEN + 1],
		    struct err *err);

#endif
