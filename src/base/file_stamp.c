/* SPDX-License-Identifier: BSD-2-Clause */
/* See file_stamp.h. */
#include "base/file_stamp.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

int file_stamp_get(int fd, struct file_stamp *ret, struct file_facts *facts)
{
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
		  STATX_TYPE | STATX_MODE | STATX_INO | STATX_SIZE | STATX_CTIME | STATX_UID,
		  &st) < 0)
		return -errno;
	*ret = (struct file_stamp){.dev = (uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor,
				   .ino = st.stx_ino,
				   .size = st.stx_size,
				   .ctime_s = (uint64_t)st.stx_ctime.tv_sec,
				   .ctime_ns = st.stx_ctime.tv_nsec};
	if (facts)
		*facts = (struct file_facts){S_ISREG(st.stx_mode), st.stx_mode, st.stx_uid};
	return 0;
}

bool file_stamp_same(const struct file_stamp *a, const struct file_stamp *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	       a->ctime_s == b->ctime_s && a->ctime_ns == b->ctime_ns;
}
