/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes archives that every tar(1) reads: POSIX ustar. */
#ifndef BASE_TAR_H
#define BASE_TAR_H

#include <stddef.h>

#include "base/err.h"

/* Appends file PATH (relative, at most 255 bytes) with the N bytes to the archive at FD.  All files
 * are of root, mode 0644 and time 0: equal contents make equal archives.  -ENAMETOOLONG, or -errno
 * of writing. */
int tar_add(int fd, const char *path, const void *bytes, size_t n, struct err *err);

/* Adds the bytes of the file open at FROM as PATH.  Errors as tar_add. */
int tar_add_file(int fd, const char *path, int from, struct err *err);

/* Ends the archive. */
int tar_end(int fd, struct err *err);

#endif
