/* SPDX-License-Identifier: BSD-2-Clause */
/* Where HTTP is served. */
#ifndef WEB_LISTEN_H
#define WEB_LISTEN_H

#include "base/err.h"

/* Whether WHERE, "[ADDRESS:]PORT", can be understood: ADDRESS is numeric ([::1] in brackets) or
 * localhost, which is 127.0.0.1 and the default.  -EINVAL says what is wrong. */
int listen_check(const char *where, struct err *err);

/* Returns a socket that listens at WHERE, non-blocking, to be closed by the caller; -EADDRINUSE and
 * others name WHERE.  Port 0 is a
 * free one. */
int listen_at(const char *where, int backlog, struct err *err);

/* Returns a socket of mode 0600 that listens at PATH, in place of one that nobody listens at. */
int listen_unix(const char *path, int backlog, struct err *err);

#endif
