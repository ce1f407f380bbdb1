/* SPDX-License-Identifier: BSD-2-Clause */
/* Unwind tables kept beside a database, in its directory `tables`, and notes about files (struct
 * file_note): a file that a recorder met before costs one mapping instead of a child that reads it.
 *
 * The directory is the recorder's user's alone, mode 0700; one that belongs to somebody else, or
 * that others may enter, is not used.  Root keeps tables of files only that nobody else may write
 * and whose mount believes in root's files (file_symbols_believed_on), so that nobody can have a
 * table kept under a name that another file has later.  At most TABLE_CACHE_BYTES are kept: those
 * that were not used for the longest time go.  A disk with less room than that gets none, and on a
 * full one they give way to samples.
 *
 * There is one in a process. */
#ifndef DAEMON_TABLE_CACHE_H
#define DAEMON_TABLE_CACHE_H

#include "base/file.h"
#include "base/file_stamp.h"
#include "resolve/table_file.h"
#include "unwind/build.h"

#define TABLE_CACHE_BYTES ((uint64_t)64 << 20)

/* Tables are looked for beside database DB, if they are there, and kept in memory until
 * table_cache_keep. */
void table_cache_start(const char *db);

/* DB is there from now on: makes its directory, and keeps what came so far. */
void table_cache_keep(void);

/* Makes room, and lets go of everything. */
void table_cache_end(void);

/* The table of the file at FD (O_PATH will do), if it is kept; -ENOENT: it is not.  Release RET
 * with unwind_table_release. */
int table_cache_load(int fd, struct unwind_table *ret);

/* Keeps the table of the file at FD, which was READ before it was read: the N bytes of ANSWER
 * (answer_put_table).  NOSUID: set-user-id files on its mount mean nothing.  A file that has
 * changed since is not kept. */
void table_cache_save(int fd, const struct file_stamp *read, bool nosuid, const uint8_t *answer,
		      size_t n);

/* The note about the file at FD; false: there is none. */
bool table_cache_load_note(int fd, struct file_note *ret);

/* Whether there is a note about the file at FD which says that it is IM's, by the digest without
 * code; RET is that note. */
bool table_cache_knows(int fd, const struct image *im, struct file_note *ret);

/* Keeps NOTE, as table_cache_save keeps tables. */
void table_cache_save_note(int fd, const struct file_stamp *read, bool nosuid,
			   const struct file_note *note);

/* What the caller knows of the whole machine by KEY, kept as tables are: MAP has the file, and *RET
 * the N bytes in it.  False: nothing is kept by KEY. */
bool table_cache_load_machine(uint64_t key, struct file_map *map, const uint8_t **ret,
			      size_t *ret_n);
void table_cache_save_machine(uint64_t key, const uint8_t *bytes, size_t n);

/* Removes all kept tables when RC says that a disk is full; true when there is more room now. */
bool table_cache_give_way(int rc);

/* Number of tables that were there, since the start. */
uint64_t table_cache_hits(void);

#endif
