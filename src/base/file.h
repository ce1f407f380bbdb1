/* SPDX-License-Identifier: BSD-2-Clause */
/* Files: whole-file reading, mapping, and the one way a file is replaced.
 *
 * Every write, fsync and rename of the database goes through the hooks of file_fault, so that a
 * test can fail or cut short the Nth of them. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct file_map {
	const uint8_t *bytes; /* read-only; NULL when empty */
	size_t n_bytes;
};

/* Maps PATH (relative to DIRFD, AT_FDCWD for the working directory) for reading.  Only regular
 * files; follows no symbolic link in the last component when NOFOLLOW. */
int file_map_open(struct file_map *m, int dirfd, const char *path, bool nofollow, struct err *err);
int file_map_fd(struct file_map *m, int fd, const char *name, struct err *err);
void file_map_close(struct file_map *m);

/* Reads all of PATH into fresh memory (free it), at most MAX bytes (-E2BIG above).  A NUL follows
 * the text; *RET_N does not count it.  Works on /proc and /sys files, whose size is not known. */
int file_load(const char *path, size_t max, char **ret_text, size_t *ret_n, struct err *err);

/* Makes the file NAME in directory DIRFD and opens it for reading and writing; the file must not be
 * there.  It takes its permissions from the directory, whatever the umask is: who may list the
 * directory may read the file, only the owner may write it, and it belongs to the directory's
 * group.  Returns a descriptor, or -errno. */
int file_create(int dirfd, const char *name);

/* The permissions that file_create or file_mkdirat gives a file or directory made in directory
 * DIRFD.  When DIRFD cannot be looked at: those that let only the owner in. */
mode_t file_mode_in(int dirfd, bool directory);

/* Makes directory NAME in directory DIRFD, with permissions as file_create gives.  Returns 1, 0
 * when NAME is there already, or -errno. */
int file_mkdirat(int dirfd, const char *name);

/* Replaces NAME in directory DIRFD by the N bytes: writes a temporary file beside it, fsyncs it,
 * renames it, fsyncs the directory.  After a failure the old file is untouched and no temporary is
 * left.  NAME is a plain file name; its permissions are those of file_create. */
int file_replace(int dirfd, const char *name, const void *bytes, size_t n, struct err *err);

/* Replaces NAME in directory DIRFD by the N bytes, without fsync: for files that can be made
 * again.  After a power failure the file may be the old one, the new one, or damaged, so its reader
 * must check it. */
int file_replace_lazily(int dirfd, const char *name, const void *bytes, size_t n, struct err *err);

/* Replaces NAME as file_replace_lazily does, by a file that only its owner may read. */
int file_replace_hidden(int dirfd, const char *name, const void *bytes, size_t n, struct err *err);

/* Whether the file system of directory DIRFD has N_BYTES free for whoever is not root. */
bool file_has_room(int dirfd, uint64_t n_bytes);

/* write(2) until all N bytes are out; 0 or -errno. */
int file_write_all(int fd, const void *bytes, size_t n);

/* pwrite(2) at OFF until all N bytes are out; 0 or -errno.  Several threads may write at once. */
int file_pwrite_all(int fd, const void *bytes, size_t n, uint64_t off);

/* pread(2) at OFF until all N bytes are in; 0 or -errno, -EIO where the file ends before. */
int file_pread_all(int fd, void *bytes, size_t n, uint64_t off);
int file_fsync(int fd);
int file_rename(int dirfd, const char *from, const char *to);

/* Swaps FROM and TO in one step; both must be there (renameat2(2), RENAME_EXCHANGE). */
int file_exchange(int dirfd, const char *from, const char *to);

/* Opens a file without a name in directory PATH (relative to DIRFD), for reading and writing.  A
 * file system without such files gets one that loses its name at once. */
int file_open_nameless(int dirfd, const char *path, struct err *err);

/* Whether FOLDER, a whole path, or what is there of the folders above it, is this user's own, and
 * nobody else may write to it.  Root keeps nothing below the home of somebody else, who could lead
 * it elsewhere by links.  NULL is not one. */
bool file_is_own_folder(const char *folder);

/* Makes directory PATH and its parents, mode 0755 less umask; fine when it is there. */
int file_mkdirs(const char *path, struct err *err);

/* A step that can fail.  */
enum file_op { FILE_WRITE, FILE_FSYNC, FILE_RENAME };

/* Test hook: called before each step with the number of bytes about to be written (0 for the
 * others); returns 0 to go on, a negative errno to fail it, and for FILE_WRITE a positive number to
 * write only that many bytes and then fail with -ENOSPC.  NULL (the default): no faults. */
extern int (*file_fault)(enum file_op op, size_t n_bytes);

/* Lets this process open as many files as it may.  A recorder holds one descriptor per event and
 * CPU or thread, and those of images: more than the usual 1024 on large machines. */
void file_raise_limit(void);

#endif
