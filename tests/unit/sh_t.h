/* SPDX-License-Identifier: BSD-2-Clause */
/* A scratch directory, and shell commands that run in it. */
#ifndef TESTS_UNIT_SH_T_H
#define TESTS_UNIT_SH_T_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static char dir[] = "/tmp/dwell-test-XXXXXX"; /* for mkdtemp */

/* Runs a command in the directory; returns what system returns. */
__attribute__((format(printf, 1, 2))) static int sh(const char *fmt, ...)
{
	char cmd[2048], whole[2200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(cmd, sizeof(cmd), fmt, ap);
	va_end(ap);
	snprintf(whole, sizeof(whole), "cd %s && { %s; }", dir, cmd);
	return system(whole);
}

#endif
