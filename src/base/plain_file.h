/* SPDX-License-Identifier: BSD-2-Clause */
/* Plain files by names from outside: recordings, profiles and debug files say what they are called.
 * To open a device or a FIFO can wait or have effects, so what is there is looked at first. */
#ifndef BASE_PLAIN_FILE_H
#define BASE_PLAIN_FILE_H

/* Opens the plain file PATH for reading, with FLAGS (O_NOFOLLOW or 0) and O_CLOEXEC.  A descriptor,
 * or -errno; -EINVAL: it is something else, which was not opened. */
int plain_file_open(const char *path, int flags);

/* Opens for reading what AT, a descriptor with O_PATH, stands for.  The caller knows that it is a
 * plain file.  A descriptor, or -errno. */
int plain_file_reopen(int at);

#endif
