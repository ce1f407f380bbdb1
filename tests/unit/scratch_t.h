/* SPDX-License-Identifier: BSD-2-Clause */
/* A directory for one test, where it compiles small programs. */
#ifndef TESTS_UNIT_SCRATCH_T_H
#define TESTS_UNIT_SCRATCH_T_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char scratch_dir[32];

/* The path of NAME in the directory; lives until the next call. */
static inline const char *scratch_path(const char *name)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/%s", scratch_dir, name);
	return path;
}

static inline bool scratch_write(const char *name, const char *text)
{
	FILE *f = fopen(scratch_path(name), "w");

	if (!f)
		return false;
	fputs(text, f);
	return fclose(f) == 0;
}

/* Makes the directory, with file a.c of TEXT in it. */
static inline bool scratch_open(const char *text)
{
	strcpy(scratch_dir, "/tmp/dwell-test-XXXXXX");
	return mkdtemp(scratch_dir) && scratch_write("a.c", text);
}

/* Runs a command there; tells whether it succeeded. */
__attribute__((format(printf, 1, 2))) static inline bool scratch_run(const char *format, ...)
{
	char command[512], whole[640];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	snprintf(whole, sizeof(whole), "cd %s && %s", scratch_dir, command);
	return system(whole) == 0;
}

static inline bool scratch_close(void)
{
	return scratch_run("rm -r %s", scratch_dir);
}

#endif
