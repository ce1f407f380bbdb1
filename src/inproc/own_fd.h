/* SPDX-License-Identifier: BSD-2-Clause */
/* Descriptors of our own inside of somebody else's program, which may close what it did not open
 * and then get the same number for a file of its own. */
#ifndef INPROC_OWN_FD_H
#define INPROC_OWN_FD_H

#include <stdbool.h>

/* Moves FD to a high number, out of the way of programs that count on the lowest free one; where
 * there is none, FD stays.  Gives the number. */
int own_fd_move_up(int fd);

/* Whether FD is an anonymous inode of this kind: "[perf_event]", "[eventpoll]". */
bool own_fd_is(int fd, const char *kind);

#endif
