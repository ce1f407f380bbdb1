/* SPDX-License-Identifier: BSD-2-Clause */
/* Scope-owned things: `_fd_ int fd = open(...)`, `_mem_ char *s = xstrdup(...)`, `_file_ FILE *f`,
 * `_str_ struct str text = {0}`, `_vec_ VEC(struct row) rows = {0}` (str.h, vec.h).
 * Hand one on with take_fd(&fd) or take_ptr(&s). */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_fd_(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_mem_(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_file_(FILE **f)
{
	if (*f)
		fclose(*f);
}

#define _fd_   __attribute__((cleanup(cleanup_fd_)))
#define _mem_  __attribute__((cleanup(cleanup_mem_)))
#define _file_ __attribute__((cleanup(cleanup_file_)))

#define take_ptr(p)                                                                                \
	({                                                                                         \
		__typeof__(*(p)) taken_ = *(p);                                                    \
		*(p) = NULL;                                                                       \
		taken_;                                                                            \
	})

static inline int take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

#endif
