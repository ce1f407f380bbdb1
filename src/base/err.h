/* SPDX-License-Identifier: BSD-2-Clause */
/* One error message, owned by the caller, filled by whoever fails first.
 *
 * Functions return 0 or more for success and a negative errno for failure.  Those whose failure a
 * user will see take `struct err *err` as their last argument; NULL is allowed everywhere.  The
 * meaning of the codes this project raises itself is fixed:
 *   -EBADMSG malformed bytes        -ENODATA truncated              -EPROTONOSUPPORT newer version
 *   -ESTALE  image changed on disk  -ENOENT  not found              -E2BIG limit exceeded
 * Only cmd/ prints. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stddef.h>

struct err {
	char msg[512];	 /* one line, no newline; "" when nothing failed */
	char where[200]; /* "" or, from err_mark, two lines with a newline between */
};

/* Formats the message and returns CODE (a negative errno), so that a caller can
 * `return err_set(err, -ENOENT, "%s: no such epoch", name);`. */
int err_set(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Formats the message, adds ": " and the text of errno CODE, and returns CODE. */
int err_errno(struct err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Puts "PREFIX: " before the message already there and returns CODE. */
int err_prefix(struct err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Adds to ERR where the error is in TEXT, one line that a user wrote: TEXT, and below it carets
 * under the N bytes from AT on (one caret when N is 0).  ERR already has its message.  A long text
 * is cut. */
void err_mark(struct err *err, const char *text, size_t at, size_t n);

#endif
