/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs another program on some input: within limits, and without root's rights, since the input
 * may be another user's. */
#ifndef PORT_RUN_TOOL_H
#define PORT_RUN_TOOL_H

#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

struct tool_limits {
	unsigned seconds;    /* of CPU time */
	size_t answer_bytes; /* of its output */
};

/* Runs ARGV, which is looked for in PATH, with the N bytes INPUT on its standard input, and puts
 * its standard output into RET, which is empty.  Root's runs as nobody.  -ENOENT: there is no
 * such program; -EBADMSG: it failed, with the first line that it wrote to standard error, and RET
 * has what it answered until then; -ETIMEDOUT: it ran out of its time; -E2BIG: it answers more than
 * LIMITS allow.  For programs of one thread. */
int run_tool(const char *const *argv, const void *input, size_t n, const struct tool_limits *limits,
	     struct str *ret, struct err *err);

#endif
