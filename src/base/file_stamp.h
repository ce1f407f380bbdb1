/* SPDX-License-Identifier: BSD-2-Clause */
/* Which file this is, and whether it is still what it was: device, inode, size and time of change.
 *
 * The file's file system is not asked (AT_STATX_DONT_SYNC): it may be one that never answers. */
#ifndef BASE_FILE_STAMP_H
#define BASE_FILE_STAMP_H

#include <stdbool.h>
#include <stdint.h>

struct file_stamp {
	uint64_t dev, ino, size, ctime_s;
	uint32_t ctime_ns;
};

/* What else is told without asking the file system. */
struct file_facts {
	bool is_regular;
	uint32_t mode, uid;
};

/* The stamp of the file open at FD, for which O_PATH will do; 0 or -errno.  FACTS may be NULL. */
int file_stamp_get(int fd, struct file_stamp *ret, struct file_facts *facts);

bool file_stamp_same(const struct file_stamp *a, const struct file_stamp *b);

#endif
